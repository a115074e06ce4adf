"""A mechanism rounded to whole numbers, exactly private and ready to ship.

It comes from a saved design (FILE); or with --eps it is the certified optimum for --loss, a published mechanism
(on whole numbers --mechanism grr or geometric with --domain LO..HI; grr is randomised response and takes categories,
--size K or --labels A,B,...), a frequency protocol for up to 65536 categories (--protocol oue --size K: a few numbers,
whose reports are bytes), or a channel of your own (--channel FILE, a row of probabilities for each input; apply and
estimate know its labels). For whole numbers LO..HI without --loss it is the unbiased optimum: means come out right.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.options import parse_inputs
from mechdesign.cli.sent import Sent, kept
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.data.matrices import read_matrix
from mechdesign.data.texts import LABELS, labels_of_line
from mechdesign.errors import FileProblem, InvalidInput, did_you_mean, require_epsilon
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms import catalogue
from mechdesign.methods.method import Demands
from mechdesign.methods.minimax.proof import MinimaxBound
from mechdesign.methods.result import Design, gap_asked
from mechdesign.methods.saved import load_design
from mechdesign.methods.words import power_of
from mechdesign.studies.frequencies.shipping import BUCKETS, FUNCTIONS, SHIPPED, protocol_table
from mechdesign.studies.own import numbers_of
from mechdesign.tables.checker import MOST_ITEMS
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.labels import CODES_LOOK_LIKE_LABELS, Labels, require_labels
from mechdesign.tables.making import NOISE, Source, make_table, repaired
from mechdesign.tables.table import Chances, MeanEstimator, Repair, Table
from mechdesign.values import files
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_up
from mechdesign.values.rules import comes_with, exactly_one, left_out_with
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Squared, parse_loss
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_BIT_CHOICES = "Probabilities are multiples of 2^-BITS: 16, 32, 53 or 62."
_GRR = "grr"
_RESPONSE = "randomised response"
_MOST_POINTS = 1024  # of a table for categories: a million counts, which are about 20 MB at most
_MOST_COUNTS = 1 << 20
_MUCH_MIXED = 0.01
_LARGE, _WIDE_GAP = 1 << 18, 0.01
_MANY_REPORTS = 10**6  # a bias below the noise of their mean is no matter


@frozen
class Answer:
    """A table: what it gives away, how long it is, how reports are read, and where it is."""

    kind: str
    name: str
    epsilon: float
    bits: int
    privacy_loss: float
    outputs: int | None
    input_labels: tuple[str, ...] | None
    output_labels: tuple[str, ...] | None
    estimator: MeanEstimator | None
    chances: Chances | None
    report_bytes: int | None
    repair: Repair | None
    error: float | None
    lower: float | None
    sha256: str
    file: str | None


ANSWERS = ((Answer,),)
EXAMPLE = "table --eps 1 --mechanism pm --domain 0,250000 --out salary.json"
_LISTED = ("size", "labels", "labels_file")
_DESIGNED = ("loss", "inputs", "mechanism", "gap")
_SAID = (*_DESIGNED, *_LISTED, "channel", "protocol")
RULES = (
    left_out_with("file", *_SAID, why="the design says it"),
    comes_with(*_SAID, epsilon=(), step="for example --eps 1"),
    exactly_one("file", "epsilon", step="for example --eps 2 --out t.json"),
    comes_with("g", "subset", "functions", "buckets", protocol=()),
    left_out_with("protocol", *_DESIGNED, "channel", why="a protocol is no search and has its own law"),
    left_out_with("channel", *_DESIGNED, *_LISTED, why="the file says it"),
    left_out_with("mechanism", "gap", why="it is no search"),
    left_out_with("inputs", *_LISTED, why="it says the inputs"),
    left_out_with("labels", "labels_file", "size", why="they say the categories"),
    left_out_with("labels_file", "size", why="it says the categories"),
)


def _published() -> list[str]:
    """The mechanisms that a table is made of by name."""
    return [*(line.key for line in catalogue.ON_INTERVALS), *(line.key for line in catalogue.ON_POINTS)]


def run(
    asked: Annotated[Asked, Mirror(Pure, Problem, Demands, needs=())],
    sent: Annotated[Sent, kept("Save the table.")],
    file: Annotated[Path | None, typer.Argument(help="A design written with --out.", metavar="[FILE]")] = None,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", help="A published one: pm, duchi, grr ...", autocompletion=completion(_published)),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            "-p",
            help=f"For many categories: {', '.join(SHIPPED)}.",
            autocompletion=completion(lambda: SHIPPED),
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option("--size", "-k", help="Number of categories 0, 1, ... for grr and protocols.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels", help='Categories by name, as a line of CSV: "no, never" in quotes.', metavar="A,B,..."
        ),
    ] = None,
    labels_file: Annotated[
        Path | None, typer.Option("--labels-file", help="The same from a file, one category a line.")
    ] = None,
    channel: Annotated[
        Path | None, typer.Option("--channel", help="Probabilities, .csv or .npy; repaired where not private.")
    ] = None,
    g: Annotated[int | None, typer.Option("--g", help="Hash values of olh (those of least variance).")] = None,
    subset: Annotated[int | None, typer.Option("--subset", help="Items in a set of ss (least variance).")] = None,
    functions: Annotated[int | None, typer.Option("--functions", help=f"Hash functions of cms ({FUNCTIONS}).")] = None,
    buckets: Annotated[int | None, typer.Option("--buckets", help=f"Values of a function of cms ({BUCKETS}).")] = None,
    bits: Annotated[int, typer.Option("--bits", help=_BIT_CHOICES)] = 32,
) -> None:
    sent.require_writable()
    eps, loss, domain, gap = asked["epsilon"], asked["loss"], asked["inputs"], asked["gap"]
    given: dict[str, Any] = {"--loss": loss, "--domain": domain, "--mechanism": mechanism, "--size": size}
    given |= {"--labels": labels, "--labels-file": labels_file, "--channel": channel, "--protocol": protocol}
    parameters = {"g": g, "subset": subset, "functions": functions, "buckets": buckets}
    given |= {"--gap": gap} | {f"--{name}": value for name, value in parameters.items()}
    provenance = {"command": _command(file, {"--eps": eps} | given | {"--bits": bits})}
    design: Source | None = None
    with output.progress("designing and rounding", quiet=sent.quiet):
        if eps is None:
            assert file is not None
            design = saved = load_design(file)
            table = make_table(saved, bits, provenance=provenance | _said(saved))
        elif protocol is not None:
            options = {name: value for name, value in parameters.items() if value is not None}
            items = _items(size, labels, labels_file)
            table = protocol_table(protocol, require_epsilon(eps), items, bits, provenance=provenance, **options)
        elif channel is not None:
            table = _of_channel(require_epsilon(eps), channel, bits, provenance)
        else:
            names = _names(labels, labels_file, _MOST_POINTS)
            design = _designed(require_epsilon(eps), loss, domain, mechanism, size, names, gap)
            table = make_table(design, bits, provenance=provenance, labels=Labels(names, names))
        smaller = _smaller(design, table)
    sent.keep(table.content)
    mixed = _mixed(table)
    if mixed > _MUCH_MIXED:
        output.warn(
            f"the channel was far from private: {100 * mixed:.3g}% of the uniform law was mixed in, so the table is "
            "another mechanism than the file's; was it made for a larger eps?"
        )
    if any(names is not None and names.look_like_codes for names in (table.input_names, table.output_names)):
        output.warn(CODES_LOOK_LIKE_LABELS)
    if table.ratio == 1:
        step = "take --bits 53 or a larger eps" if table.bits < 53 else "take a larger eps"
        output.warn(f"all inputs have the same law after rounding: reports say nothing about the data; {step}")
    if smaller:
        output.warn(smaller)
    if _is_biased(design, table):
        estimator = table.estimator
        assert estimator is not None
        output.warn(
            f"means estimated from its reports are off by up to {rounded_up(float(estimator.bias), 3)}, however many "
            "there are: for means take --mechanism pm, a design of minimax --unbiased, or whole numbers without --loss"
        )
    if mechanism is not None and table.name == _RESPONSE and len(table.content) > _LARGE:
        output.warn(f"{len(table.content) / 1e6:.1f} MB: --protocol grr is the same law in two numbers, on bytes")
    if sent.as_json:
        output.print_json(_answer(table, sent.out))
        return
    _print(table)
    sent.say_saved()


def _is_biased(design: Source | None, table: Table) -> bool:
    """Whether the bias of the mean of numbers is soon more than the noise."""
    about = power_of(design.problem) if isinstance(design, Design) else design
    estimator = table.estimator
    if about is None or estimator is None or estimator.of != "mean" or table.labels.inputs is not None:
        return False
    return estimator.bias**2 * _MANY_REPORTS > estimator.variance


def _smaller(design: Source | None, table: Table) -> str:
    """What a hundredth more error would save of the size, if that is nine tenths: measured on the table itself."""
    from mechdesign.methods.registry import solve

    proven = table.proven
    if not isinstance(design, Design) or not isinstance(design.evidence, MinimaxBound):
        return ""
    if proven is None or len(table.content) < _LARGE or gap_asked(design) >= _WIDE_GAP:
        return ""
    other = make_table(solve(design.problem, gap=_WIDE_GAP), table.bits)
    if other.proven is None or 10 * len(other.content) > len(table.content):
        return ""
    sizes = f"{len(other.content) / 1000:.0f} kB instead of {len(table.content) / 1000:.0f} kB"
    more = float(100 * (other.proven.error / proven.error - 1))
    return f"with --gap {_WIDE_GAP:g} the table is {sizes}, and its worst error {max(more, 0.0):.2g}% more"


def _command(file: Path | None, options: dict[str, Any]) -> str:
    """The options that matter for the table, with names of files only: the same on every machine."""
    words = ["table", *([file.name] if file is not None else [])]
    for name, value in options.items():
        if value is not None:
            words.append(f"{name}={value.name if isinstance(value, Path) else value}")
    return shlex.join(words)


def _said(design: Design) -> dict[str, str]:
    """With what a saved design was found."""
    return {f"design {name}": version for name, version in design.report.versions.items()}


def _items(size: int | None, labels: str | None, labels_file: Path | None) -> int | tuple[str, ...]:
    """How many items there are, or their names."""
    names = _names(labels, labels_file, MOST_ITEMS)
    if names is not None:
        return names
    if size is None:
        step = "for example --size 1000, or --labels-file FILE"
        raise InvalidInput("--size", size, "be the number of categories, with --protocol", step)
    return size


def _names(text: str | None, file: Path | None, most: int) -> tuple[str, ...] | None:
    """The categories that one of the options names."""
    if text is None and file is None:
        return None
    option = "--labels" if file is None else "--labels-file"
    names = labels_of_line(text) if text is not None else _of_lines(file)
    if not 2 <= len(names) <= most:
        step = LABELS if most == MOST_ITEMS else f"{LABELS}; up to {MOST_ITEMS} with --protocol"
        raise InvalidInput(option, len(names), f"name from 2 to {most} categories", step)
    return require_labels(names, option)


def _of_lines(file: Path | None) -> tuple[str, ...]:
    assert file is not None
    try:
        text = files.read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileProblem("--labels-file", file.name, "be a text in UTF-8") from None
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _designed(
    epsilon: float,
    loss: str | None,
    domain: str | None,
    name: str | None,
    size: int | None,
    labels: tuple[str, ...] | None,
    gap: float | None,
) -> Source:
    from mechdesign.methods.registry import solve

    entry = None if name is None else catalogue.on_points(name)
    if entry is not None:
        if loss is not None and not entry.tuned:
            raise InvalidInput("--loss", loss, f"be left out with --mechanism {entry.key}", "drop --loss")
        points = _points_of(f"--mechanism {entry.key}", domain, size, labels)
        return catalogue.build(entry.key, epsilon, points, parse_loss(loss or "absolute"))
    known = [entry.key for entry in catalogue.ON_INTERVALS]
    if name is not None and name.strip().lower() not in known:
        on_points = ", ".join(entry.key for entry in catalogue.ON_POINTS)
        rule = f"be one of {', '.join(known)}, or {_GRR} with --size or --labels, or {on_points} with LO..HI"
        raise InvalidInput("mechanism", name, rule, did_you_mean(name, (*known, _GRR)))
    _require_points(name, size, labels)
    inputs, power = parse_inputs(domain), parse_loss(loss or "absolute")
    if name is not None:
        if not isinstance(inputs, Interval):
            step = f"take --domain={inputs.lower:g},{inputs.upper:g}, or --mechanism {_GRR}, or none: the optimum"
            raise InvalidInput("domain", domain, f"be an interval LO,HI for --mechanism {name}", step)
        return catalogue.build(name, epsilon, inputs, power)
    told: dict[str, Any] = {} if gap is None else {"gap": gap}
    if isinstance(inputs, Finite) and loss is None:  # no loss of single reports is asked for: means shall be right
        span = Interval(inputs.lower, inputs.upper)
        asked = Problem(inputs=span, loss=Squared(), privacy=Pure(epsilon), criterion=Average(), among=Unbiased())
        return solve(asked, **told)
    return solve(Problem(inputs=inputs, loss=power, privacy=Pure(epsilon)), **told)


def _points_of(option: str, domain: str | None, size: int | None, labels: tuple[str, ...] | None) -> Finite:
    """The points that a mechanism on points is for, as one of the options says."""
    if domain is not None:
        numbers = parse_inputs(domain)
        if not isinstance(numbers, Finite):
            step = "for example --domain 1..5, or --size 5"
            raise InvalidInput("domain", domain, f"be whole numbers LO..HI for {option}", step)
        return numbers
    if labels is not None:
        size = len(labels)
    if size is None or not 2 <= size <= _MOST_POINTS:
        rule = f"be a number of categories from 2 to {_MOST_POINTS} for {option}"
        step = f"for example {option} --size 10, or --labels no,maybe,yes, or --domain 1..5"
        if size is not None and size > _MOST_POINTS:
            step = f"take --protocol grr --size {size}: the same law in two numbers, whose reports are bytes"
        raise InvalidInput("--size", size, rule, step)
    return Finite(tuple(range(size)))


def _require_points(name: str | None, size: int | None, labels: tuple[str, ...] | None) -> None:
    """Categories are for mechanisms on points; where another is named, that is what is wrong."""
    for option, value in (("--labels", labels), ("--size", size)):
        if value is not None:
            rule = f"be {_GRR} with {option}: an interval has no categories"
            step = f"take --mechanism {_GRR}, or drop {option}"
            raise InvalidInput("--mechanism", name, rule, step)


def _of_channel(epsilon: float, file: Path, bits: int, provenance: dict[str, str]) -> Table:
    """A table of the probabilities in a file; labels that are no increasing numbers are numbered and kept by name."""
    matrix = read_matrix(file, "channel", least=-NOISE)
    if matrix.values.size > _MOST_COUNTS:
        raise InvalidInput("channel", matrix.values.shape, f"have at most {_MOST_COUNTS} probabilities")
    inputs, input_names = _points(matrix.input_labels, matrix.values.shape[0])
    outputs, output_names = _points(matrix.output_labels, matrix.values.shape[1])
    named = Labels(input_names, output_names)
    return repaired(epsilon, inputs, outputs, matrix.values, bits, file.stem, provenance=provenance, labels=named)


def _points(labels: tuple[str, ...] | None, count: int) -> tuple[Finite, tuple[str, ...] | None]:
    """The numbers of inputs or outputs, and their labels if they are not these numbers."""
    if labels is None:
        return Finite(tuple(range(count))), None
    numbers = numbers_of(labels)
    if numbers is not None:
        return Finite(numbers), None
    return Finite(tuple(range(count))), labels


def _mixed(table: Table) -> float:
    return 0.0 if table.repair is None else float(table.repair.mixed)


def _answer(table: Table, out: Path | None) -> Answer:
    proven = table.proven
    return Answer(
        table.kind,
        table.name,
        float(table.epsilon),
        table.bits,
        table.privacy_loss,
        table.law.size,
        table.labels.inputs,
        table.labels.outputs,
        table.estimator,
        table.chances,
        table.law.report_bytes if isinstance(table.law, ItemsLaw) else None,
        table.repair,
        None if proven is None else float_up(proven.error),
        None if proven is None else float_down(proven.lower),
        table.sha256,
        None if out is None else str(out),
    )


def _print(table: Table) -> None:
    output.console.print(table.summary(), markup=False, soft_wrap=True)
