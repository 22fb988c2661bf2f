"""Signatures of a model and of its provenance: verified by the libraries of other projects, offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from securesystemslib.exceptions import VerificationError

from tests.publish.keys import make_key, verify_model, verify_statement
from translations_assets.common.errors import TranslationsError
from translations_assets.publish.signing import Signatures, Signer

STATEMENT = '{"_type": "https://in-toto.io/Statement/v1", "predicate": {"ĉ": 1.50}}\n'


class Signed:
    """A folder of two files, a key, and what was signed by it."""

    def __init__(self, root: Path) -> None:
        self.folder, self.key = root / "exported", root / "model.key"
        self.folder.mkdir()
        (self.folder / "model.bin").write_bytes(b"the weights")
        (self.folder / "vocab.spm").write_bytes(b"the pieces")
        self.public = make_key(self.key)
        self.signatures = Signer(self.key, "").sign(self.folder, STATEMENT)
        self.signature = root / "model.sig"
        self.signature.write_text(self.signatures.model)


@pytest.fixture
def signed(tmp_path: Path) -> Signed:
    return Signed(tmp_path)


def test_other_projects_accept_what_is_signed(signed: Signed) -> None:
    verify_model(signed.folder, signed.signature, signed.public)
    assert verify_statement(signed.signatures.provenance, signed.public).decode() == STATEMENT


def another_byte(signed: Signed) -> None:
    (signed.folder / "model.bin").write_bytes(b"the weightz")


def a_file_is_missing(signed: Signed) -> None:
    (signed.folder / "vocab.spm").unlink()


def a_file_more(signed: Signed) -> None:
    (signed.folder / "lex.bin").write_bytes(b"of another")


def exchanged_files(signed: Signed) -> None:
    model, vocab = signed.folder / "model.bin", signed.folder / "vocab.spm"
    first = model.read_bytes()
    model.write_bytes(vocab.read_bytes())
    vocab.write_bytes(first)


def another_key(signed: Signed) -> None:
    make_key(signed.key)


def another_key_with_its_hint(signed: Signed) -> None:
    other = Signer(signed.key, "").sign(signed.folder, STATEMENT).model
    old = json.loads(signed.signature.read_text())
    make_key(signed.key)
    new = json.loads(Signer(signed.key, "").sign(signed.folder, STATEMENT).model)
    assert json.loads(other) == old
    signed.signature.write_text(json.dumps({**old, "verificationMaterial": new["verificationMaterial"]}))


def another_signature(signed: Signed) -> None:
    signed.signature.write_text(json.dumps(damaged(signed.signature.read_text())))


def another_payload(signed: Signed) -> None:
    bundle = json.loads(signed.signature.read_text())
    (signed.folder / "vocab.spm").write_bytes(b"of another")
    new = json.loads(Signer(signed.key, "").sign(signed.folder, STATEMENT).model)
    bundle["dsseEnvelope"]["payload"] = new["dsseEnvelope"]["payload"]
    signed.signature.write_text(json.dumps(bundle))


def damaged(text: str) -> dict[str, object]:
    """A bundle with one bit of its signature changed, near the end, where no length stands."""
    bundle: dict[str, object] = json.loads(text)
    envelope: dict[str, list[dict[str, str]]] = bundle["dsseEnvelope"]  # type: ignore[assignment]
    (signature,) = envelope["signatures"]
    middle = len(signature["sig"]) // 2
    letter = "A" if signature["sig"][middle] != "A" else "B"
    signature["sig"] = signature["sig"][:middle] + letter + signature["sig"][middle + 1 :]
    return bundle


@pytest.mark.parametrize(
    "spoil",
    [
        another_byte,
        a_file_is_missing,
        a_file_more,
        exchanged_files,
        another_key,
        another_key_with_its_hint,
        another_signature,
        another_payload,
    ],
)
def test_a_model_that_is_not_what_was_signed_is_refused(
    signed: Signed, spoil: Callable[[Signed], None]
) -> None:
    spoil(signed)
    with pytest.raises((ValueError, InvalidSignature)):
        verify_model(signed.folder, signed.signature, signed.public)


def test_provenance_that_is_not_what_was_signed_is_refused(signed: Signed) -> None:
    bundle = json.loads(signed.signatures.provenance)
    other = Signer(signed.key, "").sign(signed.folder, STATEMENT.replace("1.50", "1.51"))
    payload = json.loads(other.provenance)["dsseEnvelope"]["payload"]
    exchanged = {**bundle, "dsseEnvelope": {**bundle["dsseEnvelope"], "payload": payload}}
    for spoiled in (damaged(signed.signatures.provenance), exchanged):
        with pytest.raises(VerificationError):
            verify_statement(json.dumps(spoiled), signed.public)
    with pytest.raises(VerificationError):
        verify_statement(signed.signatures.provenance, make_key(signed.key))


def test_the_same_is_signed_by_the_same_bytes(signed: Signed, tmp_path: Path) -> None:
    assert Signer(signed.key, "").sign(signed.folder, STATEMENT) == signed.signatures
    make_key(signed.key)
    assert Signer(signed.key, "").sign(signed.folder, STATEMENT) != signed.signatures


def test_an_encrypted_key(signed: Signed, tmp_path: Path) -> None:
    key = tmp_path / "encrypted.key"
    public = make_key(key, "a secret")
    signatures: Signatures = Signer(key, "a secret").sign(signed.folder, STATEMENT)
    signed.signature.write_text(signatures.model)
    verify_model(signed.folder, signed.signature, public)
    for password, message in (
        ("", "is encrypted: set TRANSLATIONS_SIGN_PASSWORD."),
        ("wrong", "TRANSLATIONS_SIGN_PASSWORD holds another password"),
    ):
        with pytest.raises(TranslationsError, match=message):
            Signer(key, password)


def test_keys_that_cannot_sign(tmp_path: Path) -> None:
    key = tmp_path / "model.key"
    with pytest.raises(TranslationsError, match=r"cannot be read: No such file .* To make one: openssl"):
        Signer(key, "")
    public = make_key(key)
    with pytest.raises(TranslationsError, match="is not encrypted: unset TRANSLATIONS_SIGN_PASSWORD"):
        Signer(key, "a secret")
    with pytest.raises(TranslationsError, match="holds no private key in PEM"):
        Signer(public, "")
    make_key(key, curve=ec.SECP384R1())
    with pytest.raises(TranslationsError, match=r"is not of the curve P-256. To make one: openssl"):
        Signer(key, "")


def test_what_is_not_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translations_assets.publish.signing.find_spec", lambda name: None)
    with pytest.raises(TranslationsError, match="in a checkout: make install-signing"):
        Signer(tmp_path / "model.key", "")
