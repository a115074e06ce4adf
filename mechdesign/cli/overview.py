"""What there is: every command with its one line, in the groups that the bare command and ``--help`` show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup

Row = tuple[tuple[str, str], ...]
"""Commands that share a line of the overview, each with what it does."""

GROUPS: tuple[tuple[str, tuple[Row, ...]], ...] = (
    (
        "ask",
        (
            (
                (
                    "advise",
                    "which mechanism for what you want: computed, with its error and three commands to go on with",
                ),
            ),
            (("glossary", "what any name in an output means"), ("examples", "small made data to try commands with")),
        ),
    ),
    (
        "design",
        (
            (("ogpm", "the optimal piecewise mechanism: line, circle or polar, any power loss"),),
            (("minimax", "the certified optimum over all mechanisms: worst case, prior, unbiased, any loss matrix"),),
            (("aaa", "unbiased noise for means, optimal under a prior: on a grid, and with free reports"),),
            (
                ("workload", "linear queries: a distribution function, ranges"),
                ("information", "one parameter of a model"),
            ),
            (
                ("jrr", "joint randomised response"),
                ("metric", "privacy per pair: places"),
                ("solve", "any problem, from JSON"),
            ),
        ),
    ),
    (
        "study",
        (
            (("compare", "published mechanisms, and your own, over epsilon: how far above the certified optimum"),),
            (
                ("show", "a saved design checked again"),
                ("plot", "the picture of any file"),
                ("schema", "what a command's --json holds"),
            ),
            (
                (
                    "gallery",
                    "theorems and claims, one at a time: our number beside a reference of its own, and a picture",
                ),
            ),
            (
                ("reproduce", "the papers' numbers beside ours, as a page too"),
                ("constants", "certified constants, proven anew"),
            ),
        ),
    ),
    (
        "simulate",
        (
            (("bench", "protocols and post-processings compared on your data, ranked with confidence intervals"),),
            (
                ("mean", "a mean"),
                ("vector", "several"),
                ("record", "with categories"),
                ("protocols", "frequency protocols"),
                ("gain", "what IBU gains"),
            ),
            (("trajectory", "paths of locations: perturb a file, compare mechanisms over eps, tables for release"),),
        ),
    ),
    (
        "choose",
        (
            (("budget", "the smallest eps for a utility constraint: certified, or by five searches of Optimus"),),
            (
                (
                    "capacity",
                    "right capacity alarms (CAPRI): the smallest eps, or the chances at one; exact, or simulated",
                ),
            ),
            (
                (
                    "classifier",
                    "how often a classifier keeps its labels under perturbed inputs: theory, exact, simulated",
                ),
            ),
        ),
    ),
    (
        "ship",
        (
            (
                ("table", "a design in whole numbers, private"),
                ("verify", "a file checked exactly, or by Coq"),
                ("sign", "a file signed"),
            ),
            (
                ("export", "a table as a sampler or package"),
                ("apply", "a column into reports"),
                ("collection", "several questions as one"),
            ),
            (
                ("collect-reports", "envelopes taken in"),
                ("estimate", "what tables' reports say"),
                ("estimate-counts", "protocols' reports"),
            ),
        ),
    ),
)

NAMES = tuple(name for _, rows in GROUPS for row in rows for name, _ in row)
"""Every command."""

_START = "python -m mechdesign"
_TITLE = "mechdesign - local differential privacy mechanisms by optimisation, with proofs"
_TRY = "examples, which writes small made data; minimax --eps 2 --loss absolute; COMMAND --help"


def overview() -> str:
    """One screen: a line for one command, or for a few that belong together."""
    lines = [_TITLE, ""]
    for group, rows in GROUPS:
        for number, row in enumerate(rows):
            names, words = ", ".join(name for name, _ in row), "; ".join(what for _, what in row)
            wide = f"{names:<11}" if len(row) == 1 else f"{names}   "
            lines.append(f"  {'' if number else group:<8} {wide}{words}")
    return "\n".join([*lines, "", f"Try:  {_START} {_TRY}", ""])


def shown_example(lines: str) -> str:
    """An example as help pages show it, not wrapped, so that it can be pasted.

    >>> print(shown_example("ogpm --eps 2"))
    \b
    Example:
      python -m mechdesign ogpm --eps 2
    """
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in pasted(lines))])


def pasted(lines: str) -> Iterator[str]:
    """An example's lines as a shell takes them: of each our command's words are given, other programs' after ``$``."""
    for line in lines.splitlines():
        yield line.removeprefix("$ ") if line.startswith("$ ") else f"{_START} {line}"


class Grouped(TyperGroup):
    """A group of commands whose help lists them in the groups of the overview."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(NAMES)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        for group, rows in GROUPS:
            with formatter.section(group):
                formatter.write_dl([told for row in rows for told in row])
