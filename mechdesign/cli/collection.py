"""Several questions to one person as one file: their tables, how epsilon is split or sampled, and the exact total.

Give NAME=TABLE for every attribute to make one, or the file of one to have it checked and shown.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Sent, kept
from mechdesign.errors import InvalidInput, marked
from mechdesign.plot.canvas import printable
from mechdesign.tables.reports.collection import Attribute, Collection, Spending, load_collection
from mechdesign.tables.reports.payload import payload_of
from mechdesign.tables.summary import counted_words
from mechdesign.tables.table import load_table
from mechdesign.values.declare import frozen


@frozen
class Part:
    """An attribute: its table, its share of epsilon or the chance that it is asked, and what its reports hold."""

    name: str
    kind: str
    table: str
    epsilon: float
    share: float
    report: str
    bytes: int


@frozen
class Answer:
    """The collection, and what one person spends in all; ``exact_epsilon`` is that as a fraction."""

    name: str
    spending: Spending
    epsilon: float
    exact_epsilon: str
    privacy_loss: float
    sha256: str
    attributes: tuple[Part, ...]
    file: str | None


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
table --eps 0.5 --mechanism duchi --domain -1,1 --out mood.json
collection smokes=smokes.json mood=mood.json --out health.json"""

_WORDS = {
    Spending.SPLIT: "one report of every attribute, so the epsilons add up",
    Spending.SAMPLE: "one report, of an attribute drawn at random",
}


def run(
    parts: Annotated[
        list[str], typer.Argument(help="NAME=TABLE for each attribute; or one collection.", metavar="NAME=TABLE...")
    ],
    sent: Annotated[Sent, kept("Save the collection as a file.")],
    sample: Annotated[
        bool, typer.Option("--sample", help="Each person reports one attribute, drawn at random.")
    ] = False,
    name: Annotated[str | None, typer.Option("--name", help="What the collection is called.", metavar="TEXT")] = None,
) -> None:
    sent.require_writable()
    if len(parts) == 1 and "=" not in parts[0]:
        if sample or name is not None or sent.out is not None:
            rule = "be left out where a collection is read: its file says it"
            raise InvalidInput("options", "--sample, --name, --out", rule)
        collection = load_collection(parts[0])
    else:
        found = tuple(_attribute(part) for part in parts)
        spending = Spending.SAMPLE if sample else Spending.SPLIT
        collection = Collection("collection" if name is None else name, spending, found)
        sent.keep(collection.content)
    if sent.as_json:
        output.print_json(_answer(collection, sent.out))
        return
    loss = collection.privacy_loss
    output.console.print(
        f"{marked(collection.name)}: {_WORDS[collection.spending]}\n"
        f"  one person spends eps = {_exact(collection.epsilon)} in all "
        f"(privacy loss {loss:.12g}, at most eps: exact from the tables)",
        soft_wrap=True,
    )
    rows = [
        [part.name, part.kind, f"{part.epsilon:.6g}", f"{part.share:.4g}", f"{part.report}, {part.bytes} bytes"]
        for part in _parts(collection)
    ]
    asked = "chance" if collection.spending is Spending.SAMPLE else "share"
    output.print_table("Attributes", ["name", "table", "eps", asked, "report"], rows)
    for words in counted(collection):
        output.console.print(f"  {words}", markup=False, soft_wrap=True)
    output.console.print(f"  sha256: {collection.sha256}", soft_wrap=True)
    sent.say_saved()


def _exact(epsilon: Fraction) -> str:
    """
    >>> _exact(Fraction(7)), _exact(Fraction(1, 3))
    ('7', '1/3 = 0.333333333333')
    """
    return str(epsilon) if epsilon.denominator == 1 else f"{epsilon} = {float(epsilon):.12g}"


def counted(collection: Collection) -> list[str]:
    """Of each attribute whose pairs of inputs have an eps of their own, which of them the total counts."""
    said = ((attribute.name, counted_words(attribute.table)) for attribute in collection.attributes)
    return [f"{printable(name)}: {words}" for name, words in said if words is not None]


def _attribute(text: str) -> Attribute:
    name, sign, file = text.partition("=")
    if not (sign and name and file):
        raise InvalidInput("attribute", text, "be NAME=TABLE", "for example age=age.json")
    return Attribute(name, load_table(file))


def _parts(collection: Collection) -> tuple[Part, ...]:
    found = []
    for attribute, share in zip(collection.attributes, collection.shares, strict=True):
        table, payload = attribute.table, payload_of(attribute.table)
        about = attribute.name, table.kind, table.sha256, float(table.epsilon), float(share)
        found.append(Part(*about, payload.kind, payload.size))
    return tuple(found)


def _answer(collection: Collection, out: Path | None) -> Answer:
    spent = float(collection.epsilon), str(collection.epsilon), collection.privacy_loss
    parts, file = _parts(collection), None if out is None else str(out)
    return Answer(collection.name, collection.spending, *spent, collection.sha256, parts, file)
