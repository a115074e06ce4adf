"""OpenDP 0.13 and later: the Python runtime, and tables as measurements of the OpenDP library."""

from __future__ import annotations

from collections.abc import Mapping

from mechdesign.tables.export.edges.python import RULE, RUNTIME, carried_with, files, one_module
from mechdesign.tables.export.package import Language, Member, Package, Packaging

_MEASUREMENT = "python/opendp/measurement.py"


def _carried(package: Package) -> dict[str, str]:
    return carried_with(package.name, "python/opendp/init.py") | {f"src/{package.name}/measurement.py": _MEASUREMENT}


def _files(package: Package) -> dict[str, str]:
    return files(package, python="3.9", needed=("opendp>=0.13",))


def single(member: Member) -> Mapping[str, str]:
    """The module of Python's export, with `make_measurement`."""
    below = ["python/single.py", "python/opendp/single.py"]
    return {f"{member.stem}_opendp.py": one_module(member, [RUNTIME, _MEASUREMENT], below)}


OPENDP = Language(
    "opendp",
    single,
    Packaging(
        "Python",
        RULE,
        "python/opendp/guide.md",
        _carried,
        _files,
        no_device=(
            "a measurement of OpenDP is a function, and has no place for a state",
            "export it without --reports, or the device with --to python",
        ),
    ),
)
