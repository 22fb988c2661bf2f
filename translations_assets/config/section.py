"""What all sections of a training config have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


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
