"""Any design problem, from a JSON file: its five words, of which those with a default may be left out.

What designs hold under "problem" is such a file, and so is a saved design: its problem is solved anew. For example
{"kind": "problem", "inputs": {"kind": "interval", "lower": 0, "upper": 1},
 "loss": {"kind": "power", "exponent": 1, "period": null}, "privacy": {"kind": "pure", "epsilon": 1}}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.options import require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.methods.result import FORMAT
from mechdesign.studies.designed import Designed
from mechdesign.values import files
from mechdesign.words.problem import Problem

ANSWERS = ((Designed,),)
_LOSS, _PRIVACY = '{"kind": "matrix", "values": [[0, 1], [1, 0]]}', '{"kind": "pure", "epsilon": 1}'
EXAMPLE = f"""\
$ echo '{{"kind": "problem", "loss": {_LOSS}, "privacy": {_PRIVACY}}}' > problem.json
solve problem.json"""


def run(
    file: Annotated[Path, typer.Argument(help="A problem as a JSON object.", metavar="FILE")],
    sent: Sent,
    gap: Annotated[float | None, typer.Option("--gap", help="Relative gap of the proven bounds to reach.")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds to spend.", metavar="S")] = 60.0,
) -> None:
    from mechdesign.methods.registry import CODEC, solve

    sent.require_writable()
    require_time_limit(time_limit)
    said = files.read_json(file)
    problem = CODEC.asked((Problem,), said.get("problem") if said.get("format") == FORMAT else said, "problem")
    with output.progress("solving the problem", quiet=sent.quiet):
        design = solve(problem, time_limit, gap=gap)
    sent.keep(design)
    if sent.plot is not None:
        sent.draw(plot.of(design))
    if sent.as_json:
        output.print_json(Designed.of(design))
        return
    output.console.print(design.summary(), soft_wrap=True)
    sent.say_saved()
