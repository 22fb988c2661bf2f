"""Signatures of a published model by a private key: bundles of Sigstore, which tools of others verify.

model-signing makes the bundle of the model's files. Its signature is then made anew, without a random number
(RFC 6979), of its statement in one form: publishing the same model again makes the same bytes.
"""

from __future__ import annotations

import base64
import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import how_to_install
from translations_assets.records.canonical import canonical_json

PASSWORD = "TRANSLATIONS_SIGN_PASSWORD"
CURVE = "secp256r1"
MAKE = "openssl ecparam -name prime256v1 -genkey -noout -out model.key"


class Signatures(NamedTuple):
    """Bundles of Sigstore as JSON: of a model's files, and of its provenance."""

    model: str
    provenance: str


class Signer:
    """A private key of the curve P-256, in PEM: the one kind that all verifiers take as it is.

    Raises TranslationsError where the file holds no such key, the password is not its own, or the library is
    not installed.
    """

    def __init__(self, file: Path, password: str) -> None:
        if find_spec("model_signing") is None:
            raise TranslationsError(
                f"The library model-signing is not installed. {how_to_install('signing')}"
            )
        self._file, self._password = file, password.encode() or None
        self._key = _read_key(file, self._password)

    def sign(self, folder: Path, statement: str) -> Signatures:
        """Sign the files of a folder, and an in-toto statement as it is written."""
        from model_signing import hashing, signing

        # Else what git has there is left out, in an order that changes
        files = hashing.Config().set_ignored_paths(paths=(), ignore_git_paths=False)
        signer = signing.Config().set_hashing_config(files)
        # It hands the password on as it is, to what takes bytes
        signer.use_elliptic_key_signer(private_key=self._file, password=self._password)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory(prefix="translations-sign-") as work:
            signer.sign(folder, Path(work) / "model.sig")
            bundle = json.loads((Path(work) / "model.sig").read_text(encoding="utf-8"))
        own = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
        return Signatures(self._signed(bundle, canonical_json(own)), self._signed(bundle, statement.encode()))

    def _signed(self, bundle: dict[str, Any], payload: bytes) -> str:
        """The bundle with another payload, as JSON."""
        from securesystemslib.dsse import Envelope

        old = bundle["dsseEnvelope"]
        signed = Envelope(payload, old["payloadType"], {}).pae()
        signature = self._key.sign(signed, ECDSA(SHA256(), deterministic_signing=True))
        envelope = {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": old["payloadType"],
            "signatures": [{**old["signatures"][0], "sig": base64.b64encode(signature).decode()}],
        }
        return json.dumps({**bundle, "dsseEnvelope": envelope}, indent=2) + "\n"


def _read_key(file: Path, password: bytes | None) -> EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(file.read_bytes(), password)
    except OSError as error:
        raise TranslationsError(
            f"The key {file} cannot be read: {error.strerror}. To make one: {MAKE}"
        ) from error
    except TypeError as error:
        remedy = f"is not encrypted: unset {PASSWORD}" if password else f"is encrypted: set {PASSWORD}"
        raise TranslationsError(f"The key {file} {remedy}.") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        which = f"or {PASSWORD} holds another password" if password else "or is damaged"
        raise TranslationsError(
            f"{file} holds no private key in PEM, {which}. To make one: {MAKE}"
        ) from error
    if not isinstance(key, EllipticCurvePrivateKey) or key.curve.name != CURVE:
        raise TranslationsError(f"The key {file} is not of the curve P-256. To make one: {MAKE}")
    return key
