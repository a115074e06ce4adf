"""The JSON schema (draft 2020-12) of what a command answers with --json, such as minimax or trajectory perturb.

Of errors, which with --json are objects on stderr, too: schema error. Of files that hold a design: schema design
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from mechdesign.cli.failures import Told
from mechdesign.cli.overview import NAMES
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import completion
from mechdesign.errors import InvalidInput
from mechdesign.values.schema import DIALECT, Schemas

ERROR = "error"
"""What any command with --json says on stderr where it fails."""

DESIGN = "design"
"""What `Design.save` writes."""

EXAMPLE = "schema minimax"


def run(
    command: Annotated[
        list[str],
        typer.Argument(
            help="A command, or: design, error.",
            metavar="COMMAND",
            autocompletion=completion(lambda: (*NAMES, DESIGN, ERROR)),
        ),
    ],
    sent: Said,
) -> None:
    del sent  # a schema is one JSON object and says nothing else
    name = " ".join(command)
    known = (*shapes(), DESIGN)
    if name not in known:
        raise InvalidInput("command", name, f"be one of {', '.join(known)}")
    sys.stdout.write(schema_of(name))
    sys.stdout.flush()


def shapes() -> dict[str, Sequence[Sequence[type]]]:
    """The answers of every command: each is an object with the fields of several classes; and what errors are."""
    from mechdesign.cli.app import groups, module_of

    several = groups()
    alone = {name: answers_of(module_of(name)) for name in NAMES if name not in (*several, "schema")}
    inner = {f"{name} {one}": said for name, module in several.items() for one, said in module.ANSWERS.items()}
    return alone | inner | {ERROR: ((Told,),)}


def answers_of(module: Any) -> Sequence[Sequence[type]]:
    """What a command declares of its answers, or its study."""
    return tuple(module.ANSWERS if hasattr(module, "ANSWERS") else module.shapes())


@cache
def schema_of(command: str) -> str:
    """The schema of the command's answers, derived from their declarations; each definition stands in it once."""
    from mechdesign.methods.registry import CODEC
    from mechdesign.methods.saved import design_schema

    if command == DESIGN:
        return _printed(design_schema())
    schemas = Schemas(CODEC.protocols)
    answers = [schemas.merged(*kinds) for kinds in shapes()[command]]
    title = "errors with --json" if command == ERROR else f"{command} --json"
    said: dict[str, Any] = {"$schema": DIALECT, "title": title}
    said |= answers[0] if len(answers) == 1 else {"anyOf": answers}
    return _printed(said | {"$defs": schemas.definitions})


def _printed(said: dict[str, Any]) -> str:
    definitions = {"$defs": dict(sorted(said["$defs"].items()))}
    return json.dumps(said | definitions, indent=1, ensure_ascii=False) + "\n"
