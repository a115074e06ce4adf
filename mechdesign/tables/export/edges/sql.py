"""SQL: an extension of PostgreSQL, the same as macros of DuckDB, and scripts that replay the vectors in both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mechdesign.errors import InvalidInput
from mechdesign.tables.export.package import VERSION, Language, Member, NameRule, Package, Packaging, words
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime
from mechdesign.tables.export.sql import duckdb, postgresql, replay

_LONGEST = 63
"""PostgreSQL cuts longer names."""

_DEFINED = re.compile(r"^CREATE OR REPLACE (?:FUNCTION|MACRO) (?:@extschema@\.)?(\w+)", re.MULTILINE)
_SCRIPT = re.compile(r"^DO \$install\$.*\n|^\$script\$.*\n", re.MULTILINE)

RULE = NameRule(
    "[a-z][a-z0-9_]{0,39}",
    "a small letter, then small letters, digits and _, at most 40 together",
    words(
        "plpgsql select table user all and any array as asc case cast check column constraint create default desc do "
        "else end false for foreign from grant group having in into limit not null on or order primary public "
        "references then to true union unique using when where window with pg_catalog information_schema"
    ),
)


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    called = {member.name: f"{package.name}_{member.name}" for member in package.members}
    places = {"package": package, "version": VERSION, "called": list(called.values())}
    texts = {
        f"{package.name}.control": render(runtime("sql/extension.control"), **places),
        "Makefile": render(runtime("sql/Makefile"), **places),
        "duckdb/register.py": _register(list(called.values())),
    }
    sources = {member.name: _scripts(member, called[member.name]) for member in package.members}
    _require_different(sources)
    for scripts in sources.values():
        texts |= scripts
    extension = "".join(sources[name][f"postgresql/{called[name]}.postgresql.sql"] for name in called)
    return texts | {f"{package.name}--{VERSION}.sql": _SCRIPT.sub("", extension)}


def _scripts(member: Member, called: str) -> dict[str, str]:
    """The scripts of a table, whose functions are called after it."""
    return {
        f"postgresql/{called}.postgresql.sql": postgresql(member.table, called),
        f"postgresql/{called}_replay.postgresql.sql": replay("postgresql", member.table, called, member.cases),
        f"duckdb/{called}.duckdb.sql": duckdb(member.table, called, "register.py"),
        f"duckdb/{called}_replay.duckdb.sql": replay("duckdb", member.table, called, member.cases),
    }


def single(member: Member) -> dict[str, str]:
    """Scripts beside each other, and the module by which DuckDB knows them."""
    stem = member.stem
    return {
        f"{stem}.postgresql.sql": postgresql(member.table, stem),
        f"{stem}_replay.postgresql.sql": replay("postgresql", member.table, stem, member.cases),
        f"{stem}.duckdb.sql": duckdb(member.table, stem, f"{stem}_duckdb.py"),
        f"{stem}_replay.duckdb.sql": replay("duckdb", member.table, stem, member.cases),
        f"{stem}_duckdb.py": _register([stem]),
    }


def _register(samplers: Sequence[str]) -> str:
    """A module of Python by which a connection knows samplers of these names, whose macros are in files beside it."""
    listed = ", ".join(f'"{name}"' for name in samplers)
    return render(runtime("sql/register.py.jinja"), samplers=listed, called=samplers[0])


def _require_different(sources: Mapping[str, Mapping[str, str]]) -> None:
    """No two tables define a function of one name, and PostgreSQL cuts none."""
    seen: dict[str, str] = {}
    for member, texts in sources.items():
        for name in {name for text in texts.values() for name in _DEFINED.findall(text)}:
            if len(name) > _LONGEST:
                rule = f"be shorter: PostgreSQL cuts names after {_LONGEST} letters, and one would be {name}"
                raise InvalidInput("table name", member, rule, "shorten the name of the package or of the table's file")
            if seen.setdefault(name, member) != member:
                rule = f"not begin with that of another table, {seen[name]}, where both have a function {name}"
                raise InvalidInput("table name", member, rule, "rename the table's file, or the attribute")


SQL = Language(
    "sql",
    single,
    Packaging(
        "PostgreSQL",
        RULE,
        "sql/guide.md",
        lambda package: {},
        files,
        no_device=(
            "a warehouse draws for many people at once, and has no storage of one device",
            "export the sampler without --reports, or the device for the app with --to swift, kotlin or typescript",
        ),
    ),
)
