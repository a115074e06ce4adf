"""What a run found: its table with the machine and the versions, compared with the last committed one, and its page."""

from __future__ import annotations

import html
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers import ROOT, interpreter
from benchmarks.rows import Row

KEPT = ROOT / "benchmarks" / "last.json"
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
SLOWER = 1.5
"""A ratio so many times the last committed one is a regression."""

HEADINGS = ("what", "measured", "compared with", "ratio", "asked for", "memory", "verdict")
LIBRARIES = ("mechdesign", "numpy", "scipy", "highspy", "pyscipopt", "cvxpy", "polars", "pyarrow", "scikit-learn")


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one benchmark, and where and with what they were measured."""

    date: str
    machine: dict[str, str]
    versions: dict[str, str]
    rows: list[Row]

    @classmethod
    def now(cls, rows: list[Row]) -> Section:
        return cls(datetime.now(UTC).strftime("%Y-%m-%d"), _machine(), _versions(), rows)

    def to_dict(self) -> dict[str, Any]:
        rows = [row.to_dict() for row in self.rows]
        return {"date": self.date, "machine": self.machine, "versions": self.versions, "rows": rows}

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Section:
        """The section that `to_dict` wrote."""
        return cls(said["date"], said["machine"], said["versions"], [Row.of(row) for row in said["rows"]])


@dataclass(frozen=True, slots=True)
class Report:
    """Sections by benchmark: each of one run, so that a slow machine may measure them one at a time."""

    sections: Mapping[str, Section]

    @classmethod
    def read(cls, text: str) -> Report:
        return cls({name: Section.of(said) for name, said in json.loads(text).items()})

    def to_json(self) -> str:
        return json.dumps({name: section.to_dict() for name, section in self.sections.items()}, indent=1) + "\n"

    @property
    def rows(self) -> list[Row]:
        return [row for section in self.sections.values() for row in section.rows]

    def find(self, row: Row) -> Row | None:
        """The row of the same name and yardstick."""
        return next((one for one in self.rows if one.key == row.key), None)

    def slower_than(self, last: Report | None) -> list[tuple[Row, float]]:
        """The rows whose ratio is more than `SLOWER` times that of ``last``, and how many times."""
        return [(row, times) for row in self.rows if (times := times_slower(row, last)) is not None]

    def beside(self, other: Report | None, names: Sequence[str]) -> Report:
        """These sections, and those of another report that are missing here, in the order of names."""
        known = {**(other.sections if other else {}), **self.sections}
        return Report({name: known[name] for name in names if name in known})


def times_slower(row: Row, last: Report | None) -> float | None:
    """How many times the ratio of ``last`` the row's is, if more than `SLOWER`."""
    before = last.find(row) if last is not None else None
    if before is None or row.ratio <= SLOWER * before.ratio:
        return None
    return row.ratio / before.ratio


def last_committed() -> Report | None:
    """The table of the last commit; outside of a checkout the one that is there."""
    path = KEPT.relative_to(ROOT).as_posix()
    done = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return Report.read(done.stdout)
    return Report.read(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else None


def write(ran: Report, last: Report | None) -> None:
    KEPT.write_text(ran.to_json(), encoding="utf-8")
    PAGE.write_text(page(ran, last), encoding="utf-8")


def cells(row: Row, last: Report | None) -> tuple[str, ...]:
    ours = row.ours
    memory = "-" if ours.megabytes is None else f"{ours.megabytes:.0f} MB"
    verdict, times = row.verdict, times_slower(row, last)
    if times is not None:
        verdict = f"{verdict}, SLOWER: {times:.2g} times the last ratio"
    if row.note:
        verdict = f"{verdict} ({row.note})"
    yardstick = f"{row.yardstick}: {_duration(row.theirs.seconds)}"
    if row.stopped:
        yardstick = f"{yardstick}, and was stopped"
    ratio = f"<= {_ratio(row.ratio)}" if row.stopped else _ratio(row.ratio)
    return row.name, _duration(ours.seconds), yardstick, ratio, str(row.target), memory, verdict


def page(ran: Report, last: Report | None) -> str:
    """The page of the site, in MyST."""
    slower = ran.slower_than(last)
    against = "There was no table before this one." if last is None else _against(slower)
    parts = [_INTRODUCTION, against, ""]
    for name, section in ran.sections.items():
        load = section.machine["load"]
        parts += [f"## {_title(name)}", "", _rows(section.rows, last), f"Measured {section.date}, {load}.", ""]
    parts += ["## Where, and with what", "", *_environments(ran)]
    return "\n".join(parts).rstrip() + "\n"


_INTRODUCTION = """# Benchmarks

**Answer:** every speed that this package promises, measured beside something else *in the same run*: a ratio says more
than seconds, which say most about the machine. No number on this page is written by hand:

```sh
make bench
make bench ONLY="jrr frequency"
```

The first writes this page, the second those sections of it; `python -m benchmarks --only jrr` only shows them.
Published packages run in an environment of their own. The sides take turns, and medians are compared. A ratio below 1
says that this package is faster; where seconds were asked for, the verdict is on the seconds, which grow on a busy
machine (see *load*).
*Memory* is the most that the measuring process held, its libraries (about 120 MB) included; `-` where the work was in
another process. A yardstick of more than a minute is stopped: the ratio is then at most what is said.
A *compact program* has every entry of a table as a variable: it is what one hands to a general solver. What HiGHS,
Clarabel, qif and projected gradients answer are doubles without a proof; this package is charged for its proofs.
"""


def _title(name: str) -> str:
    """Names of three letters are those of methods."""
    return name.upper() if len(name) == 3 else name.replace("_", " ").capitalize()


def _against(slower: list[tuple[Row, float]]) -> str:
    if not slower:
        return f"No ratio is more than {SLOWER:g} times that of the table before."
    count = f"{len(slower)} ratio is" if len(slower) == 1 else f"{len(slower)} ratios are"
    said = f"SLOWER: {count} more than {SLOWER:g} times that of the table before."
    return f'<span class="slower">{said}</span>'


def _environments(ran: Report) -> Iterator[str]:
    """Machines and versions, each once, with the sections that were measured there."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, section in ran.sections.items():
        machine = [(word, said) for word, said in section.machine.items() if word != "load"]
        found.setdefault((*machine, ("versions", _listed(section.versions))), []).append(_title(name))
    for where, titles in found.items():
        lines = [("sections", ", ".join(titles)), *where]
        yield "\n".join(["| measured | |", "|---|---|", *(f"| {word} | {said} |" for word, said in lines)]) + "\n"


def _rows(rows: list[Row], last: Report | None) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|--:|---|--:|---|--:|---|"]
    for row in rows:
        *told, verdict = (html.escape(cell, quote=False).replace("|", "\\|") for cell in cells(row, last))
        if row.verdict == "missed" or times_slower(row, last) is not None:
            verdict = f'<span class="slower">{verdict}</span>'
        lines.append("| " + " | ".join([*map(_kept_together, told), verdict]) + " |")
    return "\n".join(lines) + "\n"


def _kept_together(text: str) -> str:
    """No line ends between a number and its unit."""
    return re.sub(r"(?<=\d) (?=(s|ms|µs|x|MB)\b)", "&nbsp;", text)


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:,.2f} s" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{1000 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def _ratio(ratio: float) -> str:
    return f"1/{1 / ratio:,.0f}" if ratio < 0.01 else f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _machine() -> dict[str, str]:
    """What the machine is, without its name."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    cores, busy = os.cpu_count(), os.getloadavg()[2]
    load = f"{busy:.1f} programs at a time on {cores} cores, over the last 15 minutes of the run"
    return {"processor": f"{_processor()}, {cores} cores", "memory": _memory(), "system": system, "load": load}


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*:\s*(.+)$", told.read_text(encoding="utf-8"), re.MULTILINE) if told.exists() else None
    )
    return found[1] if found else platform.processor() or "unknown"


def _memory() -> str:
    told = Path("/proc/meminfo")
    found = (
        re.search(r"^MemTotal:\s*(\d+) kB", told.read_text(encoding="utf-8"), re.MULTILINE) if told.exists() else None
    )
    return f"{int(found[1]) * 1024 / 1e9:.0f} GB" if found else "unknown"


def _versions() -> dict[str, str]:
    here = {name: version(name) for name in LIBRARIES}
    return here | _peer_versions()


def _peer_versions() -> dict[str, str]:
    if not interpreter().exists():
        return {}
    asked = "from importlib.metadata import version; print(*(version(name) for name in NAMES))"
    names = ("multi-freq-ldpy", "pure-ldp", "opendp")
    code = asked.replace("NAMES", repr(names))
    done = subprocess.run([str(interpreter()), "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.split(), strict=True))
