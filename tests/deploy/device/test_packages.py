"""Packages with a device: what is in them, what is one, and what the tools of their ecosystems say of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import PACKAGED, Table, export_package, make_table, package_difference
from mechdesign.deploy.device import Device, FileStorage, export_device, known, losses_together
from mechdesign.deploy.export.packages import package_texts
from mechdesign.deploy.export.packages.devices import STATEFUL
from mechdesign.deploy.reports import Attribute, Collection, Envelope, Subject
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from tests.oracles.device_reports import LABELS, PERIOD, response

TOOLS = Path(__file__).parents[3] / ".toolchains" / "node_modules"
"""Where ``make toolchains`` puts the compilers that npm has."""

NAMES = {"swift": "Survey", "kotlin": "com.example.survey", "java": "com.example.survey"}
TABLES = {"smokes": response(2.0, 3, LABELS), "again": response(1.0, 3, LABELS)}
DEVICE = Device(TABLES["smokes"], TABLES["again"], values=2, reports=5)
ANSWER = "rather not"


@lru_cache
def counting() -> tuple[dict[str, Table], Device]:
    """A device that only counts, over numbers."""
    table = make_table(catalogue.pm(1.0, Interval(-3, 7)), 16)
    return {"mood": table}, Device(table, None, values=0, reports=3)


@lru_cache
def items() -> tuple[dict[str, Table], Device]:
    """A device whose reports are bytes."""
    table = protocol_table("oue", 1.0, 12)
    return {"fruit": table}, Device(table, None, values=3, reports=3)


OTHERS = {"counts": counting, "items": items}


def made(language: str, folder: Path, tables: dict[str, Table] = TABLES, device: Device = DEVICE) -> Path:
    export_package(tables, language, NAMES.get(language, "survey"), folder / "made", cases=3, device=device)
    return folder / "made"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Packages with all vectors of samplers, which `package_difference` compares with; each is written once."""

    @lru_cache
    def of(language: str) -> Path:
        folder = tmp_path_factory.mktemp(language) / "made"
        export_package(TABLES, language, NAMES.get(language, "survey"), folder, device=DEVICE)
        return folder

    return of


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "made"))


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path, **more: str) -> str:
    """What a command prints; one that fails is an error with all of it."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# -- what is in it, and what is one ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_with_a_device_is_recognised_and_a_changed_line_of_it_named(
    kept: Callable[[str], Path], language: str, tmp_path: Path
) -> None:
    folder = copied(kept(language), tmp_path)
    assert package_difference(TABLES["smokes"], folder) is None
    (source,) = [path for path in folder.rglob("*") if path.name in MACHINES]
    source.write_text(source.read_text().replace("period", "moment", 1))
    difference = package_difference(TABLES["again"], folder)
    assert difference is not None
    assert difference.path == source.relative_to(folder).as_posix()


MACHINES = {
    "SmokesDevice.java",
    "SmokesDevice.kt",
    "SmokesDevice.swift",
    "smokes_device.py",
    "smokes_device.mjs",
    "smokes_device.rs",
    "survey_smokes_device.c",
}


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_says_what_reports_lose_and_what_a_lost_state_does(language: str) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=2, device=DEVICE)
    readme = texts["README.md"]
    assert all(f"| {loss.relation} | {loss.words} |" in readme for loss in losses_together(DEVICE))
    assert "| missing or damaged (a first start, cleared data, a new phone) | no report." in readme
    assert DEVICE.sha256 in readme
    assert texts["device.json"].encode() == DEVICE.content
    manifest = json.loads(texts["mechdesign-package.json"])
    assert manifest["device"] == {
        "file": "device.json",
        "table": "smokes",
        "again": "again",
        "sha256": DEVICE.sha256,
    }
    assert [path for path, text in texts.items() if re.search("@[a-z_]+@", text)] == []
    assert any(path.endswith("smokes_device_vectors.txt") for path in texts)


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_says_that_the_state_holds_true_answers_in_clear(language: str) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=2, device=DEVICE)
    assert "**The state holds the person's true answers in clear**" in texts["README.md"]
    assert "What one person spends is what the reports of the device lose together" in texts["README.md"]
    assert "in all.**" not in texts["README.md"]
    if language == "typescript":
        assert "<strong>It remembers your answer, as it is" in texts["demo/index.html"]
        assert "stays here" not in texts["demo/index.html"]


def test_a_device_that_only_counts_says_that_its_state_holds_no_answer() -> None:
    tables, device = counting()
    texts = package_texts(tables, "typescript", "survey", cases=2, device=device)
    assert "The state holds no answer: only counts." in texts["README.md"]
    assert "It remembers only how many it sent." in texts["demo/index.html"]


@pytest.mark.parametrize("language", STATEFUL)
def test_envelopes_of_a_package_with_a_device_are_of_it_and_those_of_its_first_table_of_the_table(
    language: str,
) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=3, device=DEVICE)
    subjects = {}
    for name in TABLES:
        (text,) = (text for path, text in texts.items() if Path(path).name == f"{name}_envelopes.txt")
        made = [line.split()[3] for line in text.splitlines() if not line.startswith("#")]
        subjects[name] = {Envelope.read(bytes.fromhex(content)).subject for content in made if content != "error"}
    assert subjects == {
        "smokes": {Subject(TABLES["smokes"].sha256)},
        "again": {Subject(DEVICE.sha256, is_device=True)},
    }
    listed = ", ".join(map(str, bytes.fromhex(DEVICE.sha256)[:8]))
    sources = "".join(text for path, text in texts.items() if "nvelope" in path and not path.endswith(".txt"))
    assert DEVICE.sha256 in sources or listed in sources
    assert "of a device" in sources
    assert "collect-reports --device device.json" in texts["README.md"]


def test_a_package_says_that_more_values_than_remembered_bias_estimates() -> None:
    one = Device(TABLES["smokes"], TABLES["again"], values=1, reports=5)
    all_of_them = Device(TABLES["smokes"], TABLES["again"], values=3, reports=5)
    said = [package_texts(TABLES, "c", "survey", cases=3, device=device)["README.md"] for device in (one, all_of_them)]
    assert ["bias every estimate" in text for text in said] == [True, False]


def test_a_device_that_only_counts_says_so() -> None:
    tables, device = counting()
    readme = package_texts(tables, "rust", "survey", cases=2, device=device)["README.md"]
    assert "It remembers nothing, so that every report is a fresh draw of `mood`" in readme
    assert "| full:" not in readme
    assert "between" in readme


def test_a_table_that_draws_twice_is_in_the_package_once(tmp_path: Path) -> None:
    table = TABLES["smokes"]
    texts = package_texts({"smokes": table}, "rust", "survey", cases=2, device=Device(table, table, 2, 5))
    assert texts["src/lib.rs"].count("pub mod smokes;") == texts["src/lib.rs"].count("pub mod smokes_device;") == 1
    assert [path for path in texts if path.startswith("tables/")] == ["tables/smokes.json"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda text: text.replace('"reports":5', '"reports":50'), "device.json"),
        (lambda text: text.replace('"reports":5', '"reports":"many"'), "device.json"),
        (lambda text: text.replace('"values":2', '"values":99999'), "device.json"),
        (lambda text: text[:-3], "device.json"),
        (lambda text: counting()[1].content.decode(), "device.json"),
        (lambda text: Device(TABLES["smokes"], TABLES["again"], 2, 6).content.decode(), "README.md"),
    ],
)
def test_a_device_file_in_a_package_is_decided_from_its_tables(
    kept: Callable[[str], Path], change: Callable[[str], str], path: str, tmp_path: Path
) -> None:
    folder = copied(kept("c"), tmp_path)
    file = folder / "device.json"
    file.write_text(change(file.read_text()))
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == path


def test_a_device_in_a_package_is_not_taken_out_of_its_manifest(kept: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied(kept("python"), tmp_path)
    (folder / "device.json").unlink()
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == "device.json"
    manifest = folder / "mechdesign-package.json"
    said = json.loads(manifest.read_text())
    del said["device"]
    manifest.write_text(json.dumps(said, indent=2) + "\n")
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == "README.md"


# -- what is none ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", sorted(set(PACKAGED) - set(STATEFUL)))
def test_a_language_without_a_state_is_refused_with_the_reason_and_the_next_step(language: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"where a device keeps a state: .*--to (swift|python|typescript)"):
        made(language, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "tables",
    [
        {"smokes": TABLES["smokes"]},
        {"again": TABLES["again"]},
        {**TABLES, "mood": response(0.5, 2)},
        {"smokes": TABLES["smokes"], "mood": response(0.5, 2)},
    ],
)
def test_other_tables_than_those_of_the_device_are_refused(tables: dict[str, Table], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="export a package for every question"):
        made("c", tmp_path, tables)


def test_a_collection_has_no_device_since_each_attribute_would_have_one(tmp_path: Path) -> None:
    collection = Collection("survey", "split", [Attribute(name, table) for name, table in TABLES.items()])
    with pytest.raises(InvalidInput, match="each attribute has a device of its own"):
        export_package(collection, "c", "survey", tmp_path / "made", device=DEVICE)


@pytest.mark.parametrize("name", ["smokes_device", "smokes_device_report", "device_test", "device_error"])
def test_a_table_may_not_be_called_as_a_part_of_the_device(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has already"):
        made("java", tmp_path, {"smokes": TABLES["smokes"], name: TABLES["again"]})


def test_the_machine_in_a_package_is_that_of_the_plain_export_but_for_its_names(tmp_path: Path) -> None:
    """The tests of plain devices, by rules left out and calls that are killed, are so about packages too."""
    stem, once, again = DEVICE.stem, TABLES["smokes"].sha256[:8], TABLES["again"].sha256[:8]
    renamed = {
        "rust": (
            "smokes_device.rs",
            {f"crate::sampler_{once}": "crate::smokes", f"crate::sampler_{again}": "crate::again"},
        ),
        "javascript": ("smokes_device.mjs", {stem: "smokes_device"}),
        "python": ("smokes_device.py", {f"import sampler_{once}": f"from . import sampler_{once}"}),
        "c": ("survey_smokes_device.c", {stem: "survey_smokes_device", stem.upper(): "SURVEY_SMOKES_DEVICE"}),
    }
    for language, (name, words) in renamed.items():
        (loose,) = [
            path
            for path in export_device(DEVICE, language, tmp_path / language)
            if path.stem == stem and path.suffix == Path(name).suffix
        ]
        text = loose.read_text()
        for old, new in words.items():
            text = text.replace(old, new)
        if language == "python":
            text = text.replace(f"\nimport sampler_{again}", f"\nfrom . import sampler_{again}")
        if language == "rust":
            text = text.replace(f"`mod sampler_{once};`", "`mod smokes;`")
        to = "typescript" if language == "javascript" else language
        texts = package_texts(TABLES, to, "survey", cases=2, device=DEVICE)
        (kept,) = [text for path, text in texts.items() if Path(path).name == name]
        assert kept == text


# -- built and run -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["remembers", "counts", "items"])
def test_python_by_unittest(of: str, tmp_path: Path) -> None:
    folder = made("python", tmp_path) if of == "remembers" else made("python", tmp_path, *OTHERS[of]())
    command = [sys.executable, "-W", "error", "-m", "unittest", "discover", "-v", "tests"]
    said = run(command, folder, PYTHONPATH=str(folder / "src"))
    assert len(re.findall(r"^test_\w+ \(test_device\.TestDevice.* ok$", said, re.MULTILINE)) == 2


def test_a_state_that_one_language_stored_is_read_by_another(tmp_path: Path) -> None:
    needs("node", "npm")
    python, node = made("python", tmp_path / "a"), made("typescript", tmp_path / "b")
    (python / "app.py").write_text(
        "from survey import smokes_device as device\n"
        'with device.FileStorage("../../state") as storage:\n'
        f"    device.create(storage, {PERIOD}, 2)\n"
        f'    print(device.report(storage, "{ANSWER}", {PERIOD}))\n'
    )
    (node / "app.mjs").write_text(
        'import { smokes_device as device } from "survey";\nimport { fileStorage } from "survey/file";\n'
        'const storage = fileStorage("../../state");\n'
        f'console.log(device.report(storage, "{ANSWER}", {PERIOD}), device.serial(storage));\nstorage.close();\n'
    )
    assert run([sys.executable, "app.py"], python, PYTHONPATH="src").strip() in LABELS.outputs
    (tmp_path / "state.lock").unlink()  # Node has no locks that end with a process, and takes any for one of its own
    said = run(["node", "app.mjs"], node).strip()
    assert said in {f"{label} 3" for label in LABELS.outputs or ()}
    with FileStorage(tmp_path / "state") as storage:
        state = known(DEVICE, storage.load())
    assert (state.serial, state.reports, len(state.entries)) == (3, 5, 1)


@pytest.mark.parametrize("of", ["remembers", "counts", "items"])
def test_c_by_make_and_by_cmake(of: str, tmp_path: Path) -> None:
    needs("gcc", "make", "ar")
    folder = made("c", tmp_path) if of == "remembers" else made("c", tmp_path, *OTHERS[of]())
    strict = "-O2 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
    said = run(["make", "-s", "check", f"CFLAGS={strict}", "CC=gcc"], folder).splitlines()
    assert "PASS a state in a file" in said
    (vectors,) = folder.glob("tests/*_device_vectors.txt")
    assert f"PASS {len(vectors.read_text().splitlines()) - 2}" in said
    run(["make", "clean"], folder)
    assert not list(folder.rglob("*.o"))
    if of == "remembers" and shutil.which("cmake") is not None:
        run(["cmake", "-B", "build"], folder)
        run(["cmake", "--build", "build"], folder)
        said = run(["ctest"], folder / "build").splitlines()
        assert any(line.startswith("100% tests passed") for line in said)
        assert len([line for line in said if re.search(r"(replay|file)_smokes_device \.+ +Passed", line)]) == 2


def test_npm_of_items(tmp_path: Path) -> None:
    needs("node", "npm")
    folder = made("typescript", tmp_path, *items())
    assert re.search("^(#|ℹ) pass 3$", run(["node", "--test", "test/device.test.mjs"], folder), re.MULTILINE)


def test_npm_and_its_types(tmp_path: Path) -> None:
    needs("node", "npm")
    folder = made("typescript", tmp_path)
    said = run(["npm", "test"], folder)
    assert re.search("^(#|ℹ) fail 0$", said, re.MULTILINE)
    assert "smokes_device reproduces its vectors" in said
    compiler = shutil.which("tsc") or TOOLS / "typescript" / "bin" / "tsc"
    if not Path(compiler).exists():
        pytest.skip("tsc is not installed (make toolchains)")
    wrong = ('device.report(kept, "maybe", 20)', "device.report(kept, 1, 20)", "device.create(kept)")
    lines = "".join(f"{line};\n" for line in ('device.report(kept, "no", 20)', *wrong))
    (folder / "wrong.ts").write_text(
        f'import {{ smokes_device as device }} from "./index.mjs";\nconst kept = device.webStorage();\n{lines}'
    )
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    check = ["node", str(compiler), *options, "test/device.types.ts", "wrong.ts"]
    said = subprocess.run(check, cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    assert re.findall(r"^([\w./]+)\((\d+)", said, re.MULTILINE) == [("wrong.ts", str(i)) for i in range(4, 7)], said


@pytest.mark.slow
def test_rust_by_cargo(tmp_path: Path) -> None:
    needs("cargo", "rustc")
    folder = made("rust", tmp_path)
    said = run(["cargo", "test", "--offline"], folder, RUSTFLAGS="-D warnings")
    for name in ("smokes_device_reproduces_its_vectors", "a_state_in_a_file_is_created_spent_counted_and_used_by_one"):
        assert f"test {name} ... ok" in said


@pytest.mark.slow
def test_java_by_maven(tmp_path: Path) -> None:
    needs("mvn", "javac", "java")
    folder = made("java", tmp_path)
    command = ["mvn", "-o", "-q", "-B", "package"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if "in offline mode and the artifact" in done.stdout:
        pytest.skip("Maven has not its plugins or JUnit here, and does not fetch them in tests")
    assert done.returncode == 0, done.stdout
    report = folder / "target" / "surefire-reports" / "com.example.survey.DeviceTest.txt"
    assert "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0" in report.read_text()


KOTLIN = f"""
import com.example.survey.Again
import com.example.survey.Smokes
import com.example.survey.SmokesDevice
import com.example.survey.SmokesDeviceMachine
import java.nio.file.Path

fun why(call: () -> Unit): String = (runCatching(call).exceptionOrNull() as SmokesDeviceMachine.StateRefused).reason

class Held(var content: ByteArray?) : SmokesDeviceMachine.Storage {{
    override fun load(): ByteArray? = content
    override fun store(content: ByteArray) {{
        this.content = content
    }}
}}

fun main() {{
    val answer = Smokes.Input.LABEL_1_RATHER_NOT
    SmokesDevice.inFile(Path.of("state")).use {{ storage ->
        val device = SmokesDevice(storage)
        println(why {{ device.report(answer, {PERIOD}) }})
        device.create({PERIOD}, allowance = 1)
        check(device.report(answer, {PERIOD}) in Again.Output.values())
        println(why {{ device.report(answer, {PERIOD}) }})
        println(why {{ device.create({PERIOD}) }})
        println(why {{ device.report(answer, {PERIOD} - 1) }})
        println(why {{ SmokesDevice.inFile(Path.of("state")) }})
        println(why {{ device.serial(least = 3) }})
        println(device.serial())
        val bytes = storage.load()!!
        println(why {{ SmokesDevice(Held(bytes.copyOf(bytes.size - 1))).serial() }})
        println(why {{ SmokesDevice(Held(FOREIGN)).create({PERIOD}) }})
        val before = Held(bytes)
        SmokesDevice(before).report(answer, {PERIOD} + 1)
        check(!before.content.contentEquals(bytes))
    }}
}}
"""
REASONS = ["missing", "exhausted", "present", "past", "busy", "rolled-back", "2", "damaged", "other"]


@pytest.mark.slow
def test_kotlin_by_its_compiler(tmp_path: Path) -> None:
    """Its machine is in Java, and is that of the Java package but for names."""
    needs("javac", "java")
    folder = made("kotlin", tmp_path)
    java = package_texts(TABLES, "java", "com.example.survey", cases=2, device=DEVICE)
    machine = java["src/main/java/com/example/survey/SmokesDevice.java"].replace("SmokesDevice", "SmokesDeviceMachine")
    machine = re.sub(r"\b(Smokes|Again)\.", r"\1Sampler.", machine)
    assert (folder / "src/main/java/com/example/survey/SmokesDeviceMachine.java").read_text() == machine
    place = TOOLS / "kotlin-compiler"
    if not (place / "lib" / "kotlin-compiler.jar").exists():
        pytest.skip("the compiler of Kotlin is not installed (make toolchains)")
    foreign = export_foreign(tmp_path)
    (folder / "Main.kt").write_text(KOTLIN + f"\nval FOREIGN = byteArrayOf({foreign})\n")
    compiler = ["java", "-Xmx1g", "-cp", str(place / "lib" / "kotlin-preloader.jar")]
    compiler += ["org.jetbrains.kotlin.preloading.Preloader", "-cp", str(place / "lib" / "kotlin-compiler.jar")]
    compiler += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-reflect"]
    run([*compiler, "src/main/kotlin", "src/main/java", "Main.kt", "-d", "out"], folder)
    sources = [str(path.relative_to(folder)) for path in (folder / "src/main/java").rglob("*.java")]
    run(["javac", "-Xlint:all", "-Werror", "-d", "out", *sources], folder)
    library = os.pathsep.join(["out", str(place / "lib" / "kotlin-stdlib.jar")])
    assert run(["java", "-cp", library, "MainKt"], folder).split() == REASONS


def export_foreign(folder: Path) -> str:
    """A state of another device, as Kotlin's bytes."""
    from mechdesign.deploy.device import created

    content = created(counting()[1], None, PERIOD, 1)
    return ", ".join(str(int.from_bytes(bytes([byte]), signed=True)) for byte in content)


@pytest.mark.parametrize("of", ["remembers", "counts", "items"])
def test_swift_is_of_its_grammar_and_its_c_compiles(of: str, tmp_path: Path) -> None:
    """There is no compiler of Swift here: the machine is the C of the C package, and what is above it is parsed."""
    tree_sitter = pytest.importorskip("tree_sitter", reason="the Python package tree-sitter is not installed")
    grammar = pytest.importorskip("tree_sitter_swift", reason="the Python package tree-sitter-swift is not installed")
    needs("gcc")
    folder = made("swift", tmp_path) if of == "remembers" else made("swift", tmp_path, *OTHERS[of]())
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    sources = sorted(folder.rglob("*.swift"))
    assert [path.name for path in sources if parser.parse(path.read_bytes()).root_node.has_error] == []
    inner = folder / "Sources" / "CSurvey"
    header = "".join(path.read_text() for path in inner.glob("include/*.h"))
    called = {name for path in sources for name in re.findall(r"\bdevice_[0-9a-f]{8}_\w+(?=\()", path.read_text())}
    assert {name.split("_", 2)[2] for name in called} > {"create", "serial", "open", "close", "storage"}
    assert all(re.search(rf"\b{name}(\(|;)", header) for name in called)
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iinclude"]
    run([*strict, "-c", *[path.name for path in inner.glob("device_*.c")], "-o", str(tmp_path / "device.o")], inner)
