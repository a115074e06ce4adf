"""Python: a wheel of modules that need the standard library only, or of measurements of OpenDP, and unit tests."""

from __future__ import annotations

import keyword
import sys

from mechdesign.deploy.export import opendp, python
from mechdesign.deploy.export.packages import envelopes
from mechdesign.deploy.export.packages.npm import called_first, tested
from mechdesign.deploy.export.packages.package import Member, NameRule, Package, common, in_blocks

_USED = frozenset(("opendp", "numpy", "mechdesign"))
RULE = NameRule(
    "[a-z][a-z0-9_]{0,63}",
    "a small letter, then small letters, digits and _",
    frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | sys.stdlib_module_names | _USED,
    frozenset(keyword.kwlist),
)

_RANDOMNESS = (
    "`os.urandom`; if it fails, `sample` raises `NoRandomness`. No two threads get the same bytes, and a child "
    "of `os.fork` "
    "begins with none."
)


def python_files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    called = "```python\nimport @package@\n\nreport = @package@.@name@.sample(@example@)\n```"
    called += envelopes.told("`@package@.envelopes.@name@(report, last_day)`")
    imported = "from . import @stem@ as @name@"
    texts = _files(package, called, imported, [])
    folder, init = f"src/{package.name}", f"src/{package.name}/__init__.py"
    texts[init] = texts[init].replace("\n\nfrom", "\n\nfrom . import envelopes\nfrom", 1)
    texts[init] = texts[init].replace("__all__ = [", '__all__ = ["envelopes", ', 1)
    texts[f"{folder}/envelopes.py"] = (
        '"""The bytes that a collector reads, for reports of each table."""\n\n'
        + package.each("from .@stem@_envelope import envelope as @name@\n", lambda _: {}, "")
        + _exported(package)
    )
    tests = package.each(_ENVELOPE_TEST, lambda member: {"as": envelopes.read_as(member)}, "\n\n")
    texts["tests/test_envelopes.py"] = envelopes.tests(package, "replay.py.in", {"tests": tests})
    for member in package.members:
        outputs = {"labels": "OUTPUT_LABELS", "listed": "OUTPUTS"}.get(envelopes.form_of(member), "")
        imported = ", ".join(sorted(filter(None, ["NoRandomness", "system", outputs])))
        taken = {"labels": "str", "bytes": "bytes"}.get(envelopes.form_of(member), "float")
        words = {"imported": imported, "outputs": outputs, "taken": taken}
        written = envelopes.source(member, "envelope.py.in", python.LANGUAGE, words)
        texts[f"{folder}/{member.plan.stem}_envelope.py"] = written
        texts[f"tests/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


def opendp_files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    called = (
        "```python\nimport @package@\nimport opendp.prelude as dp\n\n"
        'dp.enable_features("contrib", "honest-but-curious")\n'
        "report = @package@.@name@.make_measurement()(@example@)\n```"
    )
    texts = _files(package, called, "from . import @stem@_opendp as @name@", ["opendp>=0.13"])
    for member in package.members:
        stem = member.plan.stem
        wrapper = opendp.sources(member.plan, package.name)[f"{stem}_opendp.py"]
        texts[f"src/{package.name}/{stem}_opendp.py"] = wrapper
    return texts


def _files(package: Package, called: str, imported: str, needed: list[str]) -> dict[str, str]:
    readme = {
        "called": called_first(package, called),
        "built": "`pip wheel --no-deps .`",
        "tested": "`python -m unittest discover tests`, or pytest, where the wheel is installed or with "
        "`PYTHONPATH=src`.",
        "randomness": in_blocks(package, _RANDOMNESS),
    }
    tests = package.each(_TEST, _words_of, "\n\n")
    texts = common(package, readme) | {
        "pyproject.toml": package.filled(
            "wheel/pyproject.toml.in", {"needed": ", ".join(f'"{name}"' for name in needed)}
        ),
        f"src/{package.name}/__init__.py": '"""Locally private reports of exact law: see README.md."""\n\n'
        + package.each(imported, lambda _: {})
        + "\n"
        + _exported(package),
        f"src/{package.name}/py.typed": "",
        "tests/test_vectors.py": package.filled("wheel/test_vectors.py.in", {"tests": tests}),
    }
    for member in package.members:
        texts[f"src/{package.name}/{member.plan.stem}.py"] = python.module(member.plan)
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
    return texts


def _exported(package: Package) -> str:
    """What a module gives under names of its own: without it type checkers take them for the module's alone."""
    names = ", ".join(f'"{member.name}"' for member in package.members)
    return f"\n__all__ = [{names}]\n"


_TEST = """\
class Test@Name@(Vectors, unittest.TestCase):
    name = "@name@"
    typical = @typical@
    module = importlib.import_module("@package@.@module@")
    draw = staticmethod(module.@core@)"""


def _words_of(member: Member) -> dict[str, object]:
    core = "sample_code" if member.plan.labelled else "sample"
    return {**tested(member), "core": core, "module": member.plan.stem}


_ENVELOPE_TEST = """\
class Test@Name@Envelopes(Envelopes, unittest.TestCase):
    name = "@name@"
    read_as = "@as@"
    module = importlib.import_module("@package@.@stem@")
    write = staticmethod(envelopes.@name@)"""
