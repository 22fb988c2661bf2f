"""HTML through a student: made from test sentences, translated, read again and compared."""
