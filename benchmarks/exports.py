"""Draws of exported samplers beside one bulk read of the operating system, by the clock of the process.

A draw is the 4 bytes of a report, taken from the sampler's block, put together and erased; a report is a draw and the
search for it. What the same program reads at once, as many bytes, is the yardstick of both. The tables are randomised
response on three numbers, and on three items, whose reports are bytes.
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
from mechdesign.deploy import Table, export_table, make_table
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
    double sum = 0;
    @declared@;
    for (turn = 0; turn < @turns@; turn++) {
        double start = now(), read, drawn, reported;
        if (operating_system(bytes, 4 * (size_t)count)) return 1;
        read = now();
        for (i = 0; i < count; i++) {
            source from;
@drawn@
            from.failed = 0;
            sum += (double)draw(&from, BITS);
        }
        drawn = now();
        for (i = 0; i < count; i++) {
            if (@stem@(1, @given@)) return 1;
            sum += (double)*@given@;
        }
        reported = now();
        printf("{\\"read\\": %g, \\"draws\\": %g, \\"reports\\": %g}\\n", read - start, drawn - read, reported - drawn);
    }
    return sum == 0;
}
"""
C_NUMBERS = """\
            allotment own;
            from.fill = from_allotment;
            from.state = &own;
            if (allot(&own)) return 1;"""
C_ITEMS = """\
            from.fill = from_pool;
            from.state = NULL;"""
RUST = """
pub fn drawn() -> u64 {
    @drawn@
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
            sum += @report@;
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
  for (let i = 0; i < @count@; i++) draw(BITS, @drawn@);
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
        draw(BITS, @drawn@)
    middle = time.process_time()
    for _ in range(@count@):
        sample(1)
    print(json.dumps({"read": read - start, "draws": middle - read, "reports": time.process_time() - middle}))
"""


JAVA = """
public final class Bench {
    static double now() {
        return 1e-9 * java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] arguments) {
        byte[] bytes = new byte[4 * @count@];
        java.security.SecureRandom system = new java.security.SecureRandom();
        double sum = 0;
        for (int turn = 0; turn < @turns@; turn++) {
            double start = now();
            system.nextBytes(bytes);
            double read = now();
            for (int i = 0; i < @count@; i++) sum += @name@.drawn();
            double drawn = now();
            for (int i = 0; i < @count@; i++) sum += @report@;
            double reported = now();
            System.out.printf(java.util.Locale.ROOT, "{\\"read\\": %g, \\"draws\\": %g, \\"reports\\": %g}%n",
                read - start, drawn - read, reported - drawn);
        }
        if (sum == 0) throw new IllegalStateException();
    }
}
"""
FAMILIES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "numbers": {
        "C": {"drawn": C_NUMBERS, "declared": "double y", "given": "(&y)"},
        "Rust": {"drawn": "allotted(|fill| draw(BITS, fill)).unwrap() as u64", "report": "sample(1.0).unwrap()"},
        "Java": {"drawn": "draw(BITS, allotted())", "report": "@name@.sample(1.0)"},
        "JavaScript": {"drawn": "allotted()"},
        "Python": {"drawn": "Allotment().read"},
    },
    "items": {
        "C": {"drawn": C_ITEMS, "declared": "unsigned char y[REPORT_BYTES]", "given": "y"},
        "Rust": {"drawn": "draw(BITS, &mut system::take).unwrap()", "report": "f64::from(sample(1).unwrap()[0])"},
        "Java": {"drawn": "draw(BITS, POOL.get()::take)", "report": "@name@.sample(1)[0]"},
        "JavaScript": {"drawn": "take"},
        "Python": {"drawn": "Allotment().read"},
    },
}
COMPILED = ("C", "Rust", "Java")


def rows() -> Iterator[Row]:
    """Compiled samplers have the target; of interpreters only what it costs is of interest."""
    tables = {
        "numbers": make_table(md.catalogue.randomised_response(1.0, Finite((0, 1, 2))), 32),
        "items": md.collect.protocol_table("grr", 1.0, 3),
    }
    for family, table in tables.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for language in ("c", "rust", "java", "javascript", "python"):
                export_table(table, language, folder, cases=0)
            for name, command in _programs(folder, table, FAMILIES[family]).items():
                if command is not None:
                    times = _times(command, folder)
                    target = DRAWN if name in COMPILED else Target()
                    said = f"{name} export of {family}"
                    yield Row(f"10^{POWER} draws, {said}", RAW, times["draws"], times["read"], target)
                    yield Row(f"10^{POWER} reports, {said}", RAW, times["reports"], times["read"])


def _programs(folder: Path, table: Table, family: Mapping[str, Mapping[str, str]]) -> Mapping[str, list[str] | None]:
    """The commands that measure; None where a compiler is missing."""
    stem, name = plan_of(table.document).stem, f"Sampler_{table.sha256[:8]}"
    shared = {"count": str(10**POWER), "turns": str(TURNS), "stem": stem, "name": name}

    def filled(language: str, file: str, text: str) -> str:
        for place, value in (*family[language].items(), *shared.items()):
            text = text.replace(f"@{place}@", value)
        (folder / file).write_text(text)
        return file

    def source(file: str) -> str:
        return (folder / file).read_text()

    last = "    static long drawn() {\n        return @drawn@;\n    }\n}\n"
    filled("Java", f"{name}.java", source(f"{name}.java").rstrip().removesuffix("}") + last)
    java = ["javac", filled("Java", "Bench.java", JAVA), f"{name}.java"]
    rust = filled("Rust", "b.rs", source(f"{stem}.rs") + RUST)
    return {
        "C": _built(["gcc", "-O2", "-w", filled("C", "b.c", C), "-pthread", "-o", "b_c"], folder, "./b_c"),
        "Rust": _built(
            ["rustc", "--edition", "2021", "-A", "warnings", "-O", rust, "-o", "b_rust"], folder, "./b_rust"
        ),
        "Java": _built(java, folder, "java", "Bench"),
        "JavaScript": ["node", filled("JavaScript", "b.mjs", source(f"{stem}.mjs") + JAVASCRIPT)]
        if shutil.which("node")
        else None,
        "Python": [sys.executable, filled("Python", "b.py", source(f"{stem}.py") + PYTHON)],
    }


def _built(command: list[str], folder: Path, *program: str) -> list[str] | None:
    if shutil.which(command[0]) is None:
        return None
    subprocess.run(command, cwd=folder, check=True)
    return list(program)


def _times(command: list[str], folder: Path) -> dict[str, Measured]:
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    turns = [json.loads(line) for line in said.splitlines()]
    return {name: Measured(statistics.median(turn[name] for turn in turns)) for name in turns[0]}
