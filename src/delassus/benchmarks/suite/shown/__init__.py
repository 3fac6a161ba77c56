"""What came of a run: tables, plots, sentences and the report that has all of them."""
