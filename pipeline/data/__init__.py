"""Data: importers, the synthetic demo corpus, variants of test sets, histograms of line lengths."""
