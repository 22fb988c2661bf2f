"""Word alignments of parallel corpora, and the lexical shortlist made from them."""
