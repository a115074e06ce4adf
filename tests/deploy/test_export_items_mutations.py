"""Samplers of tables of items in which one number of the text was changed: the test vectors notice.

A mutant differs from an exported source in one whole number: a count of the table, or one that stands in the rule
(where bytes come from is left alone: vectors bring their own). It is *caught* if it does not compile, fails, or answers
one of the vectors differently. One that is not caught is asked 3000 other cases: random bytes, and draws up to 3 from
every boundary of the law, for other items. If it answers them all as the table's rule does it is *the same*: a wider
mask, 59 bits for 53 in a count of bytes, 5 for 1 modulo 4. Else it is *missed*. None may be missed, so none that breaks
epsilon.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mechdesign.deploy import Table, fixed_stream, make_table, test_vectors
from mechdesign.deploy.boundaries import boundary_cases
from mechdesign.deploy.export import c, duckdb, java, javascript, postgresql as postgresql_sources, python, rust
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import Vector, lines, vectors_of
from mechdesign.deploy.kinds import Case, Encoding, ItemsLaw
from mechdesign.deploy.reference import rule

SEED = 18
OPTIONS: dict[str, dict[str, Any]] = {
    "response": {},
    "unary": {"form": "symmetric"},
    "hashing": {"hashes": 5},
    "subset": {"subset": 4},
    "hadamard": {"blocks": 2},
    "sketch": {"functions": 512, "buckets": 20},
}
KINDS = tuple(OPTIONS)
SIZE, BITS, EPSILON = 9, 53, 1.0


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {kind: make_table(Encoding(kind, EPSILON, SIZE, kind, OPTIONS[kind]), BITS) for kind in KINDS}


def cases_of(table: Table) -> list[Vector]:
    return [*vectors_of(test_vectors(table, 20)), *refusals(plan_of(table.document).inputs)]


# -- changes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """A source with one number changed, and the line where it stands, as it was."""

    text: str
    line: str
    value: int


@dataclass(frozen=True)
class Syntax:
    """What hides numbers in a source: comments and texts, the lines before ``first``, and where bytes come from."""

    first: str
    comments: re.Pattern[str]
    bytes_from: re.Pattern[str]


SLASHES = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)
HASHES = re.compile(r"\"\"\".*?\"\"\"|\"[^\"\n]*\"|#[^\n]*", re.DOTALL)
DASHES = re.compile(r"--[^\n]*|'[^'\n]*'")
NOTHING = re.compile(r"\Z(?!\Z)")
SYNTAXES = {
    "python": Syntax("REPORT_BYTES = ", HASHES, re.compile(r"class NoRandomness.*?(?=def drawn)", re.DOTALL)),
    "javascript": Syntax(
        "export const REPORT_BYTES", SLASHES, re.compile(r"const POOL = .*?\nfunction osRandom.*?\n}\n", re.DOTALL)
    ),
    "c": Syntax("_REPORT_BYTES = ", SLASHES, NOTHING),
    "rust": Syntax("pub const REPORT_BYTES", SLASHES, NOTHING),
    "java": Syntax(
        "static final int REPORT_BYTES", SLASHES, re.compile(r"private static final ThreadLocal.*?\n    }\n", re.DOTALL)
    ),
    "sql": Syntax("CREATE OR REPLACE", DASHES, NOTHING),
}


def values_near(value: int) -> list[int]:
    """Others: by some, by a thousandth to a half, nothing, and twice as much."""
    steps = (1, 2, 3, 4, 5, value // 1000, value // 8, value // 2)
    found = [0, 2 * value + 2, *(other for by in steps for other in (value + by, value - by))]
    return [other for other in dict.fromkeys(found) if other >= 0 and other != value]


def mutants(text: str, language: str, count: int) -> list[Mutant]:
    """So many, drawn at random, each with one number changed."""
    syntax = SYNTAXES[language]
    blank = text
    for pattern in (syntax.bytes_from, syntax.comments):
        blank = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), blank)
    found = []
    for match in re.finditer(r"(?<![\w.])\d+", blank[blank.index(syntax.first) :]):
        start, end = (place + blank.index(syntax.first) for place in match.span())
        line = text[text.rindex("\n", 0, start) + 1 : text.index("\n", end)].strip()
        if blank[end] in "xu":  # a mask in base 16, or a type
            continue
        changed = values_near(int(match[0]))
        found += [Mutant(f"{text[:start]}{value}{text[end:]}", line, value) for value in changed]
    assert len(found) > 50
    return random.Random(SEED).sample(found, min(count, len(found)))


MUTANTS, OF_A_KIND = 1000, 230
"""So many of all kinds together at least, and of one at most."""


MISSED, SAME = 1, 2


def law_of(table: Table) -> ItemsLaw:
    assert isinstance(table.law, ItemsLaw)
    return table.law


def judging(table: Table, count: int = 3000) -> list[Vector]:
    """Other cases than the vectors, and what the table's rule answers."""
    rng, law, near = random.Random(SEED), law_of(table), boundary_cases(table)
    found: list[Vector] = []
    while len(found) < count:
        case = rng.choice(near)
        x, draws = rng.choice((int(case.x), rng.randrange(law.count))), Case(0, ()).draws
        if len(found) % 4:
            draws = tuple((width, _moved(width, number, rng)) for width, number in case.draws)
        content = Case(x, draws).stream + rng.randbytes(law.least_bytes + 64)
        stream = fixed_stream(content)
        y = rule(table)(x, stream)
        found.append(Vector(x, content, stream.used, y))
    return [*found, *(Vector(x, bytes(64), 0, None) for x in (-2, law.count + 1, 2 * law.count, (1 << 31) - 1))]


def _moved(width: int, number: int, rng: random.Random) -> int:
    if width == 64:
        return rng.getrandbits(64)
    return min(max(number + rng.randint(-3, 3), 0), (1 << width) - 1)


def assert_caught(tried: Mapping[str, Iterable[tuple[Mutant, int]]], least: int) -> None:
    """All that are not the same; and most are not the same."""
    found = {kind: [(mutant.line, mutant.value) for mutant, v in pairs if v == MISSED] for kind, pairs in tried.items()}
    assert found == {kind: [] for kind in tried}
    verdicts = [verdict for pairs in tried.values() for _, verdict in pairs]
    assert len(verdicts) >= least
    assert verdicts.count(SAME) < len(verdicts) / 3


# -- Python ------------------------------------------------------------------------------------------------------------


def passes_in_python(source: str, vectors: Iterable[Vector], size: int) -> bool:
    names: dict[str, Any] = {"__name__": "sampler"}
    try:
        exec(compile(source, "sampler", "exec"), names)  # the source of a sampler of ours
        for vector in vectors:
            stream = io.BytesIO(vector.stream)
            try:
                y = names["sample"](vector.x, stream.read)
            except ValueError:
                y = None
            if y != vector.y or (y is not None and stream.tell() != vector.used):
                return False
    except Exception:
        return False
    return bool(names["REPORT_BYTES"] == size)


def test_numbers_changed_in_python_are_noticed(tables: dict[str, Table]) -> None:
    tried = {}
    for kind, table in tables.items():
        text, vectors, others = python.module(plan_of(table.document)), cases_of(table), judging(table)
        size = law_of(table).report_bytes

        def verdict(source: str, vectors: Any = vectors, others: Any = others, size: int = size) -> int:
            if not passes_in_python(source, vectors, size):
                return 0
            return SAME if passes_in_python(source, others, size) else MISSED

        assert verdict(text) == SAME
        tried[kind] = [(mutant, verdict(mutant.text)) for mutant in mutants(text, "python", OF_A_KIND)]
    assert_caught(tried, MUTANTS)


# -- JavaScript --------------------------------------------------------------------------------------------------------

NODE = """import { readFileSync } from "node:fs";
import vm from "node:vm";
const said = [];
for (const { texts, lines, others, size } of JSON.parse(readFileSync(0, "utf8"))) {
  const [first, second] = [lines, others].map((rows) => rows.map((row) => row.split(" ")).map(
    ([item, stream, used, expected]) => (
      { item: Number(item), bytes: Uint8Array.from(Buffer.from(stream, "hex")), used: Number(used), expected })));
  const passes = (sample, cases) => cases.every(({ item, bytes, used, expected }) => {
    let place = 0;
    const fill = (target) => {
      if (place + target.length > bytes.length) throw new Error("no bytes left");
      target.set(bytes.subarray(place, place + target.length));
      place += target.length;
    };
    try {
      return Buffer.from(sample(item, fill)).toString("hex") === expected && place === used;
    } catch (error) {
      return error instanceof RangeError && error.message.startsWith("the item") && expected === "error";
    }
  });
  globalThis.verdict = (sample, length) =>
    length === size && passes(sample, first) ? (passes(sample, second) ? 2 : 1) : 0;
  said.push(texts.map((text) => {
    try {
      const script = `"use strict"; ${text.replaceAll("export ", "")}; return verdict(sample, REPORT_BYTES);`;
      return vm.runInThisContext(`(() => { ${script} })()`, { timeout: 1000 });
    } catch {
      return 0;
    }
  }));
}
console.log(JSON.stringify(said));
"""


def judged(drawn: Mapping[str, list[Mutant]], said: Mapping[str, list[int]]) -> dict[str, list[tuple[Mutant, int]]]:
    """The verdicts on mutants. The first of a kind is that on the source as it is."""
    assert [verdicts[0] for verdicts in said.values()] == [SAME] * len(said)
    return {kind: list(zip(drawn[kind], said[kind][1:], strict=True)) for kind in drawn}


def test_numbers_changed_in_javascript_are_noticed(tables: dict[str, Table], tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    drawn, given = {}, []
    for kind, table in tables.items():
        plan = plan_of(table.document)
        text = javascript.sources(plan)[f"{plan.stem}.mjs"]
        drawn[kind] = mutants(text, "javascript", OF_A_KIND)
        rows, others = (lines(v, table.sha256).splitlines()[2:] for v in (cases_of(table), judging(table)))
        texts = [text, *(mutant.text for mutant in drawn[kind])]
        given.append({"texts": texts, "lines": rows, "others": others, "size": law_of(table).report_bytes})
    (tmp_path / "judge.mjs").write_text(NODE)
    done = subprocess.run(
        ["node", "judge.mjs"], cwd=tmp_path, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    said = dict(zip(drawn, json.loads(done.stdout), strict=True))
    assert_caught(judged(drawn, said), MUTANTS)


# -- compiled languages: all mutants in one program --------------------------------------------------------------------


def sources_of(
    tables: Mapping[str, Table], texts: Mapping[str, str], language: str, most: int, folder: Path
) -> tuple[dict[str, list[Mutant]], dict[str, str]]:
    """The mutants of each kind, and the texts by the names of mutants. Their vectors are written into the folder."""
    drawn: dict[str, list[Mutant]] = {}
    named: dict[str, str] = {}
    for kind, table in tables.items():
        for name, vectors in (("vectors", cases_of(table)), ("others", judging(table))):
            (folder / f"{kind}.{name}").write_text(lines(vectors, table.sha256))
        drawn[kind] = mutants(texts[kind], language, most)
        every = [texts[kind], *(mutant.text for mutant in drawn[kind])]
        named |= {f"{kind}_{i}": text for i, text in enumerate(every)}
    return drawn, named


def run_of_those_that_compile(
    named: Mapping[str, str],
    write: Callable[[list[str]], None],
    build: list[str],
    start: list[str],
    folder: Path,
) -> dict[str, int]:
    """The verdicts on mutants; 0 on those that do not compile, which messages name by their files."""
    kept = list(named)
    for _ in range(6):  # a compiler may see some errors only when there are no others
        write(kept)
        done = subprocess.run(build, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            break
        wrong = set(re.findall(r"\b([a-z]+_\d+)\.(?:inc|rs|java)\b", done.stderr))
        assert wrong & set(kept), done.stderr[:2000]
        kept = [name for name in kept if name not in wrong]
    said = subprocess.run(start, cwd=folder, capture_output=True, text=True, timeout=300, check=True).stdout
    found = {line.split()[0]: int(line.split()[1]) for line in said.splitlines()}
    assert list(found) == kept
    return {name: found.get(name, 0) for name in named}


def assert_all_caught(drawn: Mapping[str, list[Mutant]], found: Mapping[str, int], least: int) -> None:
    said = {kind: [found[f"{kind}_{i}"] for i in range(len(drawn[kind]) + 1)] for kind in drawn}
    assert_caught(judged(drawn, said), least)


C_JUDGE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { long long item; unsigned char *bytes, *report; size_t length, used, size; int refused; } vector;
typedef struct { const unsigned char *bytes; size_t place, length; } reader;
typedef int (*sampler)(int64_t, int (*)(void *, unsigned char *, size_t), void *, unsigned char *);
typedef struct { const char *name, *kind; sampler draw; size_t size; } mutant;

static char line[1 << 16], stream[1 << 16], expected[1 << 12];
static vector cases[2][20000];
static int counts[2];

static int next_bytes(void *state, unsigned char *bytes, size_t count) {
    reader *from = (reader *)state;
    if (from->place + count > from->length) return -1;
    memcpy(bytes, from->bytes + from->place, count);
    from->place += count;
    return 0;
}

static unsigned char *read_hex(const char *text, size_t *length) {
    size_t i;
    unsigned char *bytes = malloc(1 + (*length = strlen(text) / 2));
    for (i = 0; i < *length; i++) sscanf(text + 2 * i, "%2hhx", &bytes[i]);
    return bytes;
}

static void load(const char *kind, const char *what, int list) {
    char path[100];
    FILE *file;
    snprintf(path, sizeof path, "%s.%s", kind, what);
    file = fopen(path, "r");
    counts[list] = 0;
    while (fgets(line, sizeof line, file)) {
        vector *v = &cases[list][counts[list]];
        if (sscanf(line, "%lld %65535s %zu %4095s", &v->item, stream, &v->used, expected) != 4) continue;
        counts[list]++;
        v->bytes = read_hex(stream, &v->length);
        v->refused = !strcmp(expected, "error");
        v->report = v->refused ? NULL : read_hex(expected, &v->size);
    }
    fclose(file);
}

static int passes(const mutant *m, int list) {
    int i;
    for (i = 0; i < counts[list]; i++) {
        const vector *v = &cases[list][i];
        unsigned char report[1 << 16];
        reader from = {v->bytes, 0, v->length};
        int outcome = m->draw(v->item, next_bytes, &from, report);
        if ((outcome == 1) != v->refused) return 0;
        if (v->refused) continue;
        if (outcome || m->size != v->size || memcmp(report, v->report, v->size) || from.place != v->used) return 0;
    }
    return 1;
}

@parts@
static const mutant mutants[] = {
@rows@};

int main(void) {
    const char *kind = "";
    size_t i;
    for (i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        const mutant *m = &mutants[i];
        const struct itimerval most = {{0, 0}, {0, 300000}};
        int status;
        if (strcmp(kind, m->kind)) {
            load(kind = m->kind, "vectors", 0);
            load(kind, "others", 1);
        }
        fflush(stdout);
        if (fork() == 0) {
            setitimer(ITIMER_VIRTUAL, &most, NULL);
            _exit(passes(m, 0) ? passes(m, 1) ? 2 : 1 : 0);
        }
        wait(&status);
        printf("%s %d\n", m->name, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    }
    return 0;
}
"""
C_NAMES = re.compile(
    r"\b(BITS|SIZE|COUNT|\w*REPORT_BYTES|OWN|OTHER|GROUPS|SUBSET|BLOCKS|PLACE_BITS|WIDTH|AT_ONCE|source|fill|number|"
    r"draw|write_number|choose|coins|below|rotated|hashed|sampler_\w+_from)\b"
)


def test_numbers_changed_in_c_are_noticed(tables: dict[str, Table], tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    texts, shared = {}, []
    for kind, table in tables.items():
        stem = plan_of(table.document).stem
        files = c.sources(plan_of(table.document))
        outcomes, size = re.findall(r"^enum \{ .* \};$", files[f"{stem}.h"], re.MULTILINE)
        text = files[f"{stem}.c"]
        end = "_OK;\n}\n"
        texts[kind] = f"\n{size}\n{text[text.index('enum { BITS') : text.index(end) + len(end)]}"
        shared.append(outcomes)
    drawn, named = sources_of(tables, texts, "c", OF_A_KIND, tmp_path)
    stems = {kind: plan_of(table.document).stem for kind, table in tables.items()}
    for name, text in named.items():
        (tmp_path / f"{name}.inc").write_text(C_NAMES.sub(rf"\1_{name}", text))

    def write(kept: list[str]) -> None:
        parts = "\n".join([*shared, *(f'#include "{name}.inc"' for name in kept)])
        rows = "".join(
            f'    {{"{name}", "{kind}", {stems[kind]}_from_{name}, {stems[kind].upper()}_REPORT_BYTES_{name}}},\n'
            for name, kind in ((name, name.split("_")[0]) for name in kept)
        )
        (tmp_path / "judge.c").write_text(C_JUDGE.replace("@parts@", parts).replace("@rows@", rows))

    build = ["gcc", "-O0", "-w", "-ftrapv", "judge.c", "-o", "judge"]
    found = run_of_those_that_compile(named, write, build, ["./judge"], tmp_path)
    assert_all_caught(drawn, found, MUTANTS)


# -- Rust, whose modules packages for WebAssembly hold -----------------------------------------------------------------

RUST_JUDGE = r"""
type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> bool;
type Draw = fn(u64, Fill) -> Option<Option<Vec<u8>>>;

fn passes(draw: Draw, lines: &str) -> bool {
    lines.lines().filter(|line| !line.starts_with('#')).all(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let stream = fields[1].as_bytes();
        let mut place = 0;
        let digit = |byte: u8| if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 };
        let mut fill = |bytes: &mut [u8]| {
            for byte in bytes {
                if 2 * place >= stream.len() {
                    return false;
                }
                *byte = 16 * digit(stream[2 * place]) + digit(stream[2 * place + 1]);
                place += 1;
            }
            true
        };
        let item = fields[0].parse::<i64>().unwrap() as u64;
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| draw(item, &mut fill))) {
            Err(_) | Ok(None) => false,
            Ok(Some(None)) => fields[3] == "error",
            Ok(Some(Some(y))) => {
                let text: String = y.iter().map(|byte| format!("{byte:02x}")).collect();
                fields[3] == text && place == fields[2].parse().unwrap()
            }
        }
    })
}

fn judge(name: &str, draw: Draw, first: &str, second: &str) {
    println!("{name} {}", if !passes(draw, first) { 0 } else { 1 + i32::from(passes(draw, second)) });
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
"""
RUST_DRAW = """
pub fn tried(item: u64, fill: &mut dyn FnMut(&mut [u8]) -> bool) -> Option<Option<Vec<u8>>> {
    match sample_from(item, &mut |bytes| if fill(bytes) { Ok(()) } else { Err(Error::NoRandomness) }) {
        Ok(y) => Some(Some(y.to_vec())),
        Err(Error::BadInput) => Some(None),
        Err(Error::NoRandomness) => None,
    }
}
"""


@pytest.mark.slow
def test_numbers_changed_in_rust_are_noticed(tables: dict[str, Table], tmp_path: Path) -> None:
    """Of every kind 60: the compiler is slow."""
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    of_the_system, texts = r"#\[cfg\(any\(unix, windows\)\)\]\n(mod|pub fn) .*?\n}\n", {}
    for kind, table in tables.items():
        plan = plan_of(table.document)
        texts[kind] = re.sub(of_the_system, "", rust.sources(plan)[f"{plan.stem}.rs"], flags=re.DOTALL)
    drawn, named = sources_of(tables, texts, "rust", 60, tmp_path)
    for name, text in named.items():
        (tmp_path / f"{name}.rs").write_text(text + RUST_DRAW)

    def write(kept: list[str]) -> None:
        modules = "".join(f"mod {name};\n" for name in kept)
        calls = "".join(
            f'    judge("{name}", {name}::tried, include_str!("{kind}.vectors"), include_str!("{kind}.others"));\n'
            for name, kind in ((name, name.split("_")[0]) for name in kept)
        )
        (tmp_path / "main.rs").write_text(f"{modules}{RUST_JUDGE}{calls}}}\n")

    build = ["rustc", "--edition", "2021", "--cap-lints", "allow", "-C", "overflow-checks=off", "-C", "debuginfo=0"]
    found = run_of_those_that_compile(named, write, [*build, "main.rs", "-o", "judge"], ["./judge"], tmp_path)
    assert_all_caught(drawn, found, 300)


# -- Java, whose classes packages for Kotlin hold ----------------------------------------------------------------------

JAVA_JUDGE = r"""
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

interface Source { void fill(byte[] bytes); }

final class NoBytes extends RuntimeException {}

public final class Judge {
    static byte[] bytes(String digits) {
        byte[] found = new byte[digits.length() / 2];
        for (int i = 0; i < found.length; i++)
            found[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return found;
    }

    static List<Object[]> load(String path) throws Exception {
        List<Object[]> found = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(path))) {
            if (line.startsWith("#")) continue;
            String[] fields = line.split(" ");
            byte[] report = fields[3].equals("error") ? null : bytes(fields[3]);
            found.add(new Object[] {Integer.valueOf(fields[0]), bytes(fields[1]), Integer.valueOf(fields[2]), report});
        }
        return found;
    }

    static boolean passes(Method sample, List<Object[]> cases) {
        for (Object[] one : cases) {
            byte[] stream = (byte[]) one[1], report = (byte[]) one[3];
            int[] place = {0};
            Source source = to -> {
                if (place[0] + to.length > stream.length) throw new NoBytes();
                System.arraycopy(stream, place[0], to, 0, to.length);
                place[0] += to.length;
            };
            try {
                byte[] y = (byte[]) sample.invoke(null, one[0], source);
                if (!java.util.Arrays.equals(y, report) || place[0] != (int) one[2]) return false;
            } catch (InvocationTargetException error) {
                if (!(error.getCause() instanceof IllegalArgumentException) || report != null) return false;
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }
        return true;
    }

    public static void main(String[] names) throws Exception {
        List<Object[]> first = null, second = null;
        String kind = "";
        for (String name : Files.readAllLines(Path.of("kept"))) {
            if (!kind.equals(name.split("_")[0])) {
                kind = name.split("_")[0];
                first = load(kind + ".vectors");
                second = load(kind + ".others");
            }
            Method sample = Class.forName(name).getDeclaredMethod("sample", int.class, Source.class);
            sample.setAccessible(true);
            int[] verdict = {0};
            List<Object[]> some = first, others = second;
            Thread judge = new Thread(() -> {
                verdict[0] = !passes(sample, some) ? 0 : passes(sample, others) ? 2 : 1;
            });
            judge.setDaemon(true);
            judge.start();
            judge.join(5000);
            System.out.println(name + " " + verdict[0]);
        }
        System.exit(0);
    }
}
"""


@pytest.mark.slow
def test_numbers_changed_in_java_are_noticed(tables: dict[str, Table], tmp_path: Path) -> None:
    for tool in ("javac", "java"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    texts = {}
    for kind, table in tables.items():
        text = java.in_package(plan_of(table.document), "mutants", "Mutant")
        text = re.sub(r"package .*?public final class", "final class", text, flags=re.DOTALL)
        text = re.sub(r"    public interface Source \{.*?\n    }\n", "", text, flags=re.DOTALL)
        text = SYNTAXES["java"].bytes_from.sub("", text)
        texts[kind] = re.sub(r"    public static byte\[\] sample\(int item\) \{.*?\n    }\n", "", text, flags=re.DOTALL)
    drawn, named = sources_of(tables, texts, "java", OF_A_KIND, tmp_path)
    for name, text in named.items():
        (tmp_path / f"{name}.java").write_text(text.replace("Mutant", name))
    (tmp_path / "Judge.java").write_text(JAVA_JUDGE)

    def write(kept: list[str]) -> None:
        (tmp_path / "kept").write_text("\n".join(kept))
        (tmp_path / "sources").write_text("\n".join(["Judge.java", *(f"{name}.java" for name in kept)]))

    build = ["javac", "-nowarn", "-proc:none", "-Xmaxerrs", "9999", "@sources"]
    found = run_of_those_that_compile(named, write, build, ["java", "Judge"], tmp_path)
    assert_all_caught(drawn, found, MUTANTS)


# -- databases ---------------------------------------------------------------------------------------------------------


def sql_texts(module: Any, plan: Plan, vectors: Iterable[Vector]) -> tuple[str, str]:
    """The sampler, and what replays vectors."""
    texts = {path: text for path, text in module.sources(plan, list(vectors)).items() if path.endswith(".sql")}
    (replay,) = (texts.pop(path) for path in list(texts) if "replay" in path)
    (sampler,) = texts.values()
    return sampler, replay


def few(vectors: list[Vector], most: int) -> list[Vector]:
    """At most so many, evenly."""
    return [vectors[i * len(vectors) // most] for i in range(most)] if len(vectors) > most else vectors


@pytest.mark.slow
def test_numbers_changed_in_duckdb_are_noticed(tables: dict[str, Table]) -> None:
    """Of every kind 12: an engine reads each text anew."""
    engine = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")

    def passes(connection: Any, texts: Iterable[str]) -> bool:
        try:
            return bool([connection.execute(text).fetchall() for text in texts][-1][0][0].startswith("PASS "))
        except engine.Error:
            return False

    drawn: dict[str, list[Mutant]] = {}
    said: dict[str, list[int]] = {}
    for kind, table in tables.items():
        plan = plan_of(table.document)
        sampler, first = sql_texts(duckdb, plan, cases_of(table))
        _, second = sql_texts(duckdb, plan, few(judging(table), 300))
        drawn[kind], said[kind] = mutants(sampler, "sql", 12), []
        for text in [sampler, *(mutant.text for mutant in drawn[kind])]:
            with engine.connect(config={"threads": 1}) as connection:
                caught = not passes(connection, (text, first))
                said[kind].append(0 if caught else MISSED + passes(connection, (second,)))
    assert_caught(judged(drawn, said), 60)


@pytest.mark.slow
def test_numbers_changed_in_postgresql_are_noticed(tables: dict[str, Table], postgresql: Any) -> None:
    """Of every kind 15, each under a name of its own, so that none answers for another."""
    drawn: dict[str, list[Mutant]] = {}
    said: dict[str, list[int]] = {}
    for kind, table in tables.items():
        plan = plan_of(table.document)
        sampler, first = sql_texts(postgresql_sources, plan, cases_of(table))
        _, second = sql_texts(postgresql_sources, plan, few(judging(table), 300))
        drawn[kind] = mutants(sampler, "sql", 15)
        parts = ["\\set ON_ERROR_STOP 0", "SET statement_timeout = '5s';"]
        for i, text in enumerate([sampler, *(mutant.text for mutant in drawn[kind])]):
            loaded, *replays = (one.replace(plan.stem, f"m{i}_{plan.stem}") for one in (text, first, second))
            parts += [loaded, "ROLLBACK;", *(f"{replay}\\echo said :ERROR" for replay in replays)]
        answers = re.findall("^said (true|false)$", postgresql.query("\n".join(parts)), re.MULTILINE)
        said[kind] = [
            0 if first == "true" else MISSED + (second == "false")
            for first, second in zip(answers[::2], answers[1::2], strict=True)
        ]
    assert_caught(judged(drawn, said), 60)
