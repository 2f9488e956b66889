"""An explanation in other forms: JSON files and pandas data frames."""
