"""What all sections of a training config have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.annotated_handlers import GetJsonSchemaHandler


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


def optional_section(description: str) -> Any:
    """A section that may be left out; an empty one is made when a config is read, as that costs no import."""
    return Field(default={}, description=description)


@dataclass(frozen=True)
class InJsonSchema:
    """An annotation: what a validator allows, in JSON Schema; made only when a JSON Schema is asked for."""

    make: Callable[[], Mapping[str, Any]]

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Pydantic's JSON Schema of the type, with that of the annotation laid over it."""
        return {**handler(core), **self.make()}
