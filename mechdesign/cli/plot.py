"""The picture of a saved design, a table, or the --results of bench; of a design it is what show --plot draws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.pictures import KINDS, LAW, picture
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part, completion
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen


@frozen
class Answer:
    """What was drawn, and where it is."""

    file: str
    picture: str
    kind: str


ANSWERS = ((Answer,),)
EXAMPLE = """\
ogpm --eps 2 --out design.json
plot design.json --out picture.png"""


def run(
    file: Annotated[Path, typer.Argument(help="A file this package wrote.", metavar="FILE")],
    sent: Annotated[Sent, Part("out", "plot")],
    out: Annotated[Path, typer.Option("--out", help="The picture: .png, .pdf or .svg.", metavar="PICTURE")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="law; error: loss over a design's inputs; lines or heat: of a benchmark's results.",
            autocompletion=completion(lambda: KINDS),
        ),
    ] = LAW,
) -> None:
    if kind not in KINDS:
        raise InvalidInput("kind", kind, f"be {' or '.join(KINDS)}")
    sent.require_writable(out)
    output.require_apart([out], [file])
    with output.progress("drawing", quiet=sent.quiet):
        sent.draw(picture(file, kind), out)
    if sent.as_json:
        output.print_json(Answer(str(file), str(out), kind))
        return
    output.say_saved(out)
