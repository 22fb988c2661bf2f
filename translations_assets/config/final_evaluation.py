"""The config section `final-evaluation`: comparisons of the exported student, and its checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from translations_assets.config.section import FROM_LIST, Section, Texts, Url, default
from translations_assets.config.translators import ModelName
from translations_assets.config.yaml_reader import Found, at

SECTION = "final-evaluation"


class ComparedModel(Section):
    """A model that the exported student is compared with."""

    name: ModelName = Field(description="its name in results")
    form: Literal["firefox", "marian", "ctranslate2"] = Field(description="engine that reads it")
    url: Url = Field(description="URL of its folder")


Models: TypeAlias = Annotated[tuple[ComparedModel, ...], FROM_LIST, "list of models"]


class FinalEvaluation(Section):
    """Translators that the exported student is compared with on the test sets."""

    released: bool = default(True, "the model that Firefox ships for the pair, fetched from Remote Settings")
    models: Models = default((), "other models, by name, form and the URL of a folder")
    translators: Texts = default((), "names of `translators`")


def check_final_evaluation(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `final-evaluation`, and with what else there is."""
    models = at(config, (SECTION, "models"))
    names = [at(model, ("name",)) for model in models] if isinstance(models, list) else []
    others = at(config, (SECTION, "translators"))
    translators = others if isinstance(others, list) else []
    for number, name in enumerate(names):
        if name in names[:number] or name in translators:
            yield (SECTION, "models", number, "name"), f"{name!r} is the name of two models; give one another"
    section = at(config, (SECTION,))
    if isinstance(section, Mapping):
        if not names and not translators and section.get("released") is False:
            yield (SECTION,), "names nothing to compare with; remove it, or set released to true"
        if at(config, ("datasets", "test")) == []:
            yield (SECTION,), "needs a test set in datasets.test"


def remarks(config: Mapping[str, Any]) -> Found:
    """Warn about a final evaluation that is valid but may not be meant."""
    section = at(config, (SECTION,))
    if not isinstance(section, Mapping) or section.get("released") is False:
        return
    languages = [at(config, ("experiment", side)) for side in ("src", "trg")]
    if "en" not in languages:
        yield (
            (SECTION, "released"),
            "Firefox may ship no model for a pair without English, which it translates by way of English; "
            "if so, fetching it fails, and false does without",
        )
