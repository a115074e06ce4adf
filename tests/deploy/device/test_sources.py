"""Devices in other languages, compiled and run by the real toolchains: the same states and reports, byte for byte."""

from __future__ import annotations

import ast
import fcntl
import itertools
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import fixed_stream, make_table
from mechdesign.deploy.device import LANGUAGES, Device, InMemory, device_difference, export_device, known
from mechdesign.deploy.device.state import MOST_STATE, State, written
from mechdesign.deploy.device.vectors import Step, create, lines, report, vectors
from mechdesign.deploy.export.layout import fill
from mechdesign.deploy.export.vectors import bits
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from tests.oracles.device_reports import LABELS, PERIOD, response

TOOLS = {"python": (), "javascript": ("node",), "c": ("gcc",), "rust": ("rustc",), "java": ("javac", "java")}
DEVICES = {
    "labelled": Device(response(2.0, 3, LABELS), response(1.0, 3, LABELS), values=2, reports=5),
    "labelled once": Device(response(1.0, 3, LABELS), None, values=2, reports=5),
    "same table twice": Device(response(1.0, 2), response(1.0, 2), values=3, reports=2),
    "fresh": Device(make_table(catalogue.pm(1.0, Interval(-3, 7)), 16), None, values=0, reports=3),
}
ITEMS = {
    "items": Device(protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")), None, values=2, reports=5),
}
"""Devices whose reports are bytes."""

CALLS = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,close,openat,ftruncate"


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Path, list[str]]]:
    """The folder and the replay program of a device in a language, compiled with every warning an error."""

    @lru_cache
    def of(name: str, language: str) -> tuple[Path, list[str]]:
        for tool in TOOLS[language]:
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        device, folder = (DEVICES | ITEMS)[name], tmp_path_factory.mktemp(language)
        export_device(device, language, folder)
        stem = device.stem
        match language:
            case "python":
                start = f"import sys; sys.path.insert(0, '.'); import {stem}_replay"
                return folder, [sys.executable, "-I", "-c", start]
            case "javascript":
                return folder, ["node", f"{stem}_replay.mjs"]
            case "c":
                c = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
                own = [path.name for path in folder.glob("*.c") if not path.match("sampler_*_replay.c")]
                assert run([*c, *own, "-o", "replay"], folder) == ""
            case "rust":
                rust = ["rustc", "--edition", "2021", "-D", "warnings", f"{stem}_replay.rs", "-o", "replay"]
                assert run(rust, folder) == ""
            case "java":
                sources = [path.name for path in folder.glob("*.java")]
                assert run(["javac", "-Xlint:all", "-Werror", *sources], folder) == ""
                return folder, ["java", "-Xshare:auto", f"Device_{device.sha256[:8]}_Replay"]
        return folder, ["./replay"]

    return of


REPLAYED = [
    *((name, language) for name in ("labelled", "fresh", "items") for language in TOOLS),
    *(("same table twice", language) for language in ("c", "rust")),  # whose samplers are then included once
]


@pytest.mark.parametrize(("name", "language"), REPLAYED)
def test_programs_reproduce_their_own_vectors(
    program: Callable[[str, str], tuple[Path, list[str]]], name: str, language: str
) -> None:
    folder, command = program(name, language)
    vectors = f"{(DEVICES | ITEMS)[name].stem}_vectors.txt"
    count = len((folder / vectors).read_text().splitlines()) - 2
    assert run([*command, vectors], folder) == f"PASS {count}"


def test_vectors_hold_every_outcome_a_state_has() -> None:
    steps = [step for device in DEVICES.values() for step in vectors(device)]
    words = {step.outcome for step in steps if len(step.outcome) != 16}
    refusals = {"missing", "damaged", "other", "rolled-back", "past", "ahead", "exhausted", "present"}
    assert words == {"done", "input"} | refusals
    assert sum(len(step.outcome) == 16 for step in steps) > 12


@pytest.mark.parametrize(
    "device",
    [Device(response(1.0, 2), None, 4096, 3), Device(protocol_table("oue", 1.0, 800), None, 630, 3)],
    ids=["numbers", "items"],
)
def test_no_vector_loads_a_state_that_is_longer_than_that_of_any_device(device: Device) -> None:
    assert max(len(step.before or b"") for step in vectors(device)) <= MOST_STATE + 1


def wrong(step: Step) -> list[Step]:
    """The step with one thing said differently."""
    from attrs import evolve

    after = None if step.after is None else step.after[:-1] + bytes([step.after[-1] ^ 1])
    said = f"{int(step.outcome, 16) ^ 1:016x}"
    return [evolve(step, after=after), evolve(step, outcome=said), evolve(step, used=step.used + 1)]


@pytest.mark.parametrize("language", TOOLS)
def test_a_replay_names_the_step_that_differs(
    program: Callable[[str, str], tuple[Path, list[str]]], language: str
) -> None:
    device = DEVICES["labelled"]
    folder, command = program("labelled", language)
    good = create(device, None, PERIOD, 5)
    step = report(device, good.after, 1.0, PERIOD)
    for bad in wrong(step):
        (folder / "cases.txt").write_text(lines(device, [good, bad]))
        assert run([*command, "cases.txt"], folder) == "FAIL case 2"


@pytest.mark.parametrize("language", TOOLS)
def test_a_state_in_a_file_is_created_spent_and_counted(
    program: Callable[[str, str], tuple[Path, list[str]]], language: str, tmp_path: Path
) -> None:
    device = DEVICES["labelled"]
    folder, command = program("labelled", language)

    def asked(*said: object) -> str:
        return run([*command, *map(str, said)], folder)

    state = tmp_path / "state"
    assert asked("report", state, PERIOD, 1) == "missing"
    assert asked("create", state, PERIOD, 1) == "done"
    assert asked("create", state, PERIOD, 1) == "present"
    assert float(asked("report", state, PERIOD, 1)) in (0, 1, 2)
    assert asked("report", state, PERIOD, 1) == "exhausted"
    assert known(device, state.read_bytes()).reports == 5
    state.write_bytes(state.read_bytes()[:-1])
    assert asked("report", state, PERIOD, 1) == "damaged"
    state.write_bytes(written(State(1, 5, 0), bytes(32), 9))  # longer than this device's
    assert asked("create", state, PERIOD, 1) == "other"
    assert state.stat().st_mode & 0o077 == 0


APPS = {
    "python": """
import @device@ as device
with device.FileStorage("app") as storage:
    device.create(storage, 20, 5)
    print(device.report(storage, "no", 20), device.serial(storage))
    try:
        device.report(storage, "maybe", 20)
    except ValueError:
        print("input")
""",
    "javascript": """
import * as device from "./@device@.mjs";
const held = new Map();
const place = { getItem: (key) => held.get(key) ?? null, setItem: (key, text) => held.set(key, text) };
const storage = device.webStorage("app", place);
device.create(storage, 20, 5);
console.log(device.report(storage, "no", 20), device.serial(storage));
try {
  device.report(storage, "maybe", 20);
} catch (error) {
  if (error instanceof RangeError) console.log("input");
}
held.set("app", "no state");
try {
  device.serial(storage);
} catch (error) {
  if (error.reason !== "damaged") console.log(error.reason);
}
""",
    "c": """
#include "@device@.h"
#include <stdio.h>
int main(void) {
    @device@_file file;
    @device@_storage storage;
    const char *said = "";
    int32_t serial = 0;
    if (@device@_open(&file, "app", &storage) != 0) return 1;
    if (@device@_create(&storage, 20, 5, 0) != 0 || @device@_report(&storage, "no", 20, 0, &said) != 0) return 2;
    if (@device@_serial(&storage, 0, &serial) != 0) return 3;
    printf("%s %d\\n", said, (int)serial);
    if (@device@_report(&storage, "maybe", 20, 0, &said) == 1) puts("input");
    @device@_close(&file);
    return 0;
}
""",
    "rust": """
#[allow(dead_code)]
mod @device@;
#[allow(dead_code)]
mod @first@;
#[allow(dead_code)]
mod @again@;
use @device@::{create, report, serial, Error, FileStorage};
fn main() -> Result<(), Error> {
    let mut storage = FileStorage::open("app")?;
    create(&mut storage, 20, 5, 0)?;
    println!("{} {}", report(&mut storage, "no", 20, 0)?, serial(&mut storage, 0)?);
    if let Err(Error::BadInput) = report(&mut storage, "maybe", 20, 0) {
        println!("input");
    }
    Ok(())
}
""",
    "java": """
public final class App {
    public static void main(String[] arguments) throws Exception {
        try (@name@.FileStorage storage = new @name@.FileStorage(java.nio.file.Path.of("app"))) {
            @name@.create(storage, 20, 5, 0);
            System.out.println(@name@.report(storage, "no", 20, 0) + " " + @name@.serial(storage, 0));
            try {
                @name@.report(storage, "maybe", 20, 0);
            } catch (IllegalArgumentException error) {
                System.out.println("input");
            }
        }
    }
}
""",
}
"""What an app says to a device with labels."""


@pytest.mark.parametrize("language", TOOLS)
def test_an_app_gives_labels_and_gets_labels(
    program: Callable[[str, str], tuple[Path, list[str]]], language: str
) -> None:
    device = DEVICES["labelled"]
    folder, _ = program("labelled", language)
    assert device.again is not None
    places = {
        "device": device.stem,
        "name": f"Device_{device.sha256[:8]}",
        "first": f"sampler_{device.table.sha256[:8]}",
        "again": f"sampler_{device.again.sha256[:8]}",
    }
    ending = {"python": "py", "javascript": "mjs", "c": "c", "rust": "rs", "java": "java"}[language]
    (folder / f"App.{ending}").write_text(fill(APPS[language], places))
    own = [path.name for path in folder.glob("*.c") if not path.match("*_replay.c")]
    commands = {
        "python": [[sys.executable, "App.py"]],
        "javascript": [["node", "App.mjs"]],
        "c": [["gcc", "-Wall", "-Werror", *own, "-o", "app_program"], ["./app_program"]],
        "rust": [["rustc", "--edition", "2021", "-D", "warnings", "App.rs", "-o", "app_program"], ["./app_program"]],
        "java": [["javac", "-Xlint:all", "-Werror", "App.java"], ["java", "App"]],
    }[language]
    said = [run(command, folder) for command in commands][-1]
    words = {f"{label} 2\ninput" for label in LABELS.outputs or ()}
    assert said in words


@pytest.mark.parametrize("language", TOOLS)
def test_a_state_that_is_used_or_cannot_be_stored_makes_no_report(
    program: Callable[[str, str], tuple[Path, list[str]]], language: str, tmp_path: Path
) -> None:
    device = DEVICES["labelled"]
    folder, command = program("labelled", language)
    state, lock = tmp_path / "state", tmp_path / "state.lock"
    content = create(device, None, PERIOD, 5).after
    assert content is not None
    state.write_bytes(content)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.lockf(held, fcntl.LOCK_EX)  # Java's locks are of this sort
        assert run([*command, "report", str(state), str(PERIOD), "1"], folder) == "busy"
    lock.unlink()
    (tmp_path / "state.new").mkdir()
    said = run([*command, "report", str(state), str(PERIOD), "1"], folder)
    assert said not in ("0", "1", "2", "0.0", "1.0", "2.0")
    assert state.read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize("language", [language for language in TOOLS if language != "java"])
def test_a_kill_at_any_call_leaves_one_state_or_the_next_and_a_report_only_with_the_next(
    program: Callable[[str, str], tuple[Path, list[str]]], language: str, tmp_path: Path
) -> None:
    if shutil.which("strace") is None or "+++ exited" not in run(["strace", "true"], tmp_path):
        pytest.skip("strace is not installed, or may not trace")
    device = DEVICES["labelled"]
    folder, command = program("labelled", language)
    state, lock = tmp_path / "state", tmp_path / "state.lock"
    first = create(device, None, PERIOD, 5).after
    assert first is not None
    watched = [part for path in (state, tmp_path / "state.new", tmp_path) for part in ("-P", str(path))]
    seen = set()
    for last in itertools.count(1):
        state.write_bytes(first)
        lock.unlink(missing_ok=True)  # Node has no locks that end with a process
        kill = ["strace", "-f", "-o", "/dev/null", *watched, "-e", f"inject={CALLS}:signal=KILL:when={last}"]
        done = subprocess.run(
            [*kill, *command, "report", str(state), str(PERIOD), "1"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        serial = known(device, state.read_bytes()).serial
        assert not done.stdout or serial == 2
        seen.add((serial, bool(done.stdout)))
        if done.returncode == 0:
            break
    assert seen >= {(1, False), (2, True)}


def is_reproduced(module: types.ModuleType, steps: list[Step]) -> bool:
    """Whether a module of Python does and stores what every step says."""
    for step in steps:
        storage, stream = InMemory(step.before or None), fixed_stream(step.stream)
        try:
            if step.x is None:
                module.create(storage, step.period, step.allowance, step.least)
                said = "done"
            else:
                y = module.report_code(storage, step.x, step.period, step.least, stream._read)
                said = y.hex() if isinstance(y, bytes) else bits(y)
        except module.StateRefused as refused:
            said = refused.reason
        except ValueError:
            said = "input"
        except Exception:
            return False
        if (said, storage.content or b"") != (step.outcome, step.after or step.before or b""):
            return False
    return True


@pytest.mark.parametrize("name", ["labelled", "items"])
def test_vectors_notice_every_rule_that_is_left_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = (DEVICES | ITEMS)[name]
    export_device(device, "python", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    tree, steps = ast.parse((tmp_path / f"{device.stem}.py").read_text()), vectors(device)

    def runs() -> bool:
        module = types.ModuleType(device.stem)
        exec(compile(tree, device.stem, "exec"), module.__dict__)
        return is_reproduced(module, steps)

    assert runs()
    machine = {"create", "report_code", "_known", "_written"}
    parts = [part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name in machine]
    rules = [rule for part in parts for rule in ast.walk(part) if isinstance(rule, ast.If)]
    unnoticed = []
    for rule in rules:
        said = ast.unparse(rule.test)
        for instead in (ast.Constant(False), ast.Constant(True)):
            kept, rule.test = rule.test, ast.fix_missing_locations(ast.copy_location(instead, rule.test))
            if runs():
                unnoticed.append((said, instead.value))
            rule.test = kept
    assert len(rules) > 12
    assert unnoticed == []


@pytest.mark.parametrize("name", ["labelled", "fresh"])
def test_types_of_typescript_are_those_of_the_module(name: str, tmp_path: Path) -> None:
    compiler = shutil.which("tsc") or Path(__file__).parents[3] / ".toolchains/node_modules/typescript/bin/tsc"
    if not Path(compiler).exists():
        pytest.skip("tsc is not installed (make toolchains)")
    device = DEVICES[name]
    export_device(device, "javascript", tmp_path)
    x = '"no"' if device.table.labels.inputs else "1"
    (tmp_path / "app.mts").write_text(
        f'import * as device from "./{device.stem}.mjs";\n'
        "const storage: device.Storage = device.webStorage();\n"
        "device.create(storage, 20, device.REPORTS);\n"
        f"const said: {'string' if x != '1' else 'number'} = device.report(storage, {x}, 20, device.serial(storage));\n"
        'const why: "missing" | "busy" | string = new device.StateRefused("missing").reason;\n'
        "console.log(said, why);\n"
    )
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]
    assert run(["node", str(compiler), *options, "app.mts"], tmp_path) == ""


@pytest.mark.parametrize("name", DEVICES | ITEMS)
def test_swift_is_parsed_without_errors(name: str, tmp_path: Path) -> None:
    tree_sitter = pytest.importorskip("tree_sitter", reason="the Python package tree-sitter is not installed")
    grammar = pytest.importorskip("tree_sitter_swift", reason="the Python package tree-sitter-swift is not installed")
    export_device((DEVICES | ITEMS)[name], "swift", tmp_path)
    (source,) = tmp_path.glob("*.swift")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    assert not parser.parse(source.read_bytes()).root_node.has_error


def test_a_source_is_recognised_and_a_changed_line_found(tmp_path: Path) -> None:
    device = DEVICES["labelled"]
    for path in export_device(device, "python", tmp_path):
        if path.name.startswith("device"):
            assert device_difference(device, path) is None
    source = tmp_path / f"{device.stem}.py"
    source.write_text(source.read_text().replace("VALUES = 2", "VALUES = 3"))
    difference = device_difference(device, source)
    assert difference is not None
    assert (difference.expected, difference.found) == ("VALUES = 2", "VALUES = 3")
    with pytest.raises(InvalidInput):
        device_difference(device, tmp_path / "device")


def test_every_language_but_wrappers_of_c_has_a_toolchain_here() -> None:
    assert set(LANGUAGES) - set(TOOLS) == {"swift"}


def test_languages_without_a_state_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be one of python"):
        export_device(DEVICES["fresh"], "sql", tmp_path)


FULL = """\
#include "@stem@.h"
#include <stdio.h>
int full(int handle, int what);
static int asked = 0;
int full(int handle, int what) {
    (void)handle;
    asked += what == 51;
    return 0;
}
int main(void) {
    @stem@_file file;
    @stem@_storage storage;
    if (@stem@_open(&file, "state", &storage) || @stem@_create(&storage, 20, 1, 0)) return 1;
    @stem@_close(&file);
    printf("%d", asked);
    return 0;
}
"""


def test_c_asks_apples_disks_for_more_than_fsync(tmp_path: Path) -> None:
    """By ``F_FULLFSYNC`` where it is defined, as here in place of an Apple's header: for the file and its folder."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    device = DEVICES["labelled once"]
    export_device(device, "c", tmp_path)
    (tmp_path / "main.c").write_text(FULL.replace("@stem@", device.stem))
    sampler = f"sampler_{device.table.sha256[:8]}.c"
    source = tmp_path / f"{device.stem}.c"
    called = "int full(int handle, int what);\nstatic int confirmed("
    text = source.read_text().replace("fcntl(handle, F_FULLFSYNC)", "full(handle, F_FULLFSYNC)")
    source.write_text(text.replace("static int confirmed(", called))
    assert run(["gcc", "-DF_FULLFSYNC=51", "main.c", source.name, sampler, "-pthread", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == "2"
