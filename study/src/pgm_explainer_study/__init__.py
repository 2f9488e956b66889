"""Studies in which people judge explanations: the file, the web application and the analysis."""
