"""OpusCleaner's filters, made anew for speed: the same pairs come out."""
