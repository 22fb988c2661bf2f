"""What a script raises when it cannot go on; `script.run` turns each into an exit code.

InputError      the input or the arguments are wrong: exit 1, never tried again
TemporaryError  this machine or the network failed: exit 75 (EX_TEMPFAIL), tried again, elsewhere
Stopped         a TemporaryError: somebody has told the script to end
"""


class InputError(Exception):
    """Bad input, told to a person: what is wrong, where, what to do."""


class TemporaryError(Exception):
    """A fault that another attempt, or another machine, may not have."""


class Stopped(TemporaryError):
    """The script was told to end: what tries again after a TemporaryError lets this one pass."""
