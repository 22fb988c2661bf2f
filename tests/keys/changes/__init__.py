"""Changes to the real scripts, files and libraries, and what the plan says of them."""
