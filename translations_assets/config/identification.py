"""Language identifiers: the choices, and the default for a language.

HeLI-OTS comes in a wheel. fastText's models are fetched, from addresses that keep their contents, and
compared with the SHA-256 that several who use them publish. docs/decisions/0017-languages.md tells how they
were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from translations_assets.config.known import address
from translations_assets.config.languages import Language

AUTO, HELIPORT, FASTTEXT = "auto", "heliport", "fasttext"


@dataclass(frozen=True)
class Model:
    """A model of fastText: where it is, what it must be, how large it is, and its licence (SPDX)."""

    url: str
    sha256: str
    size: str
    licence: str


_HUB = address("hub")
_LID_176 = "https://dl.fbaipublicfiles.com/fasttext/supervised-models"
GLOTLID, NLLB, OPENLID_2, OPENLID_3 = "glotlid", "nllb", "openlid-v2", "openlid-v3"
# `small`, `large`, `nllb` and `openlid-v2` are the names that OpusCleaner gives them.
MODELS = {
    GLOTLID: Model(
        f"{_HUB}/cis-lmu/glotlid/resolve/85cd6716494360367b75f642b5bc78667605d0b4/model_v3.bin",
        "a818b6bd42a628ab47d3dfc1578c7ea615c45381f3494c42535e31e8c4cafc9e",
        "1.7 GB",
        "Apache-2.0",
    ),
    OPENLID_3: Model(
        f"{_HUB}/HPLT/OpenLID-v3/resolve/6b9560483e17e42f48d86cebf22b4b58dffeaa70/openlid-v3.bin",
        "01ec5bbf85975c52673c52b3d8585bc4cc0e4eb4636ad5591467bab56b118821",
        "1.2 GB",
        "GPL-3.0",
    ),
    OPENLID_2: Model(
        f"{_HUB}/laurievb/OpenLID-v2/resolve/10b538ebcc452255917c8bdfc38faa49af134cd2/model.bin",
        "f01b47c6182909291a3394f77f682031aaeade346e443c4e496e94bd2a9fa703",
        "1.2 GB",
        "GPL-3.0",
    ),
    NLLB: Model(
        f"{_HUB}/facebook/fasttext-language-identification/resolve/3af127d4124fc58b75666f3594bb5143b9757e78/model.bin",
        "8ded5749a2ad79ae9ab7c9190c7c8b97ff20d54ad8b9527ffa50107238fc7f6a",
        "1.2 GB",
        "CC-BY-NC-4.0",
    ),
    "large": Model(
        f"{_LID_176}/lid.176.bin",
        "7e69ec5451bc261cc7844e49e4792a85d7f09c06789ec800fc4a44aec362764e",
        "131 MB",
        "CC-BY-SA-3.0",
    ),
    "small": Model(
        f"{_LID_176}/lid.176.ftz",
        "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83",
        "0.9 MB",
        "CC-BY-SA-3.0",
    ),
}
NON_COMMERCIAL = frozenset(name for name, model in MODELS.items() if "-NC-" in model.licence)

# HeLI's own labels where they are not the language's: Serbo-Croatian and Malay are one language to it.
_HELI_LABELS = {
    **dict.fromkeys(("sr", "sr_cyrl", "sr_latn", "hr", "bs"), ("hbs",)),
    "id": ("msa",),
    "ms": ("msa",),
    "no": ("nob", "nno"),
}
# What it therefore takes for the language; the Cyrillic of Serbian tells it apart.
_HELI_TAKES = {
    "hr": "Bosnian and Serbian",
    "bs": "Croatian and Serbian",
    "sr_latn": "Bosnian and Croatian",
    "id": "Malay",
    "ms": "Indonesian",
}
_HELI_LACKS = frozenset({"ff", "uz", "xh"})  # Uzbek it has in Cyrillic only

# Labels besides a language's own codes: those of its macrolanguage, which say nothing against it, of what
# Norwegian is, and of what NLLB's model and OpenLID-v2 take Serbian in Latin letters for. lid.176 says `no`
# for Bokmål.
_OTHER_LABELS = {
    **dict.fromkeys(("hr", "bs", "sr", "sr_cyrl"), ("hbs", "sh")),
    "id": ("msa",),
    "nb": ("nor", "no"),
    "nn": ("nor",),
    "no": ("nno", "nn"),
}
_SERBIAN_IN_LATIN = ("hbs", "sh")
_SERBIAN_AS_CROATIAN = (*_SERBIAN_IN_LATIN, "hrv", "bos", "hr", "bs")
_KNOW_SERBIAN_IN_LATIN = (GLOTLID, OPENLID_3)
# Whole labels of NLLB's model and OpenLID-v2, for a language that they do not know by its names.
_OTHER_WHOLE_LABELS = {"sr_latn": ("hrv_Latn", "bos_Latn", "srp_Latn")}


def identifier_of(choice: str, spoken: Language) -> str:
    """The identifier that is meant for a language by a config's `language-identification`: its name.

    `auto` is HeLI-OTS, and GlotLID for languages that HeLI lacks or has together with others.
    """
    if choice != AUTO:
        return choice
    return GLOTLID if spoken.code in _HELI_LACKS or spoken.code in _HELI_TAKES else HELIPORT


def weakness(choice: str, spoken: Language) -> str:
    """Describe the limits of an identifier, named in a config, for a language; empty when it has none."""
    if choice == HELIPORT and spoken.code in _HELI_LACKS:
        return f"heliport does not know {spoken.name}, so no line is dropped for its language; glotlid does"
    if choice == HELIPORT and spoken.code in _HELI_TAKES:
        return f"heliport takes {_HELI_TAKES[spoken.code]} for {spoken.name}; glotlid distinguishes them"
    return ""


def heli_labels(spoken: Language) -> Sequence[str]:
    """HeLI's labels of a language; none when it lacks it."""
    if spoken.code in _HELI_LACKS:
        return []
    return list(_HELI_LABELS.get(spoken.code, tuple(_individual(spoken))))


def labels(spoken: Language, model: str = "") -> Sequence[str]:
    """The labels of a language in a model of fastText, whatever its script."""
    others = _OTHER_LABELS.get(spoken.code, ())
    if spoken.code == "sr_latn":
        others = _SERBIAN_IN_LATIN if model in _KNOW_SERBIAN_IN_LATIN else _SERBIAN_AS_CROATIAN
    named = (*_individual(spoken), spoken.iso639_1, *others)
    return list(dict.fromkeys(filter(None, named)))


def whole_labels(spoken: Language) -> Sequence[str]:
    """The labels of a language in a model of fastText, in its script alone."""
    named = (spoken.flores, spoken.hplt, *_OTHER_WHOLE_LABELS.get(spoken.code, ()))
    return list(dict.fromkeys(filter(None, named)))


def _individual(spoken: Language) -> Iterator[str]:
    names = (spoken.flores.partition("_")[0], spoken.hplt.partition("_")[0], spoken.iso639_3)
    yield from dict.fromkeys(filter(None, names))
