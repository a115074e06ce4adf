"""Commands that run as they are: quotes where a shell needs them, and values that may start with a minus."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from mechdesign.data.numbers import number_of

_PROGRAM = "python -m mechdesign"


def command(name: str, *words: str, **options: object) -> str:
    """A command with its options, ``out_file`` as ``--out-file``; None leaves an option out, True is a flag.

    >>> command("table", eps=1.0, domain="-1,1", mechanism="pm")
    'python -m mechdesign table --eps 1 --domain=-1,1 --mechanism pm'
    """
    parts = [_PROGRAM, *map(shlex.quote, name.split()), *map(shlex.quote, words)]
    for key, value in options.items():
        flag = f"--{key.strip('_').replace('_', '-')}"
        if value is True:
            parts.append(flag)
        elif value is not None and value is not False:
            text = shlex.quote(number(value) if isinstance(value, float) else str(value))
            parts.append(f"{flag}={text}" if text.strip("'").startswith("-") else f"{flag} {text}")
    return " ".join(parts)


REPORTS = "reports.csv"


def to_an_answer(
    table: str, source: object, column: str | None, clipped: bool = False, **read: object
) -> tuple[tuple[str, ...], str | None]:
    """From a table to an answer: what runs now, and what reads the reports once there are some.

    ``read`` are options of estimate. Values outside the domain are no rows that a table takes.

    >>> commands, later = to_an_answer("t.json", "data.csv", "x")
    >>> len(commands), later
    (2, None)
    """
    estimated = command("estimate", table, _in=REPORTS, **read)
    if source is None or clipped:
        return (command("export", table, to="javascript", out="sampler"),), estimated
    return (command("apply", table, _in=source, column=column, out=REPORTS), estimated), None


def python(program: str) -> str:
    """A program of one line, in the quotes that most shells have.

    >>> print(python("print('a')"))
    python -c "print('a')"
    """
    quoted = shlex.quote(program) if set(program) & set('"$`\\!') else f'"{program}"'
    return f"python -c {quoted}"


def number(value: float) -> str:
    """A double in the fewest digits that read back as it.

    >>> number(250000.0), number(0.1)
    ('250000', '0.1')
    """
    short = f"{value:.12g}"
    return short if number_of(short) == value else repr(float(value))


def pair(ends: Sequence[float]) -> str:
    """Numbers with commas between them."""
    return ",".join(map(number, ends))
