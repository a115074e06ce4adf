"""Theorems: what Coq takes to check a table, beside the checker of this package in the same run; nothing without Coq.

`coqc` has its own process, which loads Coq's real numbers; the theories are compiled before. The checker is this
package's, which `verify` runs without --formal.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import mechdesign as md
from benchmarks.clock import measured, medians
from benchmarks.rows import Row, Target
from mechdesign.tables import Table, checker, make_table
from mechdesign.tables.formal import acceptance_of, build_theories, proof_name, proof_of, require_checked_again
from mechdesign.words.domains import Finite
from mechdesign.words.workloads import Prefix

TURNS = 3
LABELS = (10, 100)
TYPES = 8
MINUTE = Target(seconds=60.0)
CHECKER = "verify without --formal"


def rows() -> Iterator[Row]:
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        return
    with TemporaryDirectory() as place:
        folder = Path(place)
        built = measured(partial(build_theories, folder))
        for count in LABELS:
            table = make_table(md.catalogue.randomised_response(1.0, Finite(tuple(range(count)))))
            yield _beside_the_checker(table, proof_of(table), f"finite table of {count} x {count}", folder)
        design = md.solve(md.Problem(loss=Prefix(TYPES), privacy=md.Pure(1.0), criterion=md.Average()), gap=1e-3)
        table = make_table(design)
        yield _beside_the_checker(table, proof_of(table, design), f"table and floor of {TYPES} prefixes", folder)
        again = measured(partial(require_checked_again, proof_name(table), folder))
        yield Row("the theories, compiled by coqc", "coqchk on them and a table", built, again, MINUTE)


def _beside_the_checker(table: Table, source: str, name: str, folder: Path) -> Row:
    tasks = {
        "coqc": partial(acceptance_of, source, proof_name(table), folder),
        "checker": partial(checker.check, table.content),
    }
    times = medians(tasks, TURNS)
    return Row(f"{name}, by coqc", CHECKER, times["coqc"], times["checker"], MINUTE)
