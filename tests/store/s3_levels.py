"""Three levels of trust on a server that enforces policies: those of `deploy/levels/`, each of one user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from moto import settings
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.iam.models import IAMBackend, iam_backends
from moto.s3.responses import ACTION_MAP

from tests.store.s3_server import S3Server, serve
from translations_assets.store.bucket.objects import TIMEOUT
from translations_assets.store.levels import Levels
from translations_assets.store.s3.client import client

NAMES = ("release", "branch", "anyone")
POLICIES = Path(__file__).parents[2] / "deploy" / "levels"
_BUCKET = "trust"
PLACES = {name: f"s3://{_BUCKET}-{name}/store" for name in NAMES}


def bucket_of(level: str) -> str:
    """The bucket of a level."""
    return f"{_BUCKET}-{level}"


@dataclass
class Guarded:
    """The buckets, and who may do what with them."""

    doors: Mapping[str, S3Server]  # by level; a client is kept by the address that it talks to
    keys: Mapping[str, tuple[str, str]]

    @contextmanager
    def acting(self, level: str) -> Iterator[None]:
        """Be the user of a level, in this process and those that it starts, within the block."""
        identifier, secret = self.keys[level]
        known = {"AWS_ACCESS_KEY_ID": identifier, "AWS_SECRET_ACCESS_KEY": secret}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (self.doors[level].environment | known).items():
                patch.setenv(name, value)
            yield

    @contextmanager
    def widened(self, own: str, higher: str) -> Iterator[None]:
        """Let the user of a level write a higher one, too, within the block."""
        resource = f"arn:aws:s3:::{bucket_of(higher)}/*"
        statement = {"Effect": "Allow", "Action": "s3:*", "Resource": resource}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        _backend().put_user_policy(_user(own), "too wide", policy)
        try:
            yield
        finally:
            _backend().delete_user_policy(_user(own), "too wide")

    def levels(self, own: str) -> Levels:
        """The levels, as a deployment file names them."""
        return Levels(PLACES, own)

    def state(self, level: str) -> list[tuple[str, str, bytes]]:
        """All versions of all objects of a level, with their contents."""
        keys = self.doors[level].backend.buckets[bucket_of(level)].keys
        return [
            (name, version.version_id, b"" if not hasattr(version, "value") else bytes(version.value))
            for name in sorted(keys)
            for version in keys.getlist(name)
        ]

    def settings(self, level: str) -> dict[str, Any]:
        """The settings of a level's bucket that a writer could loosen."""
        bucket = self.doors[level].backend.buckets[bucket_of(level)]
        return {"policy": bucket.policy, "versions": bucket.versioning_status, "rules": list(bucket.rules)}

    def client(self) -> Any:
        """A client of who acts now, for requests that no store makes."""
        return client(TIMEOUT)


@contextmanager
def guarded() -> Iterator[Guarded]:
    """Empty buckets, and users whose policies are those of the files."""
    backend, keys = _backend(), {}
    with ExitStack() as stack:
        doors = {name: stack.enter_context(serve(*map(bucket_of, NAMES))) for name in NAMES}
        for name in NAMES:
            backend.create_user("us-east-1", user := _user(name))
            policy = (POLICIES / f"{name}.json").read_text(encoding="utf-8").replace("BUCKET", _BUCKET)
            backend.put_user_policy(user, "level", policy)
            key = backend.create_access_key(user)
            keys[name] = key.access_key_id, key.secret_access_key
            stack.callback(_forget, backend, user, key.access_key_id)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        # As AWS has it: the right to list answers whether the bucket is there, too
        patch.setitem(ACTION_MAP["BUCKET"]["HEAD"], "DEFAULT", "ListBucket")
        patch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        yield Guarded(doors, keys)


def _backend() -> IAMBackend:
    return iam_backends[DEFAULT_ACCOUNT_ID]["aws"]


def _user(level: str) -> str:
    return f"level-{level}"


def _forget(backend: IAMBackend, user: str, key: str) -> None:
    backend.delete_access_key(key, user)
    backend.delete_user_policy(user, "level")
    backend.delete_user(user)
