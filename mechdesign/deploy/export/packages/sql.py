"""SQL: an extension of PostgreSQL, the same as macros of DuckDB, and scripts that replay the vectors in both."""

from __future__ import annotations

from mechdesign.deploy.export import duckdb, postgresql
from mechdesign.deploy.export.packages.package import VERSION, NameRule, Package, common, words

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
    first = package.members[0].plan
    readme = {
        "called": f"```sql\nCREATE EXTENSION {package.name};\nSELECT {first.stem}(answer) FROM answers;\n```\n\n"
        f"In DuckDB: `.read duckdb/{first.stem}.duckdb.sql`.",
        "built": "`make install` copies the extension to PostgreSQL 13 or later; DuckDB 1.3 or later reads the "
        "scripts as they are.",
        "tested": "`make check` (psql, in the database of `PGDATABASE`) and `make check-duckdb`.",
        "randomness": "In PostgreSQL `gen_random_uuid`, which asks the operating system for every report's "
        "draws one by one; as "
        "many as the law asks for. DuckDB has no generator that is safe, so random bytes are an argument; "
        "without enough of "
        "them there is an error.",
    }
    scripts = package.each(
        "\tpsql -qXAt -v ON_ERROR_STOP=1 -f postgresql/@stem@.postgresql.sql -f "
        "postgresql/@stem@_replay.postgresql.sql\n",
        lambda _: {},
        "",
    )
    duck = package.each(
        "\tduckdb -c '.read duckdb/@stem@.duckdb.sql' -c '.read duckdb/@stem@_replay.duckdb.sql'\n", lambda _: {}, ""
    )
    texts = common(package, readme) | {
        f"{package.name}.control": package.filled("sql/package.control"),
        "Makefile": package.filled("sql/Makefile", {"checks": scripts, "duckdb_checks": duck}),
    }
    extension = []
    for member in package.members:
        vectors, stem = member.cases, member.plan.stem
        sources = postgresql.sources(member.plan, vectors)
        extension.append(_without_transaction(sources[f"{stem}.postgresql.sql"]))
        texts |= {f"postgresql/{name}": text for name, text in sources.items()}
        texts |= {f"duckdb/{name}": text for name, text in duckdb.sources(member.plan, vectors).items()}
    return texts | {f"{package.name}--{VERSION}.sql": "".join(extension)}


def _without_transaction(text: str) -> str:
    """CREATE EXTENSION is a transaction of its own."""
    return "".join(line for line in text.splitlines(keepends=True) if line not in ("BEGIN;\n", "COMMIT;\n"))
