"""Draws of exported samplers beside one bulk read of the operating system, by the clock of the process.

A draw is the 4 bytes of a report, taken from the sampler's block, put together and erased; a report is a draw and the
search for it. What the same program reads at once, as many bytes, is the yardstick of both.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import mechdesign as md
from benchmarks.clock import Measured
from benchmarks.rows import Row, Target
from mechdesign.deploy import export_table, make_table
from mechdesign.deploy.export.plan import plan_of
from mechdesign.domains import Finite

POWER = 6
TURNS = 7
DRAWN = Target(ratio=1.5)
RAW = f"one read of 4 x 10^{POWER} bytes"

C = """
#define _GNU_SOURCE
#include "@stem@.c"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    long i, count = @count@;
    unsigned char *bytes = malloc(4 * (size_t)count);
    int turn;
    double sum = 0, y;
    for (turn = 0; turn < @turns@; turn++) {
        double start = now(), read, drawn, reported;
        if (operating_system(bytes, 4 * (size_t)count)) return 1;
        read = now();
        for (i = 0; i < count; i++) {
            allotment own;
            source from;
            from.fill = from_allotment;
            from.state = &own;
            from.failed = 0;
            if (allot(&own)) return 1;
            sum += (double)draw(&from, BITS);
        }
        drawn = now();
        for (i = 0; i < count; i++) {
            if (@stem@(1, &y)) return 1;
            sum += y;
        }
        reported = now();
        printf("{\\"read\\": %g, \\"draws\\": %g, \\"reports\\": %g}\\n", read - start, drawn - read, reported - drawn);
    }
    return sum == 0;
}
"""
RUST = """
pub fn drawn() -> i64 {
    allotted(|fill| draw(BITS, fill)).unwrap()
}

fn now() -> f64 {
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0i64; 2];
    unsafe { clock_gettime(2, &mut time) };
    time[0] as f64 + 1e-9 * time[1] as f64
}

fn main() {
    extern "C" {
        fn getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize;
    }
    let count = @count@;
    let mut bytes = vec![0u8; 4 * count];
    let mut sum = 0.0;
    for _ in 0..@turns@ {
        let start = now();
        let mut place = 0;
        while place < bytes.len() {
            let got = unsafe { getrandom(bytes[place..].as_mut_ptr(), bytes.len() - place, 0) };
            assert!(got > 0);
            place += got as usize;
        }
        let read = now();
        for _ in 0..count {
            sum += drawn() as f64;
        }
        let drawn = now();
        for _ in 0..count {
            sum += sample(1.0).unwrap();
        }
        let reported = now();
        let (draws, reports) = (drawn - read, reported - drawn);
        println!("{{\\"read\\": {}, \\"draws\\": {draws}, \\"reports\\": {reports}}}", read - start);
    }
    assert!(sum != 0.0);
}
"""
JAVASCRIPT = """
const seconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const bytes = new Uint8Array(4 * @count@);
for (let turn = 0; turn < @turns@; turn++) {
  const start = seconds();
  for (let i = 0; i < bytes.length; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  const read = seconds();
  for (let i = 0; i < @count@; i++) draw(BITS, allotted());
  const drawn = seconds();
  for (let i = 0; i < @count@; i++) sample(1);
  console.log(JSON.stringify({ read: read - start, draws: drawn - read, reports: seconds() - drawn }));
}
"""
PYTHON = """
import json, time
for turn in range(@turns@):
    start = time.process_time()
    os.urandom(4 * @count@)
    read = time.process_time()
    for _ in range(@count@):
        draw(BITS, Allotment().read)
    drawn = time.process_time()
    for _ in range(@count@):
        sample(1)
    print(json.dumps({"read": read - start, "draws": drawn - read, "reports": time.process_time() - drawn}))
"""


def exported() -> Iterator[Row]:
    """C and Rust have the target; of interpreters only what it costs is of interest."""
    table = make_table(md.catalogue.randomised_response(1.0, Finite((0, 1, 2))))
    stem, count = plan_of(table.document).stem, 10**POWER
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for language in ("c", "rust", "javascript", "python"):
            export_table(table, language, folder, cases=0)
        for name, command in _programs(folder, stem, count).items():
            if command is not None:
                times = _times(command, folder)
                target = DRAWN if name in ("C", "Rust") else Target()
                yield Row(f"10^{POWER} draws, {name} export", RAW, times["draws"], times["read"], target)
                yield Row(f"10^{POWER} reports, {name} export", RAW, times["reports"], times["read"])


def _programs(folder: Path, stem: str, count: int) -> Mapping[str, list[str] | None]:
    """The commands that measure; None where a compiler is missing."""

    def filled(name: str, text: str, before: str = "") -> str:
        places = {"@stem@": stem, "@count@": str(count), "@turns@": str(TURNS)}
        for place, value in places.items():
            text = text.replace(place, value)
        (folder / name).write_text(before + text)
        return name

    c, rust = filled("b.c", C), filled("b.rs", RUST, (folder / f"{stem}.rs").read_text())
    script = filled("b.mjs", JAVASCRIPT, (folder / f"{stem}.mjs").read_text())
    module = filled("b.py", PYTHON, (folder / f"{stem}.py").read_text())
    return {
        "C": _built(["gcc", "-O2", "-w", c, "-pthread", "-o", "b_c"], folder, "./b_c"),
        "Rust": _built(
            ["rustc", "--edition", "2021", "-A", "warnings", "-O", rust, "-o", "b_rust"], folder, "./b_rust"
        ),
        "JavaScript": ["node", script] if shutil.which("node") else None,
        "Python": [sys.executable, module],
    }


def _built(command: list[str], folder: Path, program: str) -> list[str] | None:
    if shutil.which(command[0]) is None:
        return None
    subprocess.run(command, cwd=folder, check=True)
    return [program]


def _times(command: list[str], folder: Path) -> dict[str, Measured]:
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    turns = [json.loads(line) for line in said.splitlines()]
    return {name: Measured(statistics.median(turn[name] for turn in turns)) for name in turns[0]}
