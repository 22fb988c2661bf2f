"""Levels of trust in buckets whose service enforces the policies of `deploy/levels/`: attempts from below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.store.from_below import FROM_BELOW, Attempts, made_in, through_the_store
from tests.store.s3_levels import NAMES, PLACES, Guarded, bucket_of, guarded
from tests.store.test_contract import checkpoint_set
from tests.store.test_overlay import fill
from tests.store.values import KEY, finish
from translations_assets.common.errors import StoreError
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.durable import DurableStore
from translations_assets.store.gc import collect
from translations_assets.store.levels import Levels, mark
from translations_assets.store.open import open_place
from translations_assets.store.verify import verify


@pytest.fixture(scope="module")
def _guards() -> Iterator[Guarded]:
    with guarded() as guards:
        yield guards


@pytest.fixture
def guards(_guards: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """Buckets of three levels, each marked, and with a finished step, a run and a training half done."""
    monkeypatch.delenv("TRANSLATIONS_CACHE", raising=False)
    _guards.doors["release"].clear()
    for name in NAMES:
        with _guards.acting(name):
            place = _guards.levels(name).place(name)
            mark(place)
            (tmp_path / name).mkdir()
            fill(place, tmp_path / name)
    return _guards


def is_refused(attempt: Callable[[], object]) -> bool:
    """True if the service answers that this user may not."""
    try:
        answer = attempt()
    except StoreError as error:
        return "403 AccessDenied" in str(error)
    except ClientError as error:
        return error.response["Error"]["Code"] in ("AccessDenied", "403")  # HEAD has no words
    errors = answer.get("Errors", []) if isinstance(answer, dict) else []
    return bool(errors) and all(error["Code"] == "AccessDenied" for error in errors)


def raw(client: Any, level: str, own: str, place: DurableStore[Any]) -> Attempts:
    """Requests that change something in a level's bucket, as a person with a client may send them."""
    bucket, prefix = {"Bucket": bucket_of(level)}, "store/"
    made = made_in(place)
    there = f"{prefix}{place.manifest_file(made.key, 1)}"
    blob = f"{prefix}{place.blob_file(made.outputs['corpus'].digest)}"
    version = client.get_object(**bucket, Key=blob)["VersionId"]
    here = {"Bucket": bucket_of(own), "Key": f"{prefix}level.json"}
    new = {
        "contents": "blobs/00/" + "00" * 32,
        "the next generation of a step": str(place.manifest_file(made.key, 2)),
        "a step that is not made": f"steps/{KEY[:2]}/{KEY}/1.json",
        "a retired manifest": f"retired/{KEY}.1.json",
        "a part of a log": f"logs/{made.key}/1.1/1",
        "a checkpoint set": f"checkpoints/{KEY}/1/1/000200/set.json",
        "a ref": "refs/production/en-ru/merge_corpus/run-mine.json",
        "a run": "runs/run-mine.json",
        "a pin": "pins/run-production.json",
        "a publication": "publications/mine.json",
        "a config": "configs/en-ru.mine.yml",
        "a lease": f"leases/{KEY}.1",
        "somebody who waits": f"waiting/{KEY}.1/mine",
        "a clock": "clock/mine",
        "a damaged file": "quarantine/mine",
        "something beside the store": "../mine",
    }

    def put(key: str, **given: Any) -> Callable[[], object]:
        return lambda: client.put_object(**bucket, Key=key, Body=b"from below", **given)

    return {
        **{f"write {name}": put(f"{prefix}{key}") for name, key in new.items()},
        "replace contents": put(blob),
        "replace a manifest": put(there),
        "replace the mark": put(f"{prefix}level.json"),
        "write outside of the prefix": put("elsewhere"),
        "write on a condition": put(f"{prefix}{new['a ref']}", IfNoneMatch="*"),
        "touch contents": lambda: client.copy_object(
            **bucket,
            Key=blob,
            CopySource={"Bucket": bucket_of(level), "Key": blob},
            MetadataDirective="REPLACE",
        ),
        "copy from below": lambda: client.copy_object(**bucket, Key=there, CopySource=here),
        "begin to write in parts": lambda: client.create_multipart_upload(**bucket, Key=blob),
        "delete contents": lambda: client.delete_object(**bucket, Key=blob),
        "delete a manifest": lambda: client.delete_object(**bucket, Key=there),
        "delete a version": lambda: client.delete_object(**bucket, Key=blob, VersionId=version),
        "delete several": lambda: client.delete_objects(
            **bucket, Delete={"Objects": [{"Key": blob}, {"Key": there}]}
        ),
        "open contents to all": lambda: client.put_object_acl(**bucket, Key=blob, ACL="public-read-write"),
        "label contents": lambda: client.put_object_tagging(**bucket, Key=blob, Tagging={"TagSet": []}),
        "stop versions": lambda: client.put_bucket_versioning(
            **bucket, VersioningConfiguration={"Status": "Suspended"}
        ),
        "give rights": lambda: client.put_bucket_policy(
            **bucket,
            Policy='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", '
            f'"Action": "s3:*", "Resource": "arn:aws:s3:::{bucket_of(level)}/*"}}]}}',
        ),
        "let contents expire": lambda: client.put_bucket_lifecycle_configuration(
            **bucket,
            LifecycleConfiguration={
                "Rules": [{"ID": "x", "Status": "Enabled", "Prefix": "", "Expiration": {"Days": 1}}]
            },
        ),
        "open the bucket to all": lambda: client.put_bucket_acl(**bucket, ACL="public-read-write"),
        "delete the bucket": lambda: client.delete_bucket(**bucket),
    }


@pytest.mark.parametrize(("own", "higher"), FROM_BELOW)
def test_attempts_from_below_are_refused_by_the_service(
    guards: Guarded, own: str, higher: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    before = guards.state(higher), guards.settings(higher)
    with guards.acting(own):
        # As a store that would write, without the trial of the service, whose first write would be refused
        place = open_place(PLACES[higher], level=higher, reader=own, read_only=True)
        place.files.read_only = False
        attempts = raw(guards.client(), higher, own, place) | through_the_store(place, tmp_path)
        passed = [name for name, attempt in attempts.items() if not is_refused(attempt)]
    assert (guards.state(higher), guards.settings(higher)) == before
    assert passed == []
    record_property("attempts", len(attempts))
    print(f"{own} tried {len(attempts)} ways to change {higher}: all were refused by the service")
    assert len(attempts) >= 50


@pytest.mark.parametrize(("own", "higher"), FROM_BELOW)
def test_higher_levels_are_read_and_lower_ones_are_not(guards: Guarded, own: str, higher: str) -> None:
    with guards.acting(own):
        made = made_in(guards.levels(own).place(higher))
        assert guards.levels(own).place(higher).read_blob(made.outputs["corpus"]) == b"text of production"
    with guards.acting(higher):
        client, lower = guards.client(), {"Bucket": bucket_of(own)}
        named = {
            **lower,
            "Key": f"store/blobs/{made.outputs['corpus'].digest[:2]}/{made.outputs['corpus'].digest}",
        }
        for ask in (
            lambda: client.list_objects_v2(**lower),
            lambda: client.list_object_versions(**lower),
            lambda: client.get_object(**named),
            lambda: client.head_object(**named),
            lambda: client.put_object(**named, Body=b"from above"),
            lambda: client.delete_object(**named),
            lambda: open_place(PLACES[own], level=own, reader=higher, read_only=True).latest(made.key),
        ):
            assert is_refused(ask)


def test_whoever_has_no_key_is_refused(guards: Guarded) -> None:
    with guards.acting("release"):
        place = guards.levels("release").place("release")
        blob = place.blob_file(made_in(place).outputs["corpus"].digest)
    before = guards.state("release")
    url = f"{guards.doors['release'].url}/{bucket_of('release')}/store/{blob}"
    for method, data in (("GET", None), ("PUT", b"from nobody"), ("DELETE", None)):
        with pytest.raises(HTTPError, match="403"):
            urlopen(Request(url, data, method=method), timeout=60)
    wrong = boto3.client(
        "s3",
        endpoint_url=guards.doors["release"].url,
        region_name="us-east-1",
        aws_access_key_id=guards.keys["release"][0],
        aws_secret_access_key="guessed",
    )
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        wrong.put_object(Bucket=bucket_of("release"), Key="store/mine", Body=b"guessed")
    assert guards.state("release") == before


def test_a_store_over_higher_levels_works_with_these_rights(guards: Guarded, tmp_path: Path) -> None:
    """All that a run does, in the middle level: its rights are enough, and the level above stays as it is."""
    before = guards.state("release"), guards.state("anyone")
    with guards.acting("branch"):
        store = guards.levels("branch").open()
        (made,) = store.manifests()  # the same step in both: one's own counts
        assert store.level_of(made.key, 1) == "branch"
        with store.owners.lock(KEY, 1) as mine, store.owners.waiting(KEY, 1):
            assert mine
            store.append_log(KEY, 1, 1, 0, b"line")
            store.add_checkpoint(KEY, 1, "000200", checkpoint_set(tmp_path / "set", "ours"))
            ours = finish(store, "merge-ours", {"corpus": b"ours"})
        store.drop_checkpoints(KEY, 1)
        store.write_run("run-mine", RunRecord("run-mine", ended=1.0))
        store.pin("run-mine", "ours")
        store.unpin("run-mine")
        place = guards.levels("branch").place("branch")
        assert verify(place).problems == []
        assert store.level_of(ours.key, 1) == "branch"
        collect(place, Rules(0, 0, 0), delete=True)
    assert (guards.state("release"), guards.state("anyone")) == before


def test_a_place_of_a_lower_level_is_not_taken_for_a_higher_one(guards: Guarded) -> None:
    exchanged = Levels(PLACES | {"release": PLACES["branch"], "branch": PLACES["release"]}, "anyone")
    with (
        guards.acting("anyone"),
        pytest.raises(StoreError, match="is the store of the level branch, and the"),
    ):
        exchanged.open()
