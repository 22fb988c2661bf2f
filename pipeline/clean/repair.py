"""Repairs of a line before the rules judge it: entities, markup, control characters, white space."""

import html
import re

import regex

# "&apos;" as Moses and web pages write it, "& apos ;" as a tokeniser leaves it. Without the semicolon it
# stays: "?a=1&copy=2" is an address, no copyright sign.
_ENTITY = re.compile(
    r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|& ?(?:#\d{1,7}|amp|lt|gt|quot|apos|nbsp) ?;"
)
_MOSES = {"&bar;": "|", "&bra;": "[", "&ket;": "]"}  # of its older releases; HTML does not know them
# Names from a list, so that "a <b and c> d" in a formula or "<name>" in an interface text stays... unless it
# spells a tag exactly. Comments are bounded, or many unclosed ones would cost quadratic time.
_INLINE = "a|abbr|b|big|bpt|code|em|ept|font|g|i|it|mark|ph|s|small|span|strike|strong|sub|sup|tt|u|x"
_BLOCK = (
    "blockquote|body|br|center|dd|div|dl|dt|h[1-6]|head|hr|html|img|li|ol|p|pre|script|seg|style|table|tbody"
    "|td|th|thead|title|tr|tu|tuv|ul"
)
_MARKUP = re.compile(
    rf"</?(?P<inline>{_INLINE})(?:\s[^<>]*)?/?>|</?(?:{_BLOCK})(?:\s[^<>]*)?/?>|<!--.{{0,500}}?-->",
    re.IGNORECASE,
)
# White space is left to `collapse`; Persian, Hindi and others need the zero width (non-)joiner.
_CONTROL = regex.compile(r"(?V1)[\p{C}--[\s\x1c-\x1f\u200c\u200d]]+")


def _decode_entity(match: re.Match[str]) -> str:
    entity = match[0].replace(" ", "")
    return _MOSES.get(entity) or html.unescape(entity)


def deescape(text: str) -> str:
    """Replace HTML and Moses entities (&amp; &#124; &apos;); twice, as corpora hold "&amp;quot;" too."""
    for _ in range(2):
        if "&" not in text:
            break
        text = _ENTITY.sub(_decode_entity, text)
    return text


def strip_markup(text: str) -> str:
    """Remove HTML, TMX and XLIFF tags; one that parts paragraphs or cells leaves a space."""
    if "<" not in text:
        return text
    return _MARKUP.sub(lambda match: "" if match["inline"] else " ", text)


def remove_control(text: str) -> str:
    """Remove the characters of Unicode's category C, apart from white space and the zero width joiners."""
    # isprintable is false for all of category C: it spares nearly every line the slower expression.
    return text if text.isprintable() else _CONTROL.sub("", text)


def collapse(text: str) -> str:
    """Make every run of white space (no-break, ideographic) one space, none at the ends."""
    return " ".join(text.split())


def repair(text: str) -> str:
    """All repairs, in the one order that works: entities may spell tags, tags leave spaces."""
    return collapse(remove_control(strip_markup(deescape(text))))
