"""Protocols, post-processings and metrics of one's own: plain functions, every answer of which is checked.

They are called by names ``module:name``, which no name of this package has. What a function is for, the place says
where it is named: a protocol, a method or a metric.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import pickle
import random
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, shows_values
from mechdesign.studies.frequencies import metrics
from mechdesign.studies.frequencies.metrics import OWN_NAME, Metric
from mechdesign.values.declare import Counts, Floats, evolved, frozen
from mechdesign.words.domains import require_numbers

MOST_USERS = 10**7
"""Users of one collection by a protocol of one's own: each has a report, and all reports are held at once."""

_PACKAGE = Path(__file__).resolve().parents[2]
_MOST = 1e100  # of what a function gives, so that sums of squares stay doubles
_SHARES = 2.0  # estimated counts of a hundred users and more are hardly all below this
_FEW = 100


def is_own(name: str) -> bool:
    """Whether a name is one of one's own: ``module:name``.

    >>> is_own("mine:worst"), is_own("top:5"), is_own("l1")
    (True, False, False)
    """
    return OWN_NAME.fullmatch(name) is not None


@frozen
class OwnProtocol:
    """A protocol as two functions, as LDP3 has it: what a device does, and what the server makes of the reports.

    ``perturb(value, epsilon, size)`` is the report of a user of item ``value``, a number from 0 to size - 1.
    ``aggregate(reports, epsilon, size)`` gives the estimated *number of users* of each item from the list of all
    reports; ``estimate`` in its place gives estimated shares. A function with a parameter ``rng`` gets a numpy
    Generator; for the others the generators of `random` and `numpy.random` are set anew in every run.

    *No guarantee.* That ``perturb`` is private is the word of who wrote it: nothing looks at it.

    >>> law = OwnProtocol(lambda value, epsilon, size: value, lambda reports, epsilon, size: np.bincount(reports))
    >>> law.shares("no:privacy", np.array([30, 10]), 1.0, np.random.default_rng(1)).tolist()
    [0.75, 0.25]
    """

    perturb: Callable[..., Any]
    aggregate: Callable[..., ArrayLike] | None = None
    estimate: Callable[..., ArrayLike] | None = None

    def __attrs_post_init__(self) -> None:
        if not callable(self.perturb):
            raise InvalidInput("perturb", self.perturb, "be a function of (value, epsilon, size)")
        if (self.aggregate is None) == (self.estimate is None) or not callable(self.server):
            rule = "be given as one function: aggregate, which gives counts, or estimate, which gives shares"
            raise InvalidInput("server", (self.aggregate, self.estimate), rule)

    @classmethod
    def of(cls, said: Any, name: str) -> OwnProtocol:
        """What was said: two functions, or anything that has them (a module, a class, an object)."""
        if isinstance(said, cls):
            return said
        if isinstance(said, tuple | list) and len(said) == 2:
            return cls(*said)
        if not hasattr(said, "perturb"):
            rule = "be two functions, or have them: perturb, and aggregate or estimate"
            raise InvalidInput(name, type(said).__name__, rule)
        return cls(said.perturb, getattr(said, "aggregate", None), getattr(said, "estimate", None))

    @property
    def server(self) -> Callable[..., ArrayLike] | None:
        """The function that is run on all reports."""
        return self.estimate if self.aggregate is None else self.aggregate

    def shares(self, name: str, counts: Counts, epsilon: float, rng: np.random.Generator) -> Floats:
        """Estimated shares from one collection: a report of each user, in an order drawn at random."""
        users = int(counts.sum())
        if users > MOST_USERS:
            step = "draw fewer of them: it is run once a user"
            raise InvalidInput("users", users, f"be at most {MOST_USERS} for {name}", step)
        values = rng.permutation(np.repeat(np.arange(counts.size), counts)).tolist()
        size = int(counts.size)
        with global_randomness(rng):
            device = _with_generator(self.perturb, rng)
            reports = _run(name, "perturb", lambda: [device(value, epsilon, size) for value in values])
            server = self.server
            assert server is not None
            said = _run(
                name,
                "aggregate" if self.estimate is None else "estimate",
                partial(_with_generator(server, rng), reports, epsilon, size),
            )
        found = _numbers(said, size, f"what {name} gives for {size} items")
        return found if self.aggregate is None else _as_shares(found, users, name)


def _as_shares(counts: Floats, users: int, name: str) -> Floats:
    if users >= _FEW and np.abs(counts).max() <= _SHARES and abs(float(counts.sum())) < users / 2:
        rule = f"give numbers of users, of {users} in all, as aggregate: these are shares"
        raise InvalidInput(name, "numbers below 2", rule, "multiply by the number of reports, or call it estimate")
    return counts / users


def post_processed(function: Callable[..., ArrayLike], name: str, estimate: Floats, rng: np.random.Generator) -> Floats:
    """What a post-processing of one's own makes of an estimate, as many finite numbers again."""
    with global_randomness(rng):
        said = _run(name, name, lambda: function(estimate.copy()))
    return _numbers(said, estimate.size, f"what {name} gives for {estimate.size} frequencies")


def own_metric(function: Callable[..., Any], name: str) -> Metric:
    """A function of (truth, estimate) as a metric: less is better.

    >>> own_metric(lambda f, g: max(abs(f - g)), "mine:worst").measure([0.5, 0.5], [0.25, 0.75])
    0.25
    """
    return evolved(metrics.metric(name), measure=partial(_measured, function, name))


def _measured(function: Callable[..., Any], name: str, truth: ArrayLike, estimate: ArrayLike) -> float:
    f, g = (np.array(require_numbers(side, name), dtype=np.float64) for side in (truth, estimate))
    said = _run(name, name, lambda: function(f, g))
    return float(_numbers(np.atleast_1d(np.asarray(said)), 1, f"what {name} gives")[0])


@contextlib.contextmanager
def global_randomness(rng: np.random.Generator) -> Iterator[None]:
    """In here `random` and `numpy.random` draw what follows from the generator; afterwards they go on as before."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    seed = int(rng.integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def _with_generator(function: Callable[..., Any], rng: np.random.Generator) -> Callable[..., Any]:
    try:
        takes = "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code, which says nothing of its parameters
        takes = False
    return partial(function, rng=rng) if takes else function


def _run(name: str, part: str, work: Callable[[], Any]) -> Any:
    """What the function gives; an error of its own is told by kind and line, as its words may quote data.

    What it prints goes to stderr: an answer stands alone on stdout. A request to end is an error as well.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return work()
    except (Exception, SystemExit) as error:
        failure = InvalidInput(name, told(error), f"run without an error ({part})", "call it by itself to see more")
    raise failure


def told(error: BaseException) -> str:
    """The kind of an error of somebody's code and the line it came from, with its words only where values are shown."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (None, None)
    if isinstance(error, SyntaxError):
        file, line = error.filename, error.lineno
    place = f" in line {line} of {Path(file).name}" if file else ""
    words = f": {error}" if shows_values() else ""
    return f"{type(error).__name__}{place}{words}"


def _is_ours(file: str) -> bool:
    """The package's line that makes a call with the wrong number of arguments tells nobody anything."""
    return Path(file).is_relative_to(_PACKAGE)


def _numbers(said: Any, size: int, what: str) -> Floats:
    try:
        if np.iscomplexobj(said):
            raise TypeError
        found = np.array(said, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(what, type(said).__name__, f"be {size} numbers") from None
    if found.shape != (size,):
        raise InvalidInput(what, f"an array of shape {found.shape}", f"be {size} number{'s' * (size > 1)}")
    if not (np.abs(found) <= _MOST).all():  # nor is NaN
        raise InvalidInput(what, "others", f"be finite, at most {_MOST:g}")
    return found


# -- results that are kept, and workers --------------------------------------------------------------------------------


def digests(own: Mapping[str, Any]) -> dict[str, str]:
    """Of the files that the functions stand in: kept results go on with the same code only."""
    return {name: _digest(name, said) for name, said in own.items()}


def _digest(name: str, said: Any) -> str:
    functions: tuple[Any, ...] = (said.perturb, said.server) if isinstance(said, OwnProtocol) else (said,)
    sources = hashlib.sha256()
    for function in functions:
        try:
            sources.update(Path(inspect.getfile(inspect.unwrap(function))).read_bytes())
        except (OSError, TypeError):
            rule = "stand in a file, so that kept results can be told from those of other code"
            raise InvalidInput(name, "a function without one", rule, "leave out the results file") from None
    return sources.hexdigest()


def require_sendable(own: Mapping[str, Any]) -> None:
    """`InvalidInput` unless worker processes can be given these functions."""
    for name, said in own.items():
        try:
            pickle.dumps(said)
        except Exception:
            rule = "be importable by worker processes: defined at the top of a module"
            raise InvalidInput(name, "a function that is not", rule, "or take one worker") from None
