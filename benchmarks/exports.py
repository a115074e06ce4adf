"""Draws of runtimes beside one bulk read of the operating system, by the clock of the process.

A draw is the 4 bytes of a report, taken from the runtime's block, put together and erased; a report is a draw and the
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
from collections.abc import Iterator
from pathlib import Path

import mechdesign as md
from benchmarks.clock import Measured
from benchmarks.rows import Row, Target
from mechdesign.tables import Table, export_table, make_table
from mechdesign.words.domains import Finite

POWER = 6
TURNS = 7
DRAWN = Target(ratio=1.5)
RAW = f"one read of 4 x 10^{POWER} bytes"

C = """
#define _GNU_SOURCE
#include "@stem@.c"
#include <stdio.h>
#include <time.h>

enum { MANY = 1000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    long i, count = @count@;
    unsigned char *bytes = malloc(4 * (size_t)count), *own;
    mdp_table *table;
    static unsigned char reports[8 * MANY];
    static double inputs[MANY];
    int turn;
    double sum = 1;
    for (i = 0; i < MANY; i++) inputs[i] = 1;
    if (mdp_table_read(@stem@_table_json, @stem@_table_length, &table)) return 1;
    for (turn = 0; turn < @turns@; turn++) {
        double start = now(), read, drawn, reported;
        if (mdp_system(NULL, bytes, 4 * (size_t)count)) return 1;
        read = now();
        for (i = 0; i < count; i++) {
            uint32_t number;
            if ((own = mdp_allot(4)) == NULL) return 1;
            memcpy(&number, own, 4);
            memset(own, 0, 4);
            sum += number;
        }
        drawn = now();
        for (i = 0; i < count; i += MANY) {
            if (mdp_sample_codes(table, inputs, MANY, NULL, NULL, reports)) return 1;
            sum += reports[0];
        }
        reported = now();
        printf("{\\"read\\": %g, \\"draws\\": %g, \\"reports\\": %g}\\n", read - start, drawn - read, reported - drawn);
    }
    return sum == 0;
}
"""
RUST = """
fn now() -> f64 {
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0i64; 2];
    unsafe { clock_gettime(2, &mut time) };
    time[0] as f64 + 1e-9 * time[1] as f64
}

fn main() {
    let count = @count@;
    let mut bytes = vec![0u8; 4 * count];
    let mut sum = 1.0;
    let inputs = [1.0; 1000];
    let mut reports = vec![0u8; TABLE.report_bytes() * inputs.len()];
    for _ in 0..@turns@ {
        let start = now();
        system::read(&mut bytes).unwrap();
        let read = now();
        for _ in 0..count {
            sum += system::with_block(|source| source.draw(32)).unwrap() as f64;
        }
        let drawn = now();
        for _ in 0..count / inputs.len() {
            TABLE.sample_codes(&inputs, &mut reports).unwrap();
            sum += f64::from(reports[0]);
        }
        let reported = now();
        let (draws, reports) = (drawn - read, reported - drawn);
        println!("{{\\"read\\": {}, \\"draws\\": {draws}, \\"reports\\": {reports}}}", read - start);
    }
    assert!(sum != 0.0);
}
"""
JAVA = """
package mechdesign.runtime;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

public final class Bench {
  static double now() {
    return 1e-9 * ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  static long drawn() {
    RandomBytes from = RandomBytes.system();
    from.allot(4);
    long number = from.draw(32);
    from.release();
    return number;
  }

  public static void main(String[] arguments) throws Exception {
    Table table = Table.read(Files.readString(Path.of("table.json")));
    byte[] bytes = new byte[4 * @count@];
    java.security.SecureRandom system = new java.security.SecureRandom();
    double sum = 0;
    for (int turn = 0; turn < @turns@; turn++) {
      double start = now();
      system.nextBytes(bytes);
      double read = now();
      for (int i = 0; i < @count@; i++) sum += drawn();
      double drawn = now();
      for (int i = 0; i < @count@; i++) sum += table.report(@input@).hashCode();
      double reported = now();
      System.out.printf(java.util.Locale.ROOT, "{\\"read\\": %g, \\"draws\\": %g, \\"reports\\": %g}%n",
          read - start, drawn - read, reported - drawn);
    }
    if (sum == 0) throw new IllegalStateException();
  }
}
"""
JAVASCRIPT = """
const seconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const bytes = new Uint8Array(4 * @count@);
for (let turn = 0; turn < @turns@; turn++) {
  const start = seconds();
  for (let i = 0; i < bytes.length; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  const read = seconds();
  for (let i = 0; i < @count@; i++) draw(32, allotted(4));
  const drawn = seconds();
  for (let i = 0; i < @count@; i++) sample(1);
  console.log(JSON.stringify({ read: read - start, draws: drawn - read, reports: seconds() - drawn }));
}
"""
PYTHON = """
import time
pool = Pool(4)
for turn in range(@turns@):
    start = time.process_time()
    os.urandom(4 * @count@)
    read = time.process_time()
    for _ in range(@count@):
        draw(32, pool.reader())
    middle = time.process_time()
    for _ in range(@count@):
        sample(1)
    print(json.dumps({"read": read - start, "draws": middle - read, "reports": time.process_time() - middle}))
"""
COMPILED = ("C", "Rust", "Java")


def rows() -> Iterator[Row]:
    """Compiled runtimes have the target; of interpreters only what it costs is of interest."""
    tables = {
        "numbers": make_table(md.catalogue.randomised_response(1.0, Finite((0, 1, 2))), 32),
        "items": md.frequencies.protocol_table("grr", 1.0, 3),
    }
    for family, table in tables.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for language in ("c", "rust", "java", "javascript", "python"):
                export_table(table, language, folder, cases=0)
            for name, command in _programs(folder, table, "1.0" if family == "numbers" else "1").items():
                if command is not None:
                    times = _times(command, folder)
                    target = DRAWN if name in COMPILED else Target()
                    said = f"{name} runtime, {family}"
                    yield Row(f"10^{POWER} draws, {said}", RAW, times["draws"], times["read"], target)
                    yield Row(f"10^{POWER} reports, {said}", RAW, times["reports"], times["read"])


def _programs(folder: Path, table: Table, given: str) -> dict[str, list[str] | None]:
    """The commands that measure; None where a compiler is missing."""
    stem = f"sampler_{table.sha256[:8]}"
    places = {"count": str(10**POWER), "turns": str(TURNS), "stem": stem, "input": given}

    def filled(file: str, text: str) -> str:
        for place, value in places.items():
            text = text.replace(f"@{place}@", value)
        (folder / file).write_text(text)
        return file

    def source(ending: str) -> str:
        return (folder / f"{stem}.{ending}").read_text()

    rustc = [
        "rustc",
        "--edition",
        "2021",
        "-A",
        "warnings",
        "-O",
        "-C",
        "codegen-units=1",
    ]  # as manifests of packages say
    rust = [*rustc, filled("b.rs", source("rs") + RUST), "-o", "b_rust"]
    (folder / "table.json").write_bytes(table.content)
    java = ["javac", "-d", ".", filled("mechdesign/runtime/Bench.java", JAVA)]
    return {
        "C": _built(["gcc", "-O2", "-w", filled("b.c", C), "-pthread", "-o", "b_c"], folder, "./b_c"),
        "Rust": _built(rust, folder, "./b_rust"),
        "Java": _built(java, folder, "java", "mechdesign.runtime.Bench"),
        "JavaScript": ["node", filled("b.mjs", source("mjs") + JAVASCRIPT)] if shutil.which("node") else None,
        "Python": [sys.executable, filled("b.py", source("py") + PYTHON)],
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
