"""What every room uses: settings, errors, the clock, small files."""
