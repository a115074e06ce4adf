"""A column of answers collected by joint randomised response: simulated, beside independent answers (section 4.6)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.joint.grouping import Grouping
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.studies.frequencies.joint import JointErrors, simulate_errors, whole_groups
from mechdesign.studies.users import read_users
from mechdesign.values.answers import Answer, Say
from mechdesign.values.declare import Counts, asked, frozen
from mechdesign.values.rules import comes_with, require_rules
from mechdesign.values.tables import Column as Shown, Grid, number, table_of

RUNS, MOST_RUNS = 1000, 1_000_000
PERCENTS = (50, 80, 95)
_RULES = (comes_with("column", "value", "runs", "seed", data=(), step="add --data FILE"),)


@frozen
class Column:
    """The options about a column of answers; the others come with --data."""

    data: Path | None = asked(
        "--data", "Answers, one user a row: collected, simulated.", "-d", read=Path, metavar="FILE"
    )
    column: str | None = asked("--column", "The column with the answers, by its header.")
    value: str | None = asked("--value", "The answer counted (of two: the rarer).")
    runs: int | None = asked("--runs", f"Collections simulated [{RUNS}].")
    seed: int | None = asked("--seed", "The same seed gives the same numbers [0].")

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)

    def read(self, warn: Say = warnings.warn) -> Answers | None:
        """The answers, or None if there is no file."""
        if self.data is not None:
            return Answers.of(read_users(self.data, self.column, None, warn), self.value)
        return None


@frozen
class Answers:
    """How many users gave the answer that is counted, and each other one."""

    value: str
    others: tuple[str, ...]
    counts: Counts

    @classmethod
    def of(cls, data: Dataset, value: str | None) -> Answers:
        if len(data.labels) < 2:
            raise InvalidInput("data", f"{len(data.labels)} answer", "hold at least two different answers")
        if value is None and len(data.labels) > 2:
            raise InvalidInput("value", None, f"say which of the {len(data.labels)} answers is counted", "add --value")
        place = int(np.argmin(data.counts)) if value is None else _place(data, value)
        order = [place, *(k for k in range(len(data.labels)) if k != place)]
        return cls(data.labels[place], tuple(data.labels[k] for k in order[1:]), data.counts[order])

    def grouped(self, group: int, seed: int) -> Answers:
        """Those of whole groups: who is left over is left out, at random."""
        rng = np.random.default_rng(np.random.SeedSequence(require_whole(seed, "seed", 0), spawn_key=(0,)))
        return Answers(self.value, self.others, whole_groups(self.counts, group, rng))

    @property
    def users(self) -> int:
        return int(self.counts.sum())


def _place(data: Dataset, value: str) -> int:
    if value not in data.labels:
        raise InvalidInput("value", value, "be one of the answers in the data")
    return data.labels.index(value)


@frozen
class Errors:
    """The exact variance of the count, and what repeated collections showed: equations 4.1 and 4.2, percentiles."""

    variance: float
    mse: float
    are: float
    are_percentiles: Mapping[str, float]

    @classmethod
    def of(cls, law: JointResponse, answers: Answers, seen: JointErrors) -> Errors:
        at = dict(zip(map(str, PERCENTS), seen.percentiles(PERCENTS).tolist(), strict=True))
        return cls(float(law.variance(answers.users, int(answers.counts[0]))), seen.mse, seen.are, at)


def _below(percent: int) -> Shown:
    return Shown(f"{percent}% below", lambda row: number(row[1].are_percentiles[str(percent)]))


_COLUMNS = (
    Shown("answers", lambda row: row[0]),
    Shown("variance", lambda row: number(row[1].variance)),
    Shown("MSE", lambda row: number(row[1].mse)),
    Shown("ARE", lambda row: number(row[1].are)),
    *map(_below, PERCENTS),
)


@frozen
class Collected(Answer):
    """Simulated collections of a column; ``estimate`` is that of the first."""

    value: str
    users: int
    left_out: int
    count: int
    estimate: float
    runs: int
    joint: Errors
    independent: Errors

    @property
    def rows(self) -> Sequence[Errors]:
        return self.joint, self.independent

    def shown(self) -> Iterator[Grid | str]:
        """The errors of both, side by side."""
        left = f", {self.left_out} left out at random: groups are whole" if self.left_out else ""
        who = f"{self.count:,} of {self.users:,} users answer {self.value!r}{left}"
        entries = (("joint", self.joint), ("independent", self.independent))
        yield ""
        yield table_of(f"Collected {self.runs:,} times (simulated): {who}", _COLUMNS, entries)
        yield (
            f"  First collection: {number(self.estimate)}. Variance: of the count of {self.value!r}, exactly. MSE and "
            "ARE: squared and relative errors of a count, averaged over all answers, and what ARE is below in so many "
            "of 100 collections."
        )


def collect(column: Column, everyone: Answers, answers: Answers, problem: Grouping, law: JointResponse) -> Collected:
    """The answers under the design and under independent answers of the same epsilon."""
    runs = require_whole(RUNS if column.runs is None else column.runs, "runs", 1, MOST_RUNS)
    if not answers.counts.all():
        raise InvalidInput("data", f"{everyone.users} users", "hold every answer often enough to be grouped")
    laws = law, independent(problem)
    rngs = [np.random.default_rng(np.random.SeedSequence(column.seed or 0, spawn_key=(number,))) for number in (1, 2)]
    seen = [simulate_errors(one, answers.counts, runs, rng) for one, rng in zip(laws, rngs, strict=True)]
    joint, alone = (Errors.of(one, answers, errors) for one, errors in zip(laws, seen, strict=True))
    left, count = everyone.users - answers.users, int(answers.counts[0])
    first = float(seen[0].estimates[0, 0])
    return Collected(answers.value, answers.users, left, count, first, runs, joint, alone)


def independent(problem: Grouping) -> JointResponse:
    """Randomised response at the same epsilon, which is private against any number of colluders."""
    ratio: Fraction = exp_lower(problem.epsilon)
    return JointResponse.independent(ratio / (ratio + problem.categories - 1), problem.group, problem.categories)
