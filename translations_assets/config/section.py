"""Base class and helpers of all sections of a training config."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic.fields import FieldInfo

from translations_assets.config.languages import languages
from translations_assets.config.urls import check_url
from translations_assets.config.yaml_reader import Found, KeyPath, at

T = TypeVar("T")


class Section(BaseModel):
    """A mapping in the config."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
        validate_default=True,
        alias_generator=lambda name: name.replace("_", "-"),
    )


def by_key(section: type[Section]) -> dict[str, FieldInfo]:
    """The fields of a section by the keys that they have in YAML."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def section_in(annotation: Any) -> type[Section] | None:
    """The section that a type is, or is when it is not None."""
    kinds = (annotation,) if get_origin(annotation) is Mapping else (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)


def values_of_mapping(annotation: Any) -> Any:
    """The type of the values of a mapping; None for anything else."""
    kinds = (annotation, *get_args(annotation))
    return next((get_args(kind)[1] for kind in kinds if get_origin(kind) is Mapping), None)


def default(value: Any, meaning: str, **bounds: Any) -> Any:
    """A key that may be left out: its default (of a section: {}), its meaning for people, bounds (`ge=0`).

    A section that is left out is made when a config is read, as that costs no import.
    """
    return Field(default=value, description=meaning, **bounds)


@dataclass(frozen=True)
class InJsonSchema:
    """An annotation: what a validator allows, in JSON Schema; made only when a JSON Schema is asked for."""

    make: Callable[[], Mapping[str, Any]]

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Pydantic's JSON Schema of the type, with that of the annotation laid over it."""
        return {**handler(core), **self.make()}


def formed(form: str, said: str) -> AfterValidator:
    """A validator of texts: `said` is what one of another form must be, with the text for `{!r}`."""

    def check(text: str) -> str:
        if not re.fullmatch(form, text):
            raise ValueError(said.format(text))
        return text

    return AfterValidator(check)


def _fetchable(url: str) -> str:
    check_url(url)
    return url


def urls_in(values: Any, section: type[Section], path: KeyPath = ()) -> Found:
    """Every URL of a section, whose values are as they were read, with its path."""
    for key, field in by_key(section).items():
        given, where = at(values, (key,)), (*path, key)
        places = [(*where, number) for number in range(len(given))] if isinstance(given, list) else [where]
        for place in places:
            value = at(values, place[len(path) :])
            if below := section_in(field.annotation):
                yield from urls_in(value, below, place)
            elif (below := section_in(values_of_mapping(field.annotation))) and isinstance(value, Mapping):
                for name, inner in value.items():
                    yield from urls_in(inner, below, (*place, str(name)))
            elif isinstance(value, str) and URL in (*field.metadata, *_parts(field.annotation)):
                yield place, value


def _parts(kind: Any) -> Iterator[Any]:
    """A type, and all that it is made of."""
    yield kind
    for inner in get_args(kind):
        yield from _parts(inner)


def _some(value: T) -> T:
    if not value:
        raise ValueError("is empty; at least one is needed")
    return value


LANGUAGE_CODE = "^[a-z]{2,3}(_[a-z0-9]{2,4})*$"
# YAML's lists become tuples; only lists do, so that a lone text is not taken for its letters.
FROM_LIST = Field(strict=False)
URL = AfterValidator(_fetchable)
Url: TypeAlias = Annotated[str, URL]
# A text among the annotations is what the reference page calls the type.
Urls: TypeAlias = Annotated[tuple[Url, ...], FROM_LIST, "list"]
Texts: TypeAlias = Annotated[tuple[str, ...], FROM_LIST, "list"]
# Which languages there are depends on the section `languages`, too: own_languages.check_languages looks.
LanguageCode: TypeAlias = Annotated[
    str,
    "language code",
    InJsonSchema(lambda: {"anyOf": [{"enum": list(languages())}, {"pattern": LANGUAGE_CODE}]}),
]
Commit: TypeAlias = Annotated[
    str, formed("[0-9a-f]{40}", "must be a whole commit, 40 hexadecimal digits, and not {!r}")
]
HubName: TypeAlias = Annotated[str, formed("[^/]+/[^/]+", "must be as the hub has it, owner/name, not {!r}")]
NotEmpty: TypeAlias = Annotated[T, AfterValidator(_some), InJsonSchema(lambda: {"minItems": 1})]
