"""A network in other forms: BIF and XMLBIF files, DOT, networkx, pandas, pgmpy and pyAgrum."""
