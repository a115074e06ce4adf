"""Draws at both sides of every boundary of a table's law: what tells a sampler of this law from every other one."""

from __future__ import annotations

from mechdesign.tables.kinds import Case
from mechdesign.tables.table import Table


def boundary_cases(table: Table, most: int | None = None) -> list[Case]:
    """Cases at both sides of every boundary, each once; if they are more than ``most``, so many, taken evenly.

    *Guarantee.* If none is left out: for every threshold, mean, start and count that a sampler of the table holds, two
    cases lie on its two sides, in a row and at a draw where the smallest change that changes the law shows.

    >>> import math
    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(math.log(3), Finite((0, 1))), bits=16)
    >>> [(case.x, case.draws[0][1]) for case in boundary_cases(table)][:4]
    [(0.0, 0), (0.0, 49151), (0.0, 49152), (0.0, 65535)]
    """
    return table.law.cases(most)


def boundary_count(table: Table) -> int:
    """How many `boundary_cases` there are, none left out."""
    return table.law.case_count
