"""What each version that wrote a format of its own has left behind, and that today's code reads it."""
