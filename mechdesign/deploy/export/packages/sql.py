"""SQL: an extension of PostgreSQL, the same as macros of DuckDB, and scripts that replay the vectors in both."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mechdesign.deploy.export import duckdb, postgresql
from mechdesign.deploy.export.packages.package import VERSION, Member, NameRule, Package, common, words
from mechdesign.errors import InvalidInput

_LONGEST = 63
"""PostgreSQL cuts longer names."""

_DEFINED = re.compile(r"^CREATE OR REPLACE (?:FUNCTION|MACRO) (?:@extschema@\.)?(\w+)", re.MULTILINE)
_SCRIPT = re.compile(r"^DO \$install\$.*\n|^\$script\$.*\n", re.MULTILINE)

RULE = NameRule(
    "[a-z][a-z0-9_]{0,39}",
    "a small letter, then small letters, digits and _, at most 40 together",
    words(
        "plpgsql select table user all and any array as asc case cast check column constraint create default "
        "desc do else "
        "end false for foreign from grant group having in into limit not null on or order primary public "
        "references then "
        "to true union unique using when where window with pg_catalog information_schema"
    ),
)


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    called = {member.name: f"{package.name}_{member.name}" for member in package.members}
    first = called[package.members[0].name]
    readme = {
        "called": _CALLED.replace("@package@", package.name).replace("@called@", first),
        "built": "`make install` copies the extension to PostgreSQL 13 or later; DuckDB 1.3 or later reads the "
        "scripts as they are.",
        "tested": "`make check` (psql, in the database of `PGDATABASE`) and `make check-duckdb`.",
        "randomness": "In PostgreSQL `gen_random_uuid`, which asks the operating system for every report's "
        "draws one by one; as "
        "many as the law asks for. DuckDB has no generator that is safe, so `register` gives every row bytes of "
        "`os.urandom`; without enough of them there is an error.",
    }
    checks = "".join(
        f"\tpsql -qXAt -v ON_ERROR_STOP=1 -f postgresql/{name}.postgresql.sql -f "
        f"postgresql/{name}_replay.postgresql.sql\n"
        for name in called.values()
    )
    duckdb_checks = "".join(
        f"\tduckdb -c '.read duckdb/{name}.duckdb.sql' -c '.read duckdb/{name}_replay.duckdb.sql'\n"
        for name in called.values()
    )
    texts = common(package, readme) | {
        f"{package.name}.control": package.filled("sql/package.control"),
        "Makefile": package.filled("sql/Makefile", {"checks": checks, "duckdb_checks": duckdb_checks}),
        "duckdb/register.py": duckdb.registration(list(called.values())),
    }
    sources = {member.name: _sources(member, called[member.name]) for member in package.members}
    _require_different(sources)
    for written in sources.values():
        texts |= written
    extension = "".join(sources[name][f"postgresql/{called[name]}.postgresql.sql"] for name in called)
    return texts | {f"{package.name}--{VERSION}.sql": _SCRIPT.sub("", extension)}


_CALLED = """\
```sql
CREATE EXTENSION @package@;
CREATE TABLE told AS SELECT @called@(answer) AS answer FROM answers;
```

In DuckDB, from Python:

```python
from register import register  # of the folder duckdb

register(connection)
connection.execute("CREATE TABLE told AS SELECT @called@(answer) AS answer FROM answers")
```

**Write reports to a table, once: `CREATE TABLE ... AS`. A view draws anew at every `SELECT`, and each draw spends
epsilon again.** `register` gives every row random bytes of its own. Who registers a function for them in another
language says that it has side effects: DuckDB asks any other once, and all rows have the same noise."""


def _sources(member: Member, called: str) -> dict[str, str]:
    """The scripts of a table, whose functions are called after it."""
    plan = member.plan
    of_duckdb = duckdb.sources(plan, member.cases)
    del of_duckdb[f"{plan.stem}_duckdb.py"]
    texts = {f"postgresql/{name}": text for name, text in postgresql.sources(plan, member.cases).items()}
    texts |= {
        f"duckdb/{name}": text.replace(f"{plan.stem}_duckdb.py", "register.py") for name, text in of_duckdb.items()
    }
    return {path.replace(plan.stem, called): text.replace(plan.stem, called) for path, text in texts.items()}


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
