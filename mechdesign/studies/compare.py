"""Published mechanisms, and your own, compared: errors over epsilon, and how far above the certified optimum."""

from __future__ import annotations

import csv
import io
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from mechdesign.data.texts import epsilons, parts
from mechdesign.errors import InvalidInput
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import encoded, left_out
from mechdesign.values.declare import asked, field, frozen, option
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.values.rules import left_out_with, require_rules
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Grid, number
from mechdesign.words.domains import Circle, Finite, Interval, parse_domain
from mechdesign.words.losses import NAMED, SPELLINGS, parse_loss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.field import Field, Row
    from mechdesign.methods.floor import Floor
    from mechdesign.studies.compared import Matrix, Numbers
    from mechdesign.studies.own import Own

_VISIBLE = 5e-4
_RULES = (left_out_with("loss_matrix", "loss", why="drop one of the two"),)


def _names(said: Any) -> tuple[str, ...]:
    return tuple(str(name).strip() for name in parts(said))


def mechanism_names() -> Iterable[str]:
    """The mechanisms of the catalogue."""
    from mechdesign.mechanisms import catalogue

    return [*(line.key for line in catalogue.ON_INTERVALS), *(line.key for line in catalogue.ON_CIRCLES)]


@frozen
class CompareStudy:
    """Mechanisms of the catalogue and of one's own files, at each epsilon beside the certified optimum.

    >>> found = CompareStudy(2.0, mechanisms="ogpm,laplace").answer()
    >>> [(cell.name, round(cell.above_optimum, 1)) for cell in found.cells if cell.name == "optimal piecewise"]
    [('optimal piecewise', 33.9)]
    """

    eps: tuple[float, ...] | None = asked(
        "--eps", "One epsilon, a list A,B,C or FROM:TO:COUNT; else what your own file spends.", read=epsilons()
    )
    loss: str | None = asked("--loss", f"{SPELLINGS} [absolute].", words=lambda: NAMED)
    domain: str | None = asked("--domain", "Inputs, as LO,HI.", metavar="LO,HI")
    circular: bool = field(
        default=False,
        metadata=option("--circular", "The domain is a circle (0,2pi unless --domain 0,PERIOD)."),
    )
    mechanisms: tuple[str, ...] | None = asked(
        "--mechanisms",
        "Names from the catalogue (all unless given); saved designs and tables, as pm,sw,own.json.",
        read=_names,
        words=mechanism_names,
        metavar="A,B,...",
    )
    channel: Path | None = asked(
        "--channel", "Your own matrix of probabilities, rows = inputs: .csv or .npy.", read=Path
    )
    loss_matrix: Path | None = asked("--loss-matrix", "What each output (column) costs at each input (row).", read=Path)

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)

    @property
    def doing(self) -> str:
        return "comparing mechanisms"

    @property
    def reads(self) -> Sequence[Path | str]:
        from mechdesign.studies.own import is_file

        named = [name for name in self.mechanisms or () if is_file(name)]
        return [*named, *(path for path in (self.channel, self.loss_matrix) if path is not None)]

    @property
    def keeps(self) -> Sequence[Path]:
        return ()

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Compared:
        """Every mechanism at every epsilon."""
        from mechdesign.studies.own import is_file, read_channel, read_files, require_different

        names = self.mechanisms or ()
        files = read_files([name for name in names if is_file(name)])
        mine = (*files, *(() if self.channel is None else (read_channel(self.channel),)))
        require_different(mine)
        at = self._epsilons(mine)
        about = self._about(mine, [name.lower() for name in names if not is_file(name)] or None)
        for one in mine:
            one.require(at)
        floors, fields = [], []
        for epsilon in at:
            say(f"certified optimum at eps = {epsilon:g}")
            floor, found = about.at(epsilon)
            floors.append(floor)
            fields.append(found)
            for name, reason in found.left_out.items():
                warn(f"{name} is left out at eps = {epsilon:g}: {reason}")
        cells = [cell for epsilon, found in zip(at, fields, strict=True) for cell in _cells(epsilon, found)]
        said = AskedFor(tuple(at), about.loss_name, str(about.inputs))
        rows = tuple(encoded(At(epsilon)) | encoded(floor) for epsilon, floor in zip(at, floors, strict=True))
        return Compared(said, tuple(cells), rows, about, tuple(fields), tuple(floors), mine)

    def _epsilons(self, mine: Sequence[Own]) -> Sequence[float]:
        if self.eps is not None:
            return self.eps
        if not mine:
            raise InvalidInput("--eps", None, "be given where no file of your own says it", "for example --eps 1")
        return [max(one.spends for one in mine)]

    def _about(self, mine: tuple[Own, ...], names: list[str] | None) -> Matrix | Numbers:
        from mechdesign.studies.compared import Numbers, matrix_of, names_for

        loss = "absolute" if self.loss is None else self.loss
        if self.loss_matrix is not None or any(isinstance(one.mechanism.inputs, Finite) for one in mine):
            given = [f"--{name}" for name in ("domain", "circular") if getattr(self, name)]
            if given:
                step = "the file says what the inputs are"
                raise InvalidInput("options", ", ".join(given), "be left out", step)
            return matrix_of(mine, names, parse_loss(loss), self.loss_matrix)
        inputs = self._inputs(mine)
        cost = parse_loss(loss, inputs.period if isinstance(inputs, Circle) else None)
        return Numbers(inputs, cost, names_for(names, inputs), mine)

    def _inputs(self, mine: Sequence[Own]) -> Interval | Circle:
        """The domain that is asked for, or else that of the files."""
        is_asked = self.domain is not None or self.circular
        inputs = parse_domain(self.domain, circular=self.circular) if is_asked or not mine else mine[0].mechanism.inputs
        for one in mine:
            if one.mechanism.inputs != inputs:
                step = "drop --domain and --circular" if is_asked else "compare files of one domain"
                raise InvalidInput(f"inputs of {one.name}", str(one.mechanism.inputs), f"be {inputs}", step)
        return inputs


def _cells(epsilon: float, field: Field) -> list[Cell]:
    """A row for every mechanism whose errors doubles can resolve, in the order of the catalogue."""
    from mechdesign.field import Rank, above_nothing

    return [
        Cell(
            epsilon,
            name,
            row.by(Rank.WORST),
            row.by(Rank.AVERAGE),
            above_nothing(row).above_optimum,
            _loss_of(field, name),
        )
        for name, row in _in_order(field).items()
    ]


def _in_order(field: Field) -> dict[str, Row]:
    """The rows by name, in the order in which the mechanisms were named."""
    rows = {row.name: row for row in field.rows}
    named = {name: rows[name] for name in field.mechanisms if name in rows}
    return named | rows


def _loss_of(field: Field, name: str) -> float:
    """What a mechanism gives away; an answer that is always the same gives nothing."""
    mechanism = field.mechanisms.get(name)
    return 0.0 if mechanism is None else mechanism.privacy_loss()


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class AskedFor:
    """What was asked."""

    epsilons: tuple[float, ...]
    loss: str
    inputs: str


@frozen
class Cell:
    """One mechanism at one epsilon: errors at the worst input and over all, and what it gives away."""

    eps: float
    name: str
    worst: float
    average: float
    above_optimum: float | None
    privacy_loss: float


@frozen
class At:
    """Where a floor is: the interval on the least worst case of any mechanism at one epsilon."""

    eps: float


def _floors() -> dict[str, Any]:
    def shape(schemas: Any) -> dict[str, Any]:
        from mechdesign.methods.floor import Floor

        return {"type": "array", "items": schemas.merged(At, Floor)}

    return shaped(shape)


@frozen
class Compared(Answer):
    """Mechanisms by epsilon, and the floor below them."""

    problem: AskedFor
    cells: tuple[Cell, ...]
    floor: tuple[Mapping[str, Any], ...] = field(metadata=_floors())
    about: Any = field(metadata=left_out())
    fields: tuple[Any, ...] = field(metadata=left_out())
    floors: tuple[Any, ...] = field(metadata=left_out())
    mine: tuple[Any, ...] = field(metadata=left_out())

    @property
    def rows(self) -> Sequence[Cell]:
        return self.cells

    def csv(self) -> str:
        """A row for every mechanism and epsilon, the ends of the optimum beside each."""
        optimum = {row["eps"]: (row["lower"], row["upper"]) for row in self.floor}
        rows = [encoded(cell) for cell in self.cells]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*rows[0], "optimum_lower", "optimum_upper"])
        writer.writerows([*row.values(), *optimum[row["eps"]]] for row in rows)
        return text.getvalue()

    def plot(self) -> Figure:
        """Worst cases over epsilon, with those of the inputs at the middle one."""
        from mechdesign import plot
        from mechdesign.studies.compared import Matrix

        at, about = list(self.problem.epsilons), self.about
        lines = {name: [cell.worst for cell in self.cells if cell.name == name] for name in _in_order(self.fields[0])}
        worst = {name: line for name, line in lines.items() if len(line) == len(at)}
        bounds = [(floor.lower, floor.upper) for floor in self.floors]
        if isinstance(about, Matrix):
            return plot.worst_cases(at, worst, f"worst-case {about.measure}", bounds)
        middle = len(at) // 2
        return plot.comparison(at, worst, self.fields[middle].mechanisms, about.loss, at[middle], bounds)

    def shown(self) -> Iterator[Grid | str]:
        if len(self.floors) == 1:
            yield from self._leaderboard()
        else:
            for criterion in ("worst", "above_optimum", "average"):
                yield from self._over_epsilon(criterion)
                yield ""
        for one in self.mine:
            yield f"  {one.name}: privacy loss {one.ratio.loss!r}, computed exactly"

    def _leaderboard(self) -> Iterator[Grid | str]:
        (floor,), (epsilon,) = self.floors, self.problem.epsilons
        rows = [("certified optimum", _floor_text(floor), "", "")]
        for cell in sorted(self.cells, key=lambda cell: (cell.worst, cell.average)):
            rows.append((cell.name, number(cell.worst), _above(cell.above_optimum, floor), number(cell.average)))
        title = f"Expected {self.about.measure} over the inputs, eps = {epsilon:g}"
        yield Grid(title, ("mechanism", "worst case", "above optimum", "average"), tuple(rows))
        yield _note([floor])

    def _over_epsilon(self, criterion: str) -> Iterator[Grid | str]:
        at, floors, measure = self.problem.epsilons, self.floors, self.about.measure
        count = min(len(at), max(2, (get_terminal_size((120, 24)).columns - 22) // 12))
        chosen = [round(k * (len(at) - 1) / max(count - 1, 1)) for k in range(count)]
        names = list(dict.fromkeys(cell.name for cell in self.cells))
        value = {(cell.name, cell.eps): getattr(cell, criterion) for cell in self.cells}
        names.sort(key=lambda name: value.get((name, at[chosen[-1]]), math.inf))

        def text(name: str, k: int) -> str:
            found = value.get((name, at[k]))
            if criterion == "above_optimum":
                return _above(found, floors[k])
            return "-" if found is None else number(found)

        rows = [(name, *(text(name, k) for k in chosen)) for name in names]
        if criterion == "worst":
            rows.insert(0, ("certified optimum", *(_floor_text(floors[k]) for k in chosen)))
        title = {
            "worst": f"Worst case over the inputs, {measure}",
            "average": f"Average over the inputs, {measure}",
            "above_optimum": f"Above the certified optimum: worst case, {measure}",
        }[criterion]
        yield Grid(title, ("mechanism", *(f"eps={at[k]:.3g}" for k in chosen)), tuple(rows))
        if criterion == "above_optimum":
            yield _note(floors)


def _is_wide(floor: Floor) -> bool:
    return floor.upper - floor.lower > _VISIBLE * floor.upper


def _floor_text(floor: Floor) -> str:
    """The certified optimum as one number, or as an interval where its width can be seen."""
    if _is_wide(floor):
        return f"[{rounded_down(floor.lower, 3)}, {rounded_up(floor.upper, 3)}]"
    return number(floor.upper)


def _note(floors: Sequence[Floor]) -> str:
    from mechdesign.studies.compared import BY_PROGRAM

    if any(_is_wide(floor) for floor in floors):
        text = "The optimum is known to lie in the interval; mechanisms are compared with its upper end."
    elif not any(floor.upper for floor in floors):
        text = "Nothing has to be lost: the best single output makes no error, whatever the input."
    elif all(floor.bound == "rotation averaging" for floor in floors):
        text = "The optimum is over all mechanisms: on the circle the optimal piecewise mechanism is globally optimal."
    else:
        gap = max((floor.upper - floor.lower) / floor.upper for floor in floors if floor.upper > 0)
        basis = "claimed" if floors[0].claimed else "proven"
        which = " with these inputs and outputs, " if floors[0].bound == BY_PROGRAM else ", "
        text = f"The optimum is over all mechanisms{which}{basis} to within {gap:.1e} of itself."
    return f"  {text}"


def _above(percent: float | None, floor: Floor) -> str:
    """Per cent above the optimum; "at least", where the optimum is only known within a wide interval."""
    if percent is None:
        return "-"
    from mechdesign.plot.errors import above

    is_wide = _is_wide(floor)
    return f"{'≥ ' * is_wide}{above(1 + percent / 100, 1.0, at_least=is_wide)}"


ANSWERS = ((Compared,),)
