"""Private keys for tests of signatures, and the verifiers of other projects that read these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)
from model_signing import verifying
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined] # its package gives it on
from sigstore_models.bundle.v1 import Bundle


def make_key(file: Path, password: str = "", curve: ec.EllipticCurve | None = None) -> Path:
    """Write a new private key, and its public one beside it, `NAME.pub`, which is returned."""
    key = ec.generate_private_key(curve or ec.SECP256R1())
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    public = file.with_suffix(".pub")
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return public


def verify_model(folder: Path, signature: Path, public: Path) -> None:
    """Verify a model's files by OpenSSF's model-signing; ValueError, or the like, where it refuses them."""
    verifying.Config().use_elliptic_key_verifier(public_key=public).verify(folder, signature)


def verify_statement(bundle: str, public: Path) -> bytes:
    """Verify a signed statement by the library of in-toto, and return the statement."""
    assert Bundle.from_json(bundle).media_type == "application/vnd.dev.sigstore.bundle.v0.3+json"
    told: dict[str, Any] = json.loads(bundle)["dsseEnvelope"]
    assert told["payloadType"] == "application/vnd.in-toto+json"
    key = SSlibKey.from_crypto(load_pem_public_key(public.read_bytes()))
    key.keyid = ""  # the bundle's signature names no key
    envelope = Envelope.from_dict(told)
    assert envelope.verify([key], 1)
    return envelope.payload
