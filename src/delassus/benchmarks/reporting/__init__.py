"""How results are shown: tables, ratios, checks, plots, and the files they are written to."""
