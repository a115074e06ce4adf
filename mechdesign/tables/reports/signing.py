"""Signatures of files in the format of minisign: Ed25519 over BLAKE2b, by the package ``py-minisign``.

A hash says that a file is the one you have the hash of; a signature that who has the key meant it. Tables, collections
and manifests are files like others here: the signature is about their bytes, and lies beside them as ``FILE.minisig``.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from mechdesign.errors import FileProblem, InvalidInput, unusable_extra
from mechdesign.values import files
from mechdesign.values.declare import frozen

SUFFIX = ".minisig"
_MOST_KEY, _MOST_SIGNATURE = 1 << 16, 1 << 16


@frozen
class Signed:
    """A signature that was written or that holds: what it says beside, which is signed too, and whose key it is of."""

    file: Path
    comment: str
    key: str


def new_key(path: Path | str, password: str | None = None) -> Path:
    """A secret key, and beside it its public key as ``PATH.pub``; only this user may read the secret one.

    With a password it is encrypted (scrypt, as minisign does). Neither file may exist. Returns the public key's path.
    """
    secret, public = Path(path), Path(f"{path}.pub")
    pair = _minisign("new_key").KeyPair.generate()
    files.require_writable(secret)
    files.require_writable(public)
    if password is not None:
        pair.secret_key.encrypt(_require_password(password))
    try:
        with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(bytes(pair.secret_key) + b"\n")
    except OSError as error:
        rule = f"be writable: {(error.strerror or '').lower()}"
        raise FileProblem("secret key", str(secret), rule, files.remedy(error, "check the folder")) from None
    return files.write_atomically(public, bytes(pair.public_key) + b"\n")


def sign(
    file: Path | str,
    key: Path | str,
    password: str | None = None,
    comment: str | None = None,
    *,
    overwrite: bool = False,
) -> Signed:
    """Sign a file with a secret key of minisign; the signature is written beside it.

    ``comment`` is signed too: by default the file's name.
    """
    minisign, path = _minisign("sign"), Path(file)
    content, said = files.read_bytes(path), files.read_bytes(key, "secret key", _MOST_KEY)
    target = Path(f"{path}{SUFFIX}")
    files.require_writable(target, overwrite=overwrite)
    try:
        secret = minisign.SecretKey.from_bytes(said)
    except ValueError:
        raise FileProblem("secret key", str(key), "be a secret key of minisign", "sign --new-key makes one") from None
    with secret:
        if secret.is_encrypted():
            _decrypt(secret, key, password)
        name = path.name if path.name.isascii() and path.name.isprintable() else "a file"
        text = f"file:{name}" if comment is None else comment
        try:
            signature = secret.sign(io.BytesIO(content), trusted_comment=text)
        except ValueError as error:
            raise InvalidInput("comment", text, f"be one line of printable ASCII: {error}") from None
        public = secret.get_public_key()
        try:
            public.verify(io.BytesIO(content), signature)
        except ValueError:
            raise FileProblem("secret key", str(key), "be whole: its two halves do not fit each other") from None
    files.write_atomically(target, bytes(signature) + b"\n", overwrite=overwrite)
    return Signed(target, text, public.to_base64().decode())


def verify(file: Path | str, public_key: Path | str, signature: Path | str | None = None) -> Signed:
    """The signature of a file by this key, or `BadSignature`.

    ``public_key`` is a file, or the line of base64 in it.
    """
    minisign = _minisign("verify")
    path = Path(f"{file}{SUFFIX}") if signature is None else Path(signature)
    content = files.read_bytes(file)
    key = _public_key(minisign, public_key)
    said = files.read_bytes(path, "signature", _MOST_SIGNATURE)
    try:
        read = minisign.Signature.from_bytes(said)
    except ValueError:
        read = None
    if read is None or bytes(read).splitlines() != said.splitlines():  # base64 has bits that say nothing
        raise BadSignature("signature", str(path), "be a signature of minisign")
    try:
        key.verify(io.BytesIO(content), read)
    except ValueError:
        rule = f"be one of {Path(file).name} by this key: the file, the signature or the key is another"
        raise BadSignature("signature", str(path), rule) from None
    return Signed(path, str(read.trusted_comment), key.to_base64().decode())


class BadSignature(FileProblem):
    """A signature that is none of this file by this key."""


def _public_key(minisign: Any, said: Path | str) -> Any:
    text = str(said)
    try:
        if not Path(text).exists():
            return minisign.PublicKey.from_base64(text.encode())
        return minisign.PublicKey.from_bytes(files.read_bytes(text, "public key", _MOST_KEY))
    except FileProblem:
        raise
    except (ValueError, OSError):
        raise FileProblem("public key", text, "be a public key of minisign: its file, or its line of base64") from None


def _decrypt(secret: Any, key: Path | str, password: str | None) -> None:
    if password is None:
        raise FileProblem("secret key", str(key), "come with its password", "pass --password-file FILE")
    try:
        secret.decrypt(_require_password(password))
    except ValueError:
        raise FileProblem("secret key", str(key), "be encrypted with this password") from None


def _require_password(password: str) -> str:
    if not password:
        raise InvalidInput("password", "an empty text", "not be empty")
    return password


def _minisign(feature: str) -> Any:
    try:
        import minisign
        from minisign import KeyPair, PublicKey, SecretKey, Signature  # noqa: F401
    except ImportError as error:
        raise unusable_extra(feature, "signing", error) from None
    return minisign
