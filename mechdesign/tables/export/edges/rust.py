"""Rust: a crate of the runtime and its tables, without dependencies, and unit tests; or one file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mechdesign.tables.export.package import VERSION, Language, Member, NameRule, Package, Packaging, words
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime

KEYWORDS = words(
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if "
    "impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true try "
    "type typeof unsafe unsized use virtual where while yield"
)
RULE = NameRule(
    "[a-z][a-z0-9_-]{0,63}",
    "a small letter, then small letters, digits, - and _",
    KEYWORDS | words("alloc build core deps examples incremental proc_macro std test"),
    words("all"),
)

_CORE = ("bits", "error", "items", "json", "law", "numbers", "system", "table")
"""What reads tables and draws."""
_TESTS = ("replay", "tests")
_DEVICE = ("device", "storage", *(f"device_{name}" for name in _TESTS))


def sources(*more: str) -> dict[str, str]:
    """What is compiled of every crate, by its path there, and more files of the runtime."""
    return {f"src/{name}.rs": f"rust/src/{name}.rs" for name in (*_CORE, "envelope", "packaged", *more)}


def root(package: Package, *, wasm: bool = False) -> str:
    """The file that names all others."""
    return render(runtime("rust/package/lib.rs.jinja"), device=package.device is not None, wasm=wasm)


def _carried(package: Package) -> dict[str, str]:
    names = _TESTS if package.device is None else _TESTS + _DEVICE
    return sources(*names) | {"rustfmt.toml": "rust/rustfmt.toml"}


def _files(package: Package) -> dict[str, str]:
    return {
        "Cargo.toml": render(runtime("rust/package/Cargo.toml.jinja"), package=package, version=VERSION),
        "src/lib.rs": root(package),
        "src/tables.rs": render(runtime("rust/package/tables.rs.jinja"), package=package),
        **vectors(package),
    }


def vectors(package: Package) -> dict[str, str]:
    """All vectors of a package, in one folder."""
    texts = {}
    for member in package.members:
        texts[f"vectors/{member.name}_vectors.txt"] = member.vectors
        texts[f"vectors/{member.name}_envelopes.txt"] = member.envelopes
    if package.device is not None:
        texts[f"vectors/{package.device.name}_vectors.txt"] = package.device.vectors
    return texts


def _places(package: Package) -> dict[str, object]:
    return {"crate": package.name.replace("-", "_"), "literal": _literal(package.members[0].first)}


def _literal(value: str | float) -> str:
    """
    >>> print(_literal("it's"), _literal(0.5))
    "it\\u{27}s" 0.5
    """
    if not isinstance(value, str):
        return repr(value)
    return '"' + re.sub(r"[^\w .,:-]", lambda found: f"\\u{{{ord(found[0]):x}}}", value, flags=re.ASCII) + '"'


def single(member: Member) -> Mapping[str, str]:
    """What draws, each file as a module of one, and the table's file as a text."""
    modules = [f"mod {name} {{\n{runtime(f'rust/src/{name}.rs')}}}\n" for name in _CORE]
    table = f"const JSON: &str = {_raw(member.json)};\n"
    return {f"{member.stem}.rs": "\n".join([runtime("rust/package/single.rs"), table, *modules])}


def _raw(text: str) -> str:
    """A literal in which nothing is escaped: between more marks than follow a quote in the text.

    >>> print(_raw('["#1"]'))
    r##"["#1"]"##
    """
    marks = "#" * (1 + max(map(len, re.findall('"(#*)', text)), default=0))
    return f'r{marks}"{text}"{marks}'


RUST = Language("rust", single, Packaging("Cargo", RULE, "rust/guide.md", _carried, _files, _places))
