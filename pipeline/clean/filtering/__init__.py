"""OpusCleaner's filters, made anew for speed so that the same pairs come out, and some of our own."""
