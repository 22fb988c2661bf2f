"""The schema of training configs as JSON Schema, by which editors complete keys and mark mistakes.

It has Marian's options by name. What concerns several keys is left to `translations config check`, and so are
old spellings, which are read but not offered.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from translations_assets.config.known import FLAG, marian_options
from translations_assets.config.marian_args import ALLOWED, SECTIONS, SET_BY_SCRIPT
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.stage_names import worker_kinds

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean", "array"]}
# Values may be quoted, as in the configs that go with Taskcluster.
_VALUES: dict[str, dict[str, Any]] = {
    FLAG: {"enum": [True, False, "true", "false"]},
    "UINT": {"type": ["integer", "string"], "minimum": 0, "pattern": r"^\+?\d+$"},
    "INT": {"type": ["integer", "string"], "pattern": r"^[-+]?\d+$"},
    "FLOAT": {"type": ["number", "string", "boolean"]},
}


class _WithoutTitles(GenerateJsonSchema):
    """Pydantic's titles repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """The schema, of the 2020-12 dialect."""
    schema = TrainingConfig.model_json_schema(schema_generator=_WithoutTitles)
    definitions = schema["$defs"]
    for task in ("train", "decode"):
        definitions[_name(task)] = _options(task)
    for section, task in SECTIONS.items():
        given = definitions["MarianArgs"]["properties"][section]
        kept = {key: given[key] for key in ("default", "description")}
        definitions["MarianArgs"]["properties"][section] = {"$ref": f"#/$defs/{_name(task)}", **kept}
    classes = definitions["Taskcluster"]["properties"]["worker-classes"]
    classes["propertyNames"] = {"enum": worker_kinds()}
    return {"$schema": DIALECT, **schema, "title": "Training config"}


def _name(task: str) -> str:
    return f"MarianOptionsOf{task.capitalize()}"


def _options(task: str) -> dict[str, Any]:
    known = marian_options(task)
    allowed = ALLOWED if task == "decode" else known.keys() - SET_BY_SCRIPT[task]
    options = {name: kind for name, kind in known.items() if name in allowed}
    return {
        "type": "object",
        "description": f"options of Marian for `{task}`, without `--`",
        "properties": {name: _VALUES.get(kind, _TEXT) for name, kind in options.items()},
        "additionalProperties": False,
    }
