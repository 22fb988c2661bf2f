"""Trainings behind steps that will run, as far as they are certain to run, whatever their inputs become."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import KeyParts
from translations_assets.running.plan import Plan
from translations_assets.running.step_state import StepState
from translations_assets.why.explain import CANDIDATES, known_parts
from translations_assets.why.history import History

OTHERS = 100  # artifacts of a stage that are looked at


def settled(plan: Plan, keys: KeyMaker, history: History) -> Plan:
    """The plan with `run` in place of `maybe` for trainings that were never made like this.

    No earlier artifact of such a step (without any: no other of its stage) has its code, arguments, libraries
    and known inputs. Only steps that cannot be repeated byte by byte are looked at: these are few, and what
    plans cost.
    """
    made = plan.results()

    def runs(planned: StepState) -> bool:
        if planned.status != "maybe" or planned.step.repeatable or planned.key is not None:
            return False
        parts = known_parts(keys, planned.step, made)
        earlier = history.earlier(planned.step, "", CANDIDATES)
        others = islice(history.of_stage(planned.step.stage), OTHERS)
        return not any(_may_be(parts, found.provenance.parts) for found in earlier or others)

    return Plan(tuple(replace(one, status="run") if runs(one) else one for one in plan.steps))


def _may_be(parts: KeyParts, other: KeyParts) -> bool:
    """True if a key that is known in parts may turn out to be another one."""
    if replace(parts, inputs={}) != replace(other, inputs={}) or parts.inputs.keys() != other.inputs.keys():
        return False
    return all(digest in ("", other.inputs[path]) for path, digest in parts.inputs.items())
