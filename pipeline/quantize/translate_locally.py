"""What translateLocally (https://translatelocally.com) needs to know of a folder with an exported model.

It takes a folder for a model where model_info.json is, and loads what config.intgemm8bitalpha.yml names. Both
are as its `ModelManager::parseModelInfo` and Bergamot's parser of options read them.
"""

from collections.abc import Sequence

INFO = "model_info.json"
CONFIG = "config.intgemm8bitalpha.yml"
VERSION = 1  # of the model; translateLocally offers an update where its repository has a higher one
API = 1  # of the two files


def model_info(codes: tuple[str, str], names: tuple[str, str], architecture: str) -> dict[str, object]:
    """model_info.json: what people read, and the BCP-47 tags by which other programs ask for a model.

    codes  of source and target, as zh_hant
    names  of both in English, as Chinese
    """
    source, target = (code.replace("_", "-") for code in codes)
    return {
        "modelName": f"{names[0]}-{names[1]} {architecture}",
        "shortName": f"{source}-{target}-{architecture}",
        "type": architecture,
        "src": names[0],
        "trg": names[1],
        "srcTags": {source: names[0]},
        "trgTag": target,
        "version": VERSION,
        "API": API,
    }


def engine_config(model: str, vocabularies: Sequence[str], shortlist: str | None) -> dict[str, object]:
    """config.intgemm8bitalpha.yml, of files beside it: 8 bits with the multipliers of activations, greedily.

    `vocabularies` are one for both sides, or one for each.
    """
    return {
        "relative-paths": True,
        "models": [model],
        "vocabs": [vocabularies[0], vocabularies[-1]],
        **({"shortlist": [shortlist, False]} if shortlist else {}),
        "beam-size": 1,
        "normalize": 1.0,
        "word-penalty": 0,
        "max-length-break": 128,
        "max-length-factor": 2.0,
        "mini-batch-words": 1024,
        "workspace": 128,
        "skip-cost": True,
        "gemm-precision": "int8shiftAlphaAll",
        "alignment": "soft",
    }
