"""What strings of programs hold besides words: markup, placeholders, marks of accelerator keys."""

import regex

# The letters of words and their vowel signs, as the inside of a class after (?V1). Accents and points that
# all scripts share, and that only help a reader, are left out: what stands before one is a word.
WORD_LETTERS = r"\p{L}[\p{M}--\p{Script=Inherited}]"
# Scripts without spaces between words, as the inside of a class; beside those of Chinese and Japanese.
SOUTH_LETTERS = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

# Between words of the text it stands for something else, or for nothing that is read.
_CODE = regex.compile(
    r"</?\p{L}[^<>]*>"  # <b>, <file name>
    r"|&(?:#\d+|#[xX]\p{AHex}+|\p{L}\w*);"  # &lt;
    r"|\$?\{[^{}]*\}|\$\(\w[\w.]*\)|\$\w+"  # {name}, ${name}, $(name), $name
    r"|%\(\w+\)[-#0-9.]*[a-zA-Z]"  # %(name)s
    r"|%[A-Z][A-Z_]+%?"  # %PRODUCTNAME
    r"|%(?:\d+\$)?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|ll|[hlLqjzt])?[a-zA-Z@]"  # %s, %2$s, %0.4f
    r"|%L?\d+"  # %1
    r"|\\[nrt]"
)
# The mark of the key that opens a menu's entry: _Quit, Enregi&strer, ~Open; (_Q) where no word has it.
_ACCELERATOR = regex.compile(r"\([_&~]\w\)|[_&~](?=\w)")
_NUMBERED = regex.compile(r"%\d+\$|&#\w+;")


def without_code(text: str) -> str:
    """The text with spaces for markup and placeholders, and without the marks of accelerator keys."""
    return _ACCELERATOR.sub("", _CODE.sub(" ", text))


def without_numbering(text: str) -> str:
    """The text without numbers that are read as none: %2$s is %s, &#176; is a character."""
    return _NUMBERED.sub("%", text)
