"""Every command and every Python example of the documentation runs, page by page, and says what the page shows.

A page's blocks run in order in an empty folder, as a reader pastes them:

* ``console``: lines that begin with ``$ `` are commands; below each, lines of what it must print, in this order.
  ``...`` stands for any text in a line, a line of it alone for any lines.
* ``python``: with ``>>>`` a doctest; without, a program. Names stay from block to block.
* any language with a caption: a file of that name.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli import main

ROOT = Path(__file__).parents[2]
MADE = {ROOT / "docs" / "gallery" / "pages"}
"""Pages that the build makes of programs, which have tests of their own."""

PAGES = (ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("**/*.md")) if page.parent not in MADE))
FENCE = re.compile(
    r"^(?P<ticks>`{3,}|:{3,})(?P<language>[^\n]*)\n(?P<body>.*?)^(?P=ticks)[ \t]*$", re.MULTILINE | re.DOTALL
)
NOT_RUN = ("make ", "pip install ", "git ")
"""What a page may tell to run outside of these tests: it changes the reader's environment."""


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    body: str
    caption: str | None = None


def blocks_of(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language = found["language"].strip()
        if language.startswith(("{container}", "{card}", "{tab")):
            yield from blocks_of(found["body"])
            continue
        lines = found["body"].splitlines()
        options = [line for line in lines if re.match(r":[a-z-]+:", line)] if language.startswith("{") else []
        caption = next((line.split(":", 2)[2].strip() for line in options if line.startswith(":caption:")), None)
        body = "\n".join(lines[len(options) :]).strip("\n") + "\n"
        yield Block(language.removeprefix("{code-block}").strip(), body, caption)


def commands_of(body: str) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines shown below it."""
    shown: list[str] = []
    command = ""
    for line in body.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        elif command.endswith("\\"):
            command = command[:-1] + line
        else:
            shown.append(line)
    if command:
        yield command, shown


def missing_from(printed: str, shown: list[str]) -> str | None:
    """The first line shown that is not printed below the one before it; None if all are there."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in shown:
        if line.strip() in ("", "..."):
            continue
        wanted = re.compile(".*?".join(re.escape(part) for part in " ".join(line.split()).split("...")))
        if not any(wanted.fullmatch(found) for found in lines):
            return line
    return None


def run_command(command: str, capfd: pytest.CaptureFixture[str]) -> str:
    """What it prints on both outputs; it must end well."""
    words = shlex.split(command, comments=True)
    capfd.readouterr()
    if words[:3] == ["python", "-m", "mechdesign"]:
        try:
            main(words[3:])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capfd.readouterr()
        said = printed.out + printed.err
    else:
        done = subprocess.run(
            ["bash", "-c", in_shell(command)], capture_output=True, text=True, timeout=120, check=False
        )
        code, said = done.returncode, done.stdout + done.stderr
    assert code == 0, f"{command}: exit code {code}\n{said}"
    return said


def in_shell(command: str) -> str:
    """The command with the interpreter of these tests."""
    return re.sub(r"^python ", shlex.quote(sys.executable) + " ", command)


@pytest.fixture
def in_background() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Programs that a page starts with ``&``: they end with the page."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for program in started:
        program.terminate()
        program.wait()


def run_python(block: Block, names: dict[str, Any], page: Path, number: int) -> None:
    where = f"{page.name}, block {number}"
    if ">>>" not in block.body:
        exec(compile(block.body, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.body, names, where, str(page), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def is_run(block: Block) -> bool:
    return block.language in ("console", "python") or block.caption is not None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if any(map(is_run, blocks_of(page.read_text())))], ids=name_of)
@pytest.mark.slow
def test_every_block_of_a_page_runs_and_says_what_is_shown(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    in_background: list[subprocess.Popen[bytes]],
) -> None:
    for tool in ("node", "cc"):
        if f"\n$ {tool} " in page.read_text() and shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(filter(is_run, blocks_of(page.read_text())), 1):
        if block.caption is not None:
            Path(block.caption).parent.mkdir(exist_ok=True)
            Path(block.caption).write_text(block.body)
        elif block.language == "python":
            run_python(block, names, page, number)
        else:
            for command, shown in commands_of(block.body):
                if command.endswith(" &"):
                    program = shlex.split(in_shell(command.removesuffix(" &")))
                    in_background.append(subprocess.Popen(program))
                    continue
                printed = run_command(command, capfd)
                line = missing_from(printed, shown)
                assert line is None, f"{command} does not print {line!r} there, but:\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_command_of_a_page_hides_in_a_block_that_is_not_run(page: Path) -> None:
    for block in blocks_of(page.read_text()):
        if not is_run(block):
            commands = [line for line in block.body.splitlines() if re.match(r"(\$ |>>> |python |mechdesign )", line)]
            assert commands == []
        if block.language in ("sh", "shell", "bash"):
            assert all(line.startswith(NOT_RUN) for line in block.body.splitlines() if line.strip())


def test_the_documentation_has_commands_and_examples_in_number() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page.read_text())]
    assert sum(len(list(commands_of(block.body))) for block in blocks if block.language == "console") >= 80
    assert sum(">>>" in block.body for block in blocks if block.language == "python") >= 20


@pytest.mark.parametrize(
    ("printed", "shown", "missing"),
    [
        ("a\nb\nc", ["a", "c"], None),
        ("a\nb", ["b", "a"], "a"),
        ("mean: 3.2 in [1, 5]", ["mean: ... in [...]"], None),
        ("mean: 3.2", ["mean: 3.3"], "mean: 3.3"),
    ],
)
def test_shown_lines_are_compared_in_order(printed: str, shown: list[str], missing: str | None) -> None:
    assert missing_from(printed, shown) == missing


def test_blocks_in_containers_and_files_with_captions_are_found() -> None:
    text = "::::{container} x\n```console\n$ a \\\n  b\nshown\n```\n::::\n"
    text += "```{code-block} html\n:caption: f.html\n<p>\n```\n"
    inside, file = blocks_of(text)
    assert list(commands_of(inside.body)) == [("a   b", ["shown"])]
    assert (file.language, file.caption, file.body) == ("html", "f.html", "<p>\n")
