"""What is Google's own of the operations on a bucket; `bucket/test_objects` tests the rest."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.store.conftest import OBJECTS
from tests.store.faults import Fault
from tests.store.gcs_server import GcsServer
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects


@pytest.fixture
def objects(gcs: GcsServer) -> GcsObjects:
    """An empty bucket's objects below `store/`."""
    return replace(OBJECTS, prefix="store/")


def test_nothing_is_asked_besides(objects: GcsObjects, gcs: GcsServer) -> None:
    """Google's client would ask for the bucket when an object is not there."""
    before = threading.active_count()
    assert objects.read("a") is None
    objects.write("a", b"one")
    assert objects.stat("b") is None
    assert threading.active_count() <= before + 1, "at most the server's thread for our connection"
    assert [request.split("?")[0].split("/")[0] for request in gcs.requests] == ["GET ", "POST ", "GET "]


def test_who_may_not_is_told_which_role_is_missing(objects: GcsObjects, gcs: GcsServer) -> None:
    gcs.faults.append(Fault("status", status=403))
    with pytest.raises(StoreError, match=r"roles/storage\.objectUser") as told:
        objects.read("a")
    assert not isinstance(told.value, StoreUnreachable)


def test_who_is_unknown_is_told_to_log_in(objects: GcsObjects, gcs: GcsServer) -> None:
    gcs.faults.append(Fault("status", times=5, status=401))
    with pytest.raises(StoreError, match="gcloud auth application-default login"):
        objects.read("a")


def test_without_credentials_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, gcs: GcsServer) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nowhere")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(StoreError, match="gcloud auth application-default login"):
        BucketStore(GcsObjects.at("gs://somebodys-bucket")).config_names()
