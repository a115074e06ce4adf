"""Section 7.2 of the AAA paper, run again: the errors of estimated means on synthetic data.

Data are drawn anew for each trial and moved to [-1, 1]: a normal clipped at 5 deviations, an exponential clipped at
5, a fair coin. Errors are around the mean of the users. ``mean_absolute_error`` and ``rmse`` are over the trials;
where the exact error of a trial is known, ``expected`` is its root mean square over the trials. With 100 trials an
RMSE is known to 7%, so orderings are read off ``expected``, whose only chance is in the data and the descriptors.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np

from mechdesign.engine import Local
from mechdesign.errors import InvalidInput, require_epsilon, require_one_of, require_whole
from mechdesign.studies.frequencies.mean_methods import NAMES, PAPER, TWO_PHASE, MeanMethod
from mechdesign.studies.frequencies.two_phase import FORMS, SHARE, default_bins
from mechdesign.values import files
from mechdesign.values.codec import encoded
from mechdesign.values.declare import Floats, frozen, one_of, several, whole
from mechdesign.words.domains import Interval

BOUNDS = Interval(-1.0, 1.0)
_CLIP = 5.0

DRAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "gaussian": lambda rng, n: np.clip(rng.standard_normal(n), -_CLIP, _CLIP) / _CLIP,
    "exponential": lambda rng, n: np.minimum(rng.standard_exponential(n), _CLIP) / (_CLIP / 2) - 1,
    "bernoulli": lambda rng, n: np.asarray(2.0 * rng.integers(0, 2, n) - 1, dtype=np.float64),
}
METHODS = (PAPER, TWO_PHASE, "laplace", "staircase", "duchi", "pm", "hm", "sw", "sw-em", "sw-ems")
_EM_BINS = 64  # as in the paper's own experiment


@frozen
class MeanStudy:
    """Which cells to run: every law, number of users and epsilon, each with all methods on the same data."""

    laws: tuple[str, ...] = several("laws", lambda said: require_one_of(said, "laws", DRAWS), default=tuple(DRAWS))
    users: tuple[int, ...] = several(
        "users", lambda said: require_whole(said, "users", 1), default=(10**3, 10**4, 10**5)
    )
    epsilons: tuple[float, ...] = several("epsilons", require_epsilon, default=(0.5, 1.0, 2.0, 4.0))
    methods: tuple[str, ...] = several("methods", lambda said: require_one_of(said, "methods", NAMES), default=METHODS)
    trials: int = whole("trials", 1, default=100)
    share: float = SHARE
    form: str = one_of("form", FORMS, default="additive")
    seed: int = whole("seed", 0, default=0)


@frozen
class StudyRow:
    """One method in one cell."""

    law: str
    users: int
    epsilon: float
    method: str
    trials: int
    mean_absolute_error: float
    rmse: float
    expected: float | None
    coverage: float | None

    @property
    def best_known(self) -> float:
        """The exact error where there is one, else the simulated RMSE."""
        return self.rmse if self.expected is None else self.expected


Cell = tuple[MeanStudy, str, int, float, np.random.SeedSequence]


def run_study(study: MeanStudy, workers: int = 1) -> list[StudyRow]:
    """All rows of the study, the same for any number of worker processes: every cell has a seed of its own.

    >>> rows = run_study(MeanStudy(("bernoulli",), (100,), (2.0,), ("duchi", "pm"), trials=5))
    >>> [row.method for row in rows], rows[0].expected < rows[1].expected
    (['duchi', 'pm'], True)
    """
    engine = Local(workers)
    keys = list(product(study.laws, study.users, study.epsilons))
    for law, users, epsilon in keys:  # what cannot run is refused before anything runs
        for name in study.methods:
            method = _method(name, study, law, users, epsilon)
            if method.is_two_phase:
                method.plan(users)
    seeds = np.random.SeedSequence(study.seed).spawn(len(keys))
    cells: list[Cell] = [(study, *key, seed) for key, seed in zip(keys, seeds, strict=True)]
    found = dict(engine(run_cell, cells))
    return [row for place in range(len(cells)) for row in found[place]]


def run_cell(cell: Cell) -> list[StudyRow]:
    """All methods at one law, number of users and epsilon."""
    study, law, users, epsilon, seed = cell
    methods = [_method(name, study, law, users, epsilon) for name in study.methods]
    errors = np.empty((study.trials, len(methods)))
    squares, covered = np.full_like(errors, math.nan), np.empty_like(errors)
    for trial, (data_seed, *method_seeds) in enumerate(
        child.spawn(len(methods) + 1) for child in seed.spawn(study.trials)
    ):
        data = DRAWS[law](np.random.default_rng(data_seed), users)
        truth = float(data.mean())
        for k, (method, method_seed) in enumerate(zip(methods, method_seeds, strict=True)):
            found = method.collect(data, np.random.default_rng(method_seed))
            errors[trial, k] = found.estimate.value - truth
            covers = found.estimate.covers(truth)
            covered[trial, k] = math.nan if covers is None else covers
            if found.expected is not None:
                squares[trial, k] = found.expected**2
    mean_absolute, rmse = np.abs(errors).mean(axis=0), np.sqrt(np.mean(errors**2, axis=0))
    expected = [None if math.isnan(s) else math.sqrt(s) for s in squares.mean(axis=0).tolist()]
    coverage = [None if math.isnan(share) else share for share in covered.mean(axis=0).tolist()]
    numbers = zip(study.methods, mean_absolute.tolist(), rmse.tolist(), expected, coverage, strict=True)
    return [StudyRow(law, users, epsilon, name, study.trials, *rest) for name, *rest in numbers]


def _method(name: str, study: MeanStudy, law: str, users: int, epsilon: float) -> MeanMethod:
    if name.startswith("sw-"):
        return MeanMethod(name, epsilon, BOUNDS, _EM_BINS)
    bins = 2 if law == "bernoulli" else default_bins(users)
    return MeanMethod(name, epsilon, BOUNDS, bins, study.share, study.form)


@frozen
class Ordering:
    """Whether the paper's ordering, AAA first, holds in one cell: its error over that of the best other method."""

    law: str
    users: int
    epsilon: float
    rival: str
    ratio: float

    @property
    def holds(self) -> bool:
        return self.ratio < 1


def verdicts(rows: Iterable[StudyRow], method: str = PAPER, rivals: Iterable[str] | None = None) -> list[Ordering]:
    """``error of the method / least error of the rivals`` in each cell; rivals are all but the two-phase protocols.

    >>> rows = run_study(MeanStudy(("bernoulli",), (100,), (2.0,), ("duchi", "pm"), trials=5))
    >>> [(verdict.rival, verdict.holds) for verdict in verdicts(rows, "pm")]
    [('duchi', False)]
    """
    cells: dict[tuple[str, int, float], dict[str, StudyRow]] = {}
    for row in rows:
        cells.setdefault((row.law, row.users, row.epsilon), {})[row.method] = row
    allowed = None if rivals is None else set(rivals)
    found = []
    for key, cell in cells.items():
        others = [
            row
            for name, row in cell.items()
            if name not in (method, PAPER, TWO_PHASE) and (allowed is None or name in allowed)
        ]
        if method not in cell or not others:
            raise InvalidInput("rows", key, f"hold {method} and a rival in every cell")
        best = min(others, key=lambda row: row.best_known)
        found.append(Ordering(*key, best.method, cell[method].best_known / best.best_known))
    return found


def save_rows(rows: Iterable[StudyRow], path: Path | str, *, overwrite: bool = False) -> Path:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in attrs.fields(cast(Any, StudyRow))])
    writer.writerows(["" if value is None else value for value in encoded(row).values()] for row in rows)
    return files.write_atomically(path, text.getvalue().encode(), overwrite=overwrite)
