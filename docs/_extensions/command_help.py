"""``{command-help}``: the help of every command, as the command line prints it."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mechdesign.cli.app import app as commands

_WIDTH = 80


def helps() -> list[tuple[str, str]]:
    """Each command's name and help, in the order of the command line; those of a group follow their group."""
    root = typer.main.get_command(commands)
    found: list[tuple[str, str]] = []
    _collect(root, "mechdesign", None, found)
    return found[1:]


def _collect(command: Any, name: str, parent: Any, found: list[tuple[str, str]]) -> None:
    widths = {"terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = command.context_class(command, info_name=name, parent=parent, **widths)
    shown = context.command_path.removeprefix("mechdesign ")
    found.append((shown, command.get_help(context)))
    for inner, what in getattr(command, "commands", {}).items():
        _collect(what, inner, context, found)


class CommandHelp(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for name, text in helps():
            section = nodes.section(ids=[f"command-{name.replace(' ', '-')}"])
            section += nodes.title(text=name)
            section += nodes.literal_block(text, text, language="text")
            self.state.document.note_explicit_target(section, section)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
