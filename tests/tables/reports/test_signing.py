"""Signatures in the format of minisign: what minisign itself signed is read, and every changed byte is noticed."""

from __future__ import annotations

import builtins
import stat
from pathlib import Path
from typing import Any

import pytest

from mechdesign.errors import FileProblem, InvalidInput, MissingExtra
from mechdesign.tables.reports import BadSignature, Signed, new_key, sign, verify

# the example of minisign's own documentation of its libraries
KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
SIGNATURE = (
    "untrusted comment: signature from minisign secret key\n"
    "RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=\n"
    "trusted comment: timestamp:1555779966\tfile:test\n"
    "QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    path.write_bytes(b"what is signed\n")
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "s.key")
    return tmp_path / "s.key"


def test_what_minisign_signed_holds(tmp_path: Path) -> None:
    (tmp_path / "test").write_bytes(b"test")
    (tmp_path / "test.minisig").write_text(SIGNATURE)
    found = verify(tmp_path / "test", KEY)
    assert found == Signed(tmp_path / "test.minisig", "timestamp:1555779966\tfile:test", KEY)


def test_a_signed_file_holds_and_says_what_was_signed_with_it(file: Path, key: Path) -> None:
    done = sign(file, key, comment="release 1")
    assert done.file == file.with_name("t.json.minisig")
    assert verify(file, f"{key}.pub") == done
    assert verify(file, done.key) == done  # the key's own text
    assert verify(file, f"{key}.pub").comment == "release 1"


def test_a_signature_is_over_the_hash_of_the_file(file: Path, key: Path) -> None:
    """ED is minisign's word for it, the default of minisign since 0.10."""
    import base64

    lines = sign(file, key).file.read_text().splitlines()
    assert base64.b64decode(lines[1])[:2] == b"ED"
    assert lines[2] == "trusted comment: file:t.json"


def test_a_signature_is_what_the_format_says_by_the_primitives_alone(file: Path, key: Path) -> None:
    import base64
    import hashlib

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    _, first, trusted, second = sign(file, key).file.read_bytes().splitlines()
    public = base64.b64decode(Path(f"{key}.pub").read_bytes().splitlines()[1])
    signature = base64.b64decode(first)
    assert signature[:2] == b"ED"
    assert (public[:2], public[2:10]) == (b"Ed", signature[2:10])
    primitive = Ed25519PublicKey.from_public_bytes(public[10:])
    primitive.verify(signature[10:], hashlib.blake2b(file.read_bytes()).digest())
    primitive.verify(base64.b64decode(second), signature[10:] + trusted.removeprefix(b"trusted comment: "))


def test_every_changed_byte_of_the_file_or_the_signature_is_noticed(file: Path, key: Path) -> None:
    signature = sign(file, key).file
    content, signed = file.read_bytes(), signature.read_bytes()
    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(BadSignature):
            verify(file, f"{key}.pub")
    file.write_bytes(content)
    untrusted = signed.index(b"\n")
    for place in range(untrusted + 1, len(signed) - 1):
        signature.write_bytes(signed[:place] + bytes([signed[place] ^ 4]) + signed[place + 1 :])
        with pytest.raises(BadSignature):
            verify(file, f"{key}.pub")


def test_another_key_does_not_verify(file: Path, key: Path, tmp_path: Path) -> None:
    sign(file, key)
    new_key(tmp_path / "other.key")
    with pytest.raises(BadSignature, match="by this key"):
        verify(file, tmp_path / "other.key.pub")


def test_a_secret_key_is_for_its_user_only_and_replaces_nothing(key: Path, file: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(FileProblem, match="not exist yet"):
        new_key(key)
    sign(file, key)
    with pytest.raises(FileProblem, match="not exist yet"):
        sign(file, key)
    sign(file, key, overwrite=True)


def test_a_key_with_a_password_needs_it(file: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "p.key", "open sesame")
    for password in (None, "open barley"):
        with pytest.raises(FileProblem, match="password") as refused:
            sign(file, tmp_path / "p.key", password)
        assert "barley" not in str(refused.value)
    sign(file, tmp_path / "p.key", "open sesame")
    assert verify(file, tmp_path / "p.key.pub").comment == "file:t.json"
    with pytest.raises(InvalidInput, match="password"):
        new_key(tmp_path / "q.key", "")


def test_a_key_whose_halves_do_not_fit_signs_nothing(file: Path, key: Path, tmp_path: Path) -> None:
    import base64

    comment, line = key.read_bytes().splitlines()
    content = bytearray(base64.b64decode(line))
    content[2 + 2 + 2 + 32 + 16 + 8] ^= 1  # the first byte of the seed
    key.write_bytes(comment + b"\n" + base64.b64encode(bytes(content)) + b"\n")
    with pytest.raises(FileProblem, match="whole"):
        sign(file, key)
    assert not file.with_name("t.json.minisig").exists()


@pytest.mark.parametrize("content", [b"", b"no key", b"a\nb\n", b"\xff\xfe\n" * 2, b"untrusted comment: x\nRWQ=\n"])
def test_files_that_are_no_keys_or_signatures_are_typed_errors(
    file: Path, key: Path, tmp_path: Path, content: bytes
) -> None:
    sign(file, key)
    wrong = tmp_path / "wrong"
    wrong.write_bytes(content)
    with pytest.raises(FileProblem, match="secret key"):
        sign(file, wrong, overwrite=True)
    with pytest.raises(FileProblem, match="public key"):
        verify(file, wrong)
    with pytest.raises(BadSignature):
        verify(file, f"{key}.pub", wrong)


@pytest.mark.parametrize("comment", ["two\nlines", "\x1b[31m", "x" * 10_000])
def test_a_comment_is_one_line_of_printable_text(file: Path, key: Path, comment: str) -> None:
    with pytest.raises(InvalidInput, match="comment"):
        sign(file, key, comment=comment)


def test_without_the_extra_it_is_said_which_one(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name == "minisign":
            raise ModuleNotFoundError(name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"mechdesign\[signing\]"):
        verify(file, KEY)
    with pytest.raises(MissingExtra):
        new_key(tmp_path / "k")
    assert not (tmp_path / "k").exists()
