"""What every command does that asks a study: it refuses files early, says how far it is, and gives the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from mechdesign.cli import output
from mechdesign.cli.sent import Sent
from mechdesign.errors import FileProblem
from mechdesign.values import files
from mechdesign.values.answers import Answer, Study

A = TypeVar("A", bound=Answer)


def ask(study: Study[A], sent: Sent, *pictures: Path | None) -> A:
    """The answer of a study whose files do not lie in each other's way."""
    sent.require_writable(*pictures)
    output.require_apart([sent.out, sent.plot, *pictures, *study.keeps], study.reads)
    for kept in study.keeps:
        if any(path is not None and files.is_same_file(path, kept) for path in (sent.out, sent.plot, *pictures)):
            raise FileProblem("results file", str(kept), "differ from the other files to be written")
    with output.ending_cleanly(), output.progress(study.doing, quiet=sent.quiet) as say:
        return study.answer(say, output.warn)


def give(study: Study[Answer], sent: Sent) -> None:
    """The answer as a picture, as JSON, or as text."""
    told(ask(study, sent), study, sent)


def deliver(study: Study[Any], sent: Sent) -> None:
    """The same, with its design kept."""
    found = ask(study, sent)
    sent.keep(found.design)
    told(found, study, sent)


def told(answer: Answer, study: Study[Answer], sent: Sent, *pictures: Path | None) -> None:
    """An answer as a picture, as JSON, or as text."""
    if sent.plot is not None:
        sent.draw(answer.plot())
    if sent.as_json:
        output.print_object(answer.as_dict())
        return
    output.show_all(answer.shown())
    sent.say_saved(*pictures, *study.keeps)
