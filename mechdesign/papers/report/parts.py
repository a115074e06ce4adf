"""What was computed for one claim, in a file of its own that is written whole or not at all.

A part is taken only if it says to be that of just this claim, computed by just this software: the printed numbers, the
sources of this package and the versions of the libraries it computes with go into its key, and its numbers into a
checksum. That finds damage, not who makes a part up: what is taken is said to be. The verdict is not in it: it follows
from the numbers, every time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib.util
import math
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import mechdesign
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.papers.claims.claim import Bounds, Claim, Outcome
from mechdesign.values import files
from mechdesign.values.codec import Codec
from mechdesign.values.declare import field, frozen

LIBRARIES = ("numpy", "scipy", "highspy", "matplotlib")
_SOURCES = ("mechdesign", "mechdesign_solvers")


@frozen
class _Stored:
    """A part as its file holds it; ``checksum`` is that of all the rest."""

    claim: str
    version: str
    key: str
    ours: tuple[tuple[float, float], ...]
    mended: tuple[tuple[float, float], ...] | None
    seconds: float
    picture: str | None
    checksum: str


@frozen
class Part:
    """What was computed for a claim, and its picture as a PNG file; now, or as the file of an earlier run says."""

    outcome: Outcome
    picture: bytes | None
    is_taken: bool = field(default=False, eq=False)


def keep(part: Part, folder: Path) -> None:
    """Write a part to its place in a folder, over one that could not be read."""
    outcome, picture = part.outcome, part.picture
    shown = None if picture is None else base64.b64encode(picture).decode("ascii")
    about = outcome.claim.key, mechdesign.__version__, key_of(outcome.claim)
    mended = None if outcome.mended is None else _plain(outcome.mended)
    stored = _Stored(*about, _plain(outcome.ours), mended, float(outcome.seconds), shown, "")
    document = Codec().encoded(stored) | {"checksum": _checksum(stored)}
    files.write_atomically(_place(outcome.claim, folder), files.dump_json(document).encode(), overwrite=True)


def kept(claim: Claim, folder: Path) -> Part | None:
    """The part of a claim that a folder holds; None where there is none, or none that can be believed."""
    try:
        return _read(claim, _place(claim, folder))
    except InvalidInput:  # missing, cut short, changed, or of other software: it is computed anew
        return None


def key_of(claim: Claim) -> str:
    """What the numbers of a claim depend on, as a digest."""
    return hashlib.sha256(repr((claim.key, claim.items, claim.erratum, claim.data, _software())).encode()).hexdigest()


@cache
def _software() -> str:
    """All sources of this package, and the versions of Python and of the libraries."""
    digest = hashlib.sha256(repr((mechdesign.__version__, platform.python_version(), versions())).encode())
    for name in _SOURCES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        root = Path(found.origin).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(repr(path.relative_to(root).as_posix()).encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions of the libraries that numbers and pictures come from."""
    return {name: metadata.version(name) for name in LIBRARIES}


def _place(claim: Claim, folder: Path) -> Path:
    return folder / f"{claim.key}-{key_of(claim)[:16]}.json"


def _read(claim: Claim, path: Path) -> Part:
    stored = Codec().decoded(_Stored, files.read_json(path), "part")
    if stored.checksum != _checksum(stored):
        raise FileProblem("part", str(path), "have the checksum of its content")
    if (stored.claim, stored.key) != (claim.key, key_of(claim)):
        raise FileProblem("part", str(path), f"be the part of {claim.key} by this software")
    for bounds in (stored.ours, stored.mended):
        _require_bounds(claim, bounds, path)
    outcome = Outcome(claim, stored.ours, stored.mended, stored.seconds)
    return Part(outcome, None if stored.picture is None else _decoded(stored.picture, path), is_taken=True)


def _require_bounds(claim: Claim, bounds: tuple[Bounds, ...] | None, path: Path) -> None:
    if bounds is None:
        return
    if len(bounds) != len(claim.items) or not all(low <= high for low, high in bounds):
        raise FileProblem("part", str(path), f"hold bounds of {len(claim.items)} numbers")


def _decoded(picture: str, path: Path) -> bytes:
    try:
        return base64.b64decode(picture, validate=True)
    except binascii.Error:
        raise FileProblem("part", str(path), "hold its picture in base 64") from None


def _plain(bounds: tuple[Bounds, ...]) -> tuple[Bounds, ...]:
    """In numbers of Python: those of numpy look otherwise after a file."""
    return tuple((float(low), float(high)) for low, high in bounds)


def _checksum(stored: _Stored) -> str:
    numbers = [stored.ours, stored.mended, stored.seconds]
    if not math.isfinite(stored.seconds):
        raise FileProblem("part", stored.claim, "have taken a finite time")
    content = (stored.claim, stored.version, stored.key, numbers, stored.picture)
    return hashlib.sha256(repr(content).encode()).hexdigest()
