"""Many searches: here, on processes or on a Dask cluster, kept in a results file from which a stopped run resumes.

A search is a question and a method. Its simulations have fixed seeds, so the answer is the same for any engine and for
a run that was stopped and started again. The file keeps every batch of collections by question; what is in it already
is not simulated again, by whatever method.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs

from mechdesign.engine import Engine, Local
from mechdesign.errors import FileProblem, InvalidInput, NoAnswer
from mechdesign.studies.budgets import certified, searches
from mechdesign.studies.budgets.certified import Bracket
from mechdesign.studies.budgets.ledger import Key, Ledger, Replayable, RunTally, Say, entries_of
from mechdesign.studies.budgets.searches import Range, Selected
from mechdesign.values import files
from mechdesign.values.clock import Clock
from mechdesign.values.declare import OPTION, evolved, field, frozen, one_of, option

if TYPE_CHECKING:
    from mechdesign.studies.budgets.simulation import Question

CERTIFIED = "certified"
SEARCHES: dict[str, Callable[..., Bracket | Selected]] = {CERTIFIED: certified.search, **searches.SEARCHES}
METHODS = tuple(SEARCHES)

PARAMETERS: dict[str, dict[str, Any]] = {
    method: {
        one.name: one.default for one in signature(search).parameters.values() if one.kind is Parameter.KEYWORD_ONLY
    }
    for method, search in SEARCHES.items()
}
"""What each search may be told, with its defaults."""

KIND, VERSION = "mechdesign budget results", 1
_SAVE_SECONDS = 1.0

Found = TypeVar("Found")


def _parameter(name: str, meaning: str, *names: str) -> Any:
    """A parameter of searches, None to leave each its default: who has it and which follows from their signatures."""
    having: dict[float, list[str]] = {}
    for method, told in PARAMETERS.items():
        if name in told:
            having.setdefault(told[name], []).append(method)
    defaults = "; ".join(f"{', '.join(methods)}: {default:g}" for default, methods in having.items())
    return field(default=None, metadata=option(f"--{name.replace('_', '-')}", f"{meaning} [{defaults}].", *names))


@frozen
class Settings:
    """What searches are told of their own parameters, under the names of the paper's.

    >>> Settings(g=3).of("rbs"), Settings(g=3).of("bs")
    ({'g': 3}, {})
    >>> Settings(g=3).require_used(["bs", "dbs"])
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: --g must come with a method that has it: rbs, mpass (got 3); add one to --method
    """

    runs: int | None = _parameter("runs", "N, collections at an eps")
    g: float | None = _parameter("g", "g, how far rbs relaxes and how much finer each pass is")
    c: float | None = _parameter("c", "C, the more collections near the threshold")
    least_runs: int | None = _parameter("least_runs", "N_min, the fewest collections at an eps")
    most_runs: int | None = _parameter("most_runs", "N_max, the most collections at an eps")
    passes: int | None = _parameter("passes", "S, how often to zoom in")
    first_points: int | None = _parameter("first_points", "init_points, random eps at the start", "--init-points")
    rounds: int | None = _parameter("rounds", "iter_num, eps chosen by expected improvement", "--iter-num")
    error: float | None = _parameter("error", "The error rate")

    def of(self, method: str) -> dict[str, Any]:
        """What was said for the parameters that a search has."""
        return {name: value for name, value in self._said().items() if name in PARAMETERS[method]}

    def require_used(
        self, methods: Sequence[str], parameters: Mapping[str, Collection[str]] = MappingProxyType(PARAMETERS)
    ) -> None:
        """Refuse what none of these methods has, given what each one that can be chosen has."""
        for name, value in self._said().items():
            if not any(name in parameters[method] for method in methods):
                having = ", ".join(method for method, told in parameters.items() if name in told)
                called = attrs.fields_dict(cast(Any, Settings))[name].metadata[OPTION].names[0]
                raise InvalidInput(called, value, f"come with a method that has it: {having}", "add one to --method")

    def _said(self) -> dict[str, Any]:
        return {name: value for name, value in attrs.asdict(cast(Any, self)).items() if value is not None}


@frozen
class Task:
    """A question, the method that answers it, and that method's own options."""

    question: Question
    method: str = one_of("method", METHODS, default=CERTIFIED)
    span: Range = field(factory=Range)
    options: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        known = PARAMETERS[self.method]
        for name in self.options:
            if name not in known:
                raise InvalidInput("options", name, f"be among {', '.join(known)} with {self.method}")

    def solve(self, ledger: Ledger, say: Say) -> Bracket | Selected:
        """The answer, or `InvalidInput` (no epsilon meets the constraint) or `NoAnswer` (the limits came first)."""
        return SEARCHES[self.method](ledger, self.span, say, **self.options)


@frozen
class Answer:
    """What a task gave: a result, or why there is none."""

    task: Task
    result: Bracket | Selected | None
    refused: tuple[str, Any, str, str] | None = None
    stopped: tuple[str, float, float] | None = None

    @property
    def epsilon(self) -> float | None:
        return None if self.result is None else self.result.epsilon

    @property
    def reason(self) -> str:
        """Why there is no result, in words."""
        error = self.error()
        return "" if error is None else str(error)

    def error(self) -> InvalidInput | NoAnswer | None:
        if self.refused is not None:
            return InvalidInput(*self.refused)
        return None if self.stopped is None else NoAnswer(*self.stopped)


def answered(task: Task, ledger: Ledger, say: Say = lambda _: None) -> Answer:
    """The answer with errors as values: not every exception survives the way between processes."""
    try:
        return Answer(task, task.solve(ledger, say))
    except InvalidInput as error:
        return Answer(task, None, refused=(error.field, error.value, error.rule, error.next_step))
    except NoAnswer as error:
        return Answer(task, None, stopped=(error.reason, error.lower, error.upper))


def run(
    tasks: Sequence[Task], engine: Engine | None = None, *, results: Path | None = None, say: Say = lambda _: None
) -> list[Answer]:
    """Every task, in the order given; with ``results``, batches are kept there at least every second."""
    if not tasks:
        raise InvalidInput("tasks", "none", "hold at least one question")
    if results is not None:
        _require_named(tasks, results)
    store = Store(results)
    if engine is None or engine == Local(1):
        return store.around(lambda: [_here(task, store, number, len(tasks), say) for number, task in enumerate(tasks)])
    return store.around(lambda: _elsewhere(tasks, engine, store, say))


def _here(task: Task, store: Store, number: int, total: int, say: Say) -> Answer:
    ledger = Ledger(task.question, store.entries_for(task.question), store.keep)
    where = f"search {number + 1} of {total}: " if total > 1 else ""
    return answered(task, ledger, lambda text: say(f"{where}{task.question.name} {task.method}, {text}"))


def _elsewhere(tasks: Sequence[Task], engine: Engine, store: Store, say: Say) -> list[Answer]:
    batches = [(task, store.entries_for(task.question)) for task in tasks]
    done: dict[int, Answer] = {}
    say(f"0 of {len(tasks)} searches")
    answers = engine(_remote, batches)
    try:
        for position, (answer, entries) in answers:
            done[position] = evolved(answer, task=tasks[position])
            store.entries_for(tasks[position].question).update(entries)
            store.keep()
            say(f"{len(done)} of {len(tasks)} searches")
    finally:
        if hasattr(answers, "close"):
            answers.close()
    return [done[position] for position in range(len(tasks))]


def _remote(batch: tuple[Task, dict[Key, RunTally]]) -> tuple[Answer, dict[Key, RunTally]]:
    """What a worker does."""
    task, entries = batch
    ledger = Ledger(task.question, dict(entries))
    return answered(task, ledger), ledger.entries


def _require_named(tasks: Sequence[Task], path: Path) -> None:
    for task in tasks:
        if not isinstance(task.question.protocol, str) or not isinstance(task.question.constraint.metric, str):
            rule = "be left out for protocols and metrics that are functions: a file cannot tell them apart"
            raise InvalidInput("results file", str(path), rule)


class Store:
    """Entries by question, and the file they are kept in, if any."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._until_saved = path, Clock(_SAVE_SECONDS)
        self._entries: dict[str, dict[Key, RunTally]] = {}
        if path is None:
            return
        if os.path.lexists(path):
            self._entries = _read(path)
        else:
            files.require_writable(path)

    def entries_for(self, question: Replayable) -> dict[Key, RunTally]:
        """What is known of the collections of a question; what is added is kept."""
        return self._entries.setdefault(question.digest, {})

    def keep(self) -> None:
        """Save if a second has passed."""
        if self._path is not None and self._until_saved.is_over:
            self._save()

    def around(self, work: Callable[[], Found]) -> Found:
        """The work, and whatever happens the file afterwards."""
        try:
            return work()
        finally:
            if self._path is not None:
                self._save()

    def _save(self) -> None:
        assert self._path is not None
        entries = {digest: Ledger.rows_of(found) for digest, found in self._entries.items()}
        text = json.dumps({"kind": KIND, "version": VERSION, "questions": entries}, allow_nan=False)
        files.write_atomically(self._path, (text + "\n").encode(), overwrite=True)
        self._until_saved = Clock(_SAVE_SECONDS)


def _read(path: Path) -> dict[str, dict[Key, RunTally]]:
    document = files.read_json(path)
    questions = document.get("questions")
    if document.get("kind") != KIND or document.get("version") != VERSION or not isinstance(questions, dict):
        raise FileProblem("results file", str(path), f"be one that budget or capacity wrote, version {VERSION}")
    return {str(digest): entries_of(rows, str(path)) for digest, rows in questions.items()}
