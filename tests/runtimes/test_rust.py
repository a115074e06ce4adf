"""The Rust runtime by Rust's own tools: its tests, its law, where its randomness is from, and what its packages are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, load_table, make_table
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.edges import rust
from mechdesign.tables.export.folder import export_package
from mechdesign.tables.export.package import Member
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.reports.collection import Attribute, Collection, Spending
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.sampler import sample_codes
from mechdesign.words.domains import Finite

RUNTIME = FOLDER.parent / "rust"
DRAWS = 20_000
LABELS = Labels(("no", "rather $not", "\u00fc\U0001f600"), ("n", "r", "y"))
STRICT = "-D warnings"


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path, **more: str) -> str:
    """What a command prints; one that fails is an error with all of it."""
    environment = {**os.environ, **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One folder for all that cargo compiles, outside of the sources."""
    return {"CARGO_TARGET_DIR": str(tmp_path_factory.mktemp("target")), "RUSTFLAGS": STRICT, "CARGO_INCREMENTAL": "0"}


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it stands, where cargo may write."""
    folder = tmp_path_factory.mktemp("native")
    shutil.copytree(RUNTIME, folder / "rust", ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    shutil.copytree(FOLDER, folder / "vectors")
    return folder / "rust"


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {
        "smokes": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1))), 32, labels=LABELS),
        "age": make_table(catalogue.pm(1.0), 32),
        "pets": protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")),
    }


# -- the project -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_its_own_tests_pass(native: Path, build: dict[str, str]) -> None:
    needs("cargo", "rustc")
    assert "test result: ok. 10 passed; 0 failed" in run(["cargo", "test", "--offline"], native, **build)
    bare = run(["cargo", "test", "--offline", "--no-default-features"], native, **build)
    assert "test result: ok. 9 passed; 0 failed" in bare


@pytest.mark.slow
def test_it_pleases_its_formatter_and_its_linter(native: Path, build: dict[str, str]) -> None:
    needs("cargo", "cargo-clippy", "rustfmt")
    run(["cargo", "fmt", "--check"], native)
    for features in ("--all-features", "--no-default-features"):
        run(["cargo", "clippy", "-q", "--offline", "--all-targets", features, "--", "-D", "warnings"], native, **build)


@pytest.mark.slow
def test_the_replay_program_passes_vectors_and_names_the_case_that_fails(
    native: Path, build: dict[str, str], tmp_path: Path
) -> None:
    needs("cargo", "rustc")
    run(["cargo", "build", "--offline", "--features", "replay", "--example", "replay"], native, **build)
    program = str(Path(build["CARGO_TARGET_DIR"]) / "debug" / "examples" / "replay")
    files = [str(FOLDER / name) for name in ("labels.json", "labels_again.json", "labels_device.json")]
    for name in ("labels.txt", "labels_envelopes.txt", "labels_device.txt", "labels_device_envelopes.txt"):
        cases = sum(not line.startswith("#") for line in (FOLDER / name).read_text().splitlines())
        assert run([program, str(FOLDER / name), *files], tmp_path) == f"PASS {cases}\n"
    lines = (FOLDER / "labels.txt").read_text().splitlines()
    lines[4] = lines[5]
    lines[5] = lines[5][:-1] + "1"
    (tmp_path / "wrong.txt").write_text("\n".join(lines))
    for text, said in (("wrong.txt", "FAIL case 4\n"), ("empty.txt", "FAIL no cases\n")):
        if text == "empty.txt":
            (tmp_path / text).write_text(lines[0])
        done = subprocess.run([program, text, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, said)


# -- its law -----------------------------------------------------------------------------------------------------------

DRAWING = """
#[path = "@runtime@/src/lib.rs"]
#[allow(dead_code, unused_imports)]
mod runtime;

use runtime::{Report, Table};

fn main() {
    let said: Vec<String> = std::env::args().collect();
    let table = Table::read(std::fs::read(&said[1]).unwrap()).unwrap();
    for _ in 0..said[3].parse().unwrap() {
        match table.sample_code(said[2].parse::<f64>().unwrap()) {
            Ok(Report::Number(y)) => println!("{:016x}", y.to_bits()),
            Ok(Report::Bytes(y)) => println!("{}", y.iter().map(|b| format!("{b:02x}")).collect::<String>()),
            other => println!("{other:?}"),
        }
    }
}
"""


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that draws from a table's file for an input, so many times."""
    needs("rustc")
    folder = tmp_path_factory.mktemp("drawing")
    (folder / "main.rs").write_text(DRAWING.replace("@runtime@", str(RUNTIME)))
    run(["rustc", "--edition", "2021", "-O", "main.rs", "-o", "draw"], folder)
    return str(folder / "draw")


def grouped(reports: list[str], others: list[str]) -> list[list[int]]:
    """How often reports are in each of at most 40 groups, for both lists: groups are alike of the second."""
    order = sorted(set(reports) | set(others))
    counts, expected = Counter(reports), Counter(others)
    groups: list[list[int]] = []
    size = 0
    for report in order:
        if not groups or size >= len(others) / 40:
            groups.append([0, 0])
            size = 0
        groups[-1][0] += counts[report]
        groups[-1][1] += expected[report]
        size += expected[report]
    return [list(row) for row in zip(*groups, strict=True)]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.txt") if "_" not in path.stem))
def test_reports_follow_the_law_of_the_package(drawing: str, name: str, tmp_path: Path) -> None:
    """Chi-square of two samples, false alarms with probability 1e-7 each: n = 20000 against 50000 of the package's own
    sampler, which shares no code. A group of 1/40 whose mass is a quarter wrong is noticed."""
    table = load_table(FOLDER / f"{name}.json")
    domain = table.domain
    x = float(domain.points[1]) if isinstance(domain, Finite) else domain.lower + 0.3 * domain.length
    said = run([drawing, str(FOLDER / f"{name}.json"), repr(x), str(DRAWS)], tmp_path).split()
    drawn = np.asarray(sample_codes(table, np.full(50_000, x)))
    own = [row.tobytes().hex() for row in drawn] if drawn.ndim == 2 else [y.tobytes()[::-1].hex() for y in drawn]
    assert len(said) == DRAWS
    assert stats.chi2_contingency(grouped(said, own)).pvalue > 1e-7


# -- randomness --------------------------------------------------------------------------------------------------------


def single(table: Table, folder: Path) -> str:
    """The one file of a table, by the name of its module."""
    member = Member("table", table, (), Subject(table.sha256))
    for name, text in rust.single(member).items():
        (folder / name).write_text(text)
    return member.stem


@pytest.fixture(scope="module")
def table() -> Table:
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), 32)


MAIN = 'mod {stem};\n{more}fn main() {{\n    println!("{{:?}}", {stem}::TABLE.sample({x}));\n}}\n'
NONE = '#[no_mangle]\npub extern "C" fn getrandom(_: *mut u8, _: usize, _: u32) -> isize {\n    -1\n}\n'


@pytest.mark.parametrize("name", ["additive", "labels", "subset", "response", "window"])
def test_without_randomness_there_is_an_error_and_no_report(name: str, tmp_path: Path) -> None:
    needs("rustc")
    if sys.platform != "linux":
        pytest.skip("for Linux")
    table = load_table(FOLDER / f"{name}.json")
    stem = single(table, tmp_path)
    x = '"z"' if table.labels.inputs else "0"
    (tmp_path / "main.rs").write_text(MAIN.format(stem=stem, more=NONE, x=x))
    run(["rustc", "--edition", "2021", "-D", "warnings", "main.rs", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path) == "Err(NoRandomness)\n"


@pytest.mark.parametrize("edition", ["2021", "2024"])
def test_one_file_is_a_module_of_either_edition(table: Table, tmp_path: Path, edition: str) -> None:
    needs("rustc")
    library = ["--crate-type", "lib", "--emit", "metadata", f"{single(table, tmp_path)}.rs", "-o", "sampler.rmeta"]
    run(["rustc", "--edition", edition, "-D", "warnings", *library], tmp_path)


COMMON_CRYPTO = """
#include <stddef.h>
static int left = @left@;
int CCRandomGenerateBytes(void *bytes, size_t count) {
    size_t i;
    if (left-- <= 0) return -4300;
    for (i = 0; i < count; i++) ((unsigned char *)bytes)[i] = 0xff;
    return 0;
}
"""


@pytest.mark.parametrize(("left", "expected"), [(1, "Ok(Number(2.0))\n"), (0, "Err(NoRandomness)\n")])
def test_on_phones_of_apple_no_private_function_is_linked(
    table: Table, tmp_path: Path, left: int, expected: str
) -> None:
    """The store refuses programs that call getentropy."""
    needs("rustc", "gcc", "ar", "nm")
    stem = single(table, tmp_path)
    (tmp_path / "common_crypto.c").write_text(COMMON_CRYPTO.replace("@left@", str(left)))
    run(["gcc", "-c", "common_crypto.c"], tmp_path)
    run(["ar", "rcs", "libcommon_crypto.a", "common_crypto.o"], tmp_path)
    (tmp_path / "main.rs").write_text(MAIN.format(stem=stem, more="", x="0"))
    apple = ["-A", "explicit_builtin_cfgs_in_flags", "--cfg", 'target_vendor="apple"']
    compiler = ["rustc", "--edition", "2021", "-D", "warnings", *apple]
    run([*compiler, "main.rs", "-L", ".", "-l", "static=common_crypto", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path) == expected
    run([*compiler, "--crate-type", "lib", "--emit", "obj", f"{stem}.rs", "-o", "sampler.o"], tmp_path)
    symbols = run(["nm", "-u", "sampler.o"], tmp_path)
    assert "CCRandomGenerateBytes" in symbols
    assert "getentropy" not in symbols


@pytest.mark.parametrize(("system", "asked"), [("linux", "getrandom"), ("android", "arc4random_buf")])
def test_each_system_is_asked_by_what_all_its_versions_have(
    table: Table, tmp_path: Path, system: str, asked: str
) -> None:
    needs("rustc", "nm")
    if sys.platform != "linux":
        pytest.skip("a C library of Linux stands for Android's")
    stem = single(table, tmp_path)
    other = ["-A", "explicit_builtin_cfgs_in_flags", "--cfg", 'target_os="android"'] if system == "android" else []
    library = ["--crate-type", "lib", "--emit", "obj", f"{stem}.rs", "-o", "sampler.o"]
    run(["rustc", "--edition", "2021", *other, *library], tmp_path)
    symbols = run(["nm", "-u", "sampler.o"], tmp_path)
    found = {name for name in ("getrandom", "arc4random_buf", "getentropy", "CCRandom") if name in symbols}
    assert found == {asked}


FORKS = """
mod @stem@;

extern "C" {
    fn fork() -> i32;
    fn wait(status: *mut i32) -> i32;
}

fn main() {
    @stem@::TABLE.sample(0.3).unwrap();
    let child = unsafe { fork() };
    if child > 0 {
        unsafe { wait(std::ptr::null_mut()) };
    }
    for _ in 0..50 {
        println!("{:?}", @stem@::TABLE.sample(0.3).unwrap());
    }
}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_child_of_a_fork_repeats_no_bytes_of_its_parent(tmp_path: Path) -> None:
    """With the same bytes all 50 are alike. None has a probability above 1/1000: 10 alike by chance, below 1e-15."""
    needs("rustc")
    stem = single(make_table(catalogue.pm(1.0)), tmp_path)
    (tmp_path / "main.rs").write_text(FORKS.replace("@stem@", stem))
    run(["rustc", "--edition", "2021", "-D", "warnings", "main.rs", "-o", "main"], tmp_path)
    said = run(["./main"], tmp_path).splitlines()
    assert len(said) == 100
    assert sum(one == other for one, other in zip(said[:50], said[50:], strict=True)) < 10


# -- packages ----------------------------------------------------------------------------------------------------------


def drawn_by(folder: Path, text: str, build: dict[str, str]) -> str:
    (folder / "examples").mkdir()
    (folder / "examples" / "draw.rs").write_text(text)
    return run(["cargo", "run", "-q", "--offline", "--example", "draw"], folder, **build)


@pytest.mark.slow
def test_a_package_is_built_tested_and_called_by_cargo(
    tables: dict[str, Table], build: dict[str, str], tmp_path: Path
) -> None:
    needs("cargo", "rustc", "cargo-clippy", "rustfmt")
    folder = tmp_path / "made"
    export_package(tables, "rust", "sur-vey", folder, cases=20)
    assert "test result: ok. 8 passed; 0 failed" in run(["cargo", "test", "--offline"], folder, **build)
    run(["cargo", "clippy", "-q", "--offline", "--all-targets", "--", "-D", "warnings"], folder, **build)
    run(["cargo", "fmt", "--check"], folder)
    said = drawn_by(
        folder,
        "use sur_vey::{Error, Report, PETS, SMOKES};\nfn main() {\n"
        '    for _ in 0..4000 {\n        if let Ok(Report::Label(y)) = SMOKES.sample("rather $not") {\n'
        '            println!("{y}");\n        }\n    }\n'
        '    assert_eq!(SMOKES.sample("maybe"), Err(Error::BadInput));\n'
        '    assert!(matches!(PETS.sample("dog"), Ok(Report::Bytes(bytes)) if bytes.len() == 1));\n}\n',
        build,
    )
    row = tables["smokes"].document["law"]["rows"][1]
    observed = [Counter(said.split())[label] for label in LABELS.outputs or ()]
    assert sum(observed) == 4000
    assert stats.chisquare(observed, [4000 * count / sum(row) for count in row]).pvalue > 1e-6


@pytest.mark.slow
def test_a_package_with_a_device_keeps_its_state(build: dict[str, str], tmp_path: Path) -> None:
    needs("cargo", "rustc")
    once, again = (load_table(FOLDER / f"{name}.json") for name in ("labels", "labels_again"))
    folder = tmp_path / "made"
    device = Device(once, again, 2, 3)
    export_package({"once": once, "again": again}, "rust", "survey", folder, cases=4, device=device)
    assert "test result: ok. 10 passed; 0 failed" in run(["cargo", "test", "--offline"], folder, **build)
    said = drawn_by(
        folder,
        "use survey::{FileStorage, Report, AGAIN, ONCE_DEVICE};\nfn main() {\n"
        '    let mut storage = FileStorage::open("state").unwrap();\n'
        "    ONCE_DEVICE.create(&mut storage, 2946, 1, 0).unwrap();\n"
        '    let report = ONCE_DEVICE.report(&mut storage, "z", 2946, 0).unwrap();\n'
        "    assert!(matches!(report, Report::Label(_)));\n"
        '    println!("{:?}", ONCE_DEVICE.report(&mut storage, "z", 2946, 0));\n'
        "    for envelope in [ONCE_DEVICE.envelope(&report, 47481), AGAIN.envelope(&report, 47481)] {\n"
        '        println!("{:?}", &envelope.unwrap()[..12]);\n    }\n}\n',
        build,
    )
    assert said.splitlines() == ["Err(Exhausted)", *["[109, 100, 114, 101, 1, 2, 0, 0, 121, 185, 0, 0]"] * 2]


@pytest.mark.slow
def test_a_package_of_a_collection_writes_its_envelopes(
    tables: dict[str, Table], build: dict[str, str], tmp_path: Path
) -> None:
    needs("cargo", "rustc")
    parts = [Attribute(name, table) for name, table in tables.items()]
    folder = tmp_path / "made"
    export_package(Collection("people", Spending.SPLIT, tuple(parts)), "rust", "survey", folder, cases=4)
    assert "test result: ok. 8 passed; 0 failed" in run(["cargo", "test", "--offline"], folder, **build)


@pytest.mark.slow
def test_a_package_of_65536_labels_is_built_and_passes(build: dict[str, str], tmp_path: Path) -> None:
    needs("cargo", "rustc")
    folder = tmp_path / "made"
    many = protocol_table("olh", 1, tuple(f"label {i}" for i in range(65_536)))
    export_package({"places": many}, "rust", "survey", folder, cases=4)
    said = run(["cargo", "test", "--offline", "--release"], folder, **build)
    assert "test result: ok. 8 passed; 0 failed" in said


# -- changes of the runtime --------------------------------------------------------------------------------------------

FUNCTIONS = {
    "bits": ("draw", "below", "happens", "whole", "hash"),
    "law": ("place", "input"),
    "numbers": ("find",),
    "items": ("put",),
    "envelope": ("envelope", "payload"),
    "device": ("create", "reported", "remembered", "known", "checked", "is_entry", "written", "checksum"),
}
"""What reports, states and envelopes come from, beside the closures of laws, which draw. What reads files is tested on
files that were changed."""
CHANGES: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "numbers": (r"(?<![\w.])\d[\d_]*(?![\w.])", lambda old: str(int(old.replace("_", "")) + 1)),
    "comparisons": (r" (<=?|>=?|==|!=) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}.get),
    "steps": (r" ([-+*/%&|^]|<<|>>) ", {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&"}.get),
}
EQUIVALENT = (
    # from the mean of a row the step to it is always taken, from the row before
    "let reached = means.partition_point(|mean| *mean <= place); with <",
    "Domain::Interval { lower, upper, .. } => (0, (*lower..=*upper).contains(&x)), with 1",  # no law asks for it there
    "let mut word = [0; 8]; with 1",  # what is overwritten
    "let mut content = Vec::with_capacity(60 + payload.len()); with 61",
    "let mut content = Vec::with_capacity(60 + payload.len()); with -",
    "let mut nonce = [0; 16]; with 1",  # what is overwritten
    # no table draws minus zero, and vectors have no such numbers: the runtime's own tests have
    "return Ok((y + 0.0).to_le_bytes().to_vec()); // never minus zero with -",
    "if period > MOST || allowance > self.reports || least >= MOST { with >",
    # vectors have no value a second time with another draw: the runtime's own tests have
    "let key = if self.once.items().is_some() { 4 } else { 8 }; with 5",
    "let key = if self.once.items().is_some() { 4 } else { 8 }; with 9",
    # no table here has an end of its domain for its last mean
    "let mut row = reached.saturating_sub(1).min(means.len() - 2); with +",
    "return Ok(number < digits); with <=",  # they differ
    # the same by another way
    "let further = if bits > 32 { beyond / other } else { u64::from(beyond as u32 / other as u32) }; with >=",
    "let further = if bits > 32 { beyond / other } else { u64::from(beyond as u32 / other as u32) }; with 33",
    "Ok(if z < 0.0 { -number } else { number }) with <=",  # of 0 there is nothing to negate
)
"""Changes that no vector notices, and why."""


def mutants() -> list[tuple[str, str, str]]:
    """Files with one number, comparison or step changed in the functions above, and the line."""
    found = []
    for name, functions in FUNCTIONS.items():
        text = (RUNTIME / "src" / f"{name}.rs").read_text()
        heads = [rf"(?:pub(?:\([a-z]+\))? )?fn {function}\b" for function in functions]
        for head in (*heads, r"[^\n]*\bmove \|[^\n]*\{\n"):
            for span in re.finditer(rf"^( *){head}.*?^\1\}}", text, re.MULTILINE | re.DOTALL):
                for pattern, other in CHANGES.values():
                    for place in re.finditer(pattern, text[span.start() : span.end()]):
                        group = place.lastindex or 0
                        low, high = (span.start() + end for end in place.span(group))
                        line = text[text.rfind("\n", 0, low) + 1 : text.find("\n", high)].strip()
                        new = other(text[low:high])
                        what = f"{line} with {new}"
                        is_head = line.startswith(("//", "fn", "pub", "law("))
                        if new is not None and not is_head and what not in EQUIVALENT:
                            found.append((name, text[:low] + new + text[high:], what))
    return found


@pytest.mark.slow
def test_a_changed_runtime_fails_vectors(tmp_path: Path) -> None:
    needs("rustc")
    shutil.copytree(FOLDER, tmp_path / "vectors")
    shutil.copytree(RUNTIME / "src", tmp_path / "src")
    (tmp_path / "main.rs").write_text(
        '#[path = "src/lib.rs"]\nmod runtime;\nfn main() {\n'
        "    let mut files = runtime::device_replay::Files::default();\n"
        "    let mut paths: Vec<_> = std::fs::read_dir(std::env::args().nth(1).unwrap()).unwrap()"
        ".map(|e| e.unwrap().path()).collect();\n    paths.sort_by_key(|path| path.extension() != "
        'Some("json".as_ref()));\n    for path in paths {\n        let content = std::fs::read(&path).unwrap();\n'
        '        if path.extension() == Some("json".as_ref()) {\n            files.add(&content).unwrap();\n'
        "        } else {\n            files.replay(std::str::from_utf8(&content).unwrap()).unwrap();\n        }\n"
        "    }\n}\n"
    )
    build = ["rustc", "--edition", "2021", "-A", "warnings", "--cfg", 'feature="replay"', "main.rs", "-o", "main"]
    check = ["./main", "vectors"]
    run(build, tmp_path)
    run(check, tmp_path)
    passed = []
    changed = mutants()
    assert len(changed) > 150
    for name, text, what in changed:
        path = tmp_path / "src" / f"{name}.rs"
        kept = path.read_text()
        path.write_text(text)
        if subprocess.run(build, cwd=tmp_path, capture_output=True, check=False).returncode == 0:
            try:
                done = subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=20, check=False)
                if done.returncode == 0:
                    passed.append(what)
            except subprocess.TimeoutExpired:  # it never ends: noticed
                pass
        path.write_text(kept)
    assert passed == []
