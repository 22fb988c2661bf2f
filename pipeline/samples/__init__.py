"""Random lines of the text that a step read and left, and the reasons for which it dropped some."""
