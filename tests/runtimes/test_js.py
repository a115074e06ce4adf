"""The JavaScript runtime, its packages and its single modules, by the tools of JavaScript itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, load_table, make_table
from mechdesign.tables.device import Device, FileStorage, created, known
from mechdesign.tables.export.edges.js import single
from mechdesign.tables.export.folder import export_package, package_texts
from mechdesign.tables.export.package import Member
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.kinds import AdditiveLaw, Encoding, ItemsLaw, Listed, PiecesLaw
from mechdesign.tables.kinds.hashing import hashed
from mechdesign.tables.kinds.items import Choice, Coins
from mechdesign.tables.reports import Attribute, Collection, Spending
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.vectors import vectors_with_refusals
from tests.oracles.device_reports import LABELS, PERIOD, response

PROJECT = FOLDER.parent / "js"
TOOLS = Path(__file__).parents[2] / ".toolchains" / "node_modules"
"""Where ``make toolchains`` puts the compilers that npm has."""

DRAWS = 20_000
FALSE_ALARM = 1e-6
CORE = ("randomness", "bits", "reading", "numbers", "items", "table")
TABLES = {"smokes": response(2.0, 3, LABELS), "again": response(1.0, 3, LABELS)}
DEVICE = Device(TABLES["smokes"], TABLES["again"], values=2, reports=5)


@pytest.fixture(scope="module")
def shared() -> dict[str, Table]:
    paths = (path for path in FOLDER.glob("*.json") if path.with_suffix(".txt").exists())
    return {path.stem: load_table(path) for path in paths if not path.stem.endswith("_device")}


@pytest.fixture(scope="module")
def mixed() -> dict[str, Table]:
    """Labels, numbers and items, under names that mean something elsewhere."""
    return {
        "smokes": make_table(catalogue.randomised_response(1.0, FINITE), labels=Labels(TEXTS, TEXTS[::-1])),
        "data": make_table(catalogue.pm(1.0)),
        "table": items("unary", tuple(f"fruit {i}" for i in range(12)), form="optimised"),
        "packages": protocol_table("olh", 1.0, 40),
    }


TEXTS = ("no", 'rather "$not`', "\u00e9t\u00e9\\")
FINITE = response(1.0, 3).domain


def items(kind: str, labels: tuple[str, ...], **options: object) -> Table:
    return make_table(Encoding(kind, 1.0, len(labels), kind, options), labels=Labels(labels, None))


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def compiler() -> str:
    found = shutil.which("tsc") or str(TOOLS / "typescript" / "bin" / "tsc")
    if not Path(found).exists():
        pytest.skip("tsc is not installed (make toolchains)")
    return found


def run(command: list[str], folder: Path) -> str:
    """What a command prints; one that fails is an error with all of it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def passed(said: str) -> int:
    """How many tests Node's runner passed, of which none failed."""
    assert re.search("^(#|ℹ) fail 0$", said, re.MULTILINE), said
    (count,) = re.findall(r"^(?:#|ℹ) pass (\d+)$", said, re.MULTILINE)
    return int(count)


def alone(table: Table, folder: Path) -> str:
    """The name of the module with this table alone, written there with its vectors."""
    member = Member("alone", table, vectors_with_refusals(table, 20, most=300), Subject(table.sha256))
    for name, text in single(member).items():
        (folder / name).write_text(text)
    (folder / "vectors.txt").write_text(member.vectors)
    return member.stem


# -- the runtime by itself ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_project_passes_its_own_tests() -> None:
    needs("node", "npm")
    assert passed(run(["npm", "test", "--silent"], PROJECT)) > 130


def test_its_types_allow_what_they_should_and_no_more() -> None:
    needs("node")
    run(["node", compiler(), "--project", str(PROJECT)], PROJECT)


def test_it_is_formatted_and_linted_by_the_language_s_own_tools() -> None:
    needs("node")
    for program, arguments in (("prettier/bin/prettier.cjs", ["--check", "."]), ("eslint/bin/eslint.js", ["."])):
        if not (TOOLS / program).exists():
            pytest.skip(f"{Path(program).stem} is not installed (make toolchains)")
        run(["node", str(TOOLS / program), *arguments], PROJECT)


def test_what_draws_stays_small() -> None:
    assert sum((PROJECT / "src" / f"{name}.mjs").stat().st_size for name in CORE) < 25_000


def test_the_program_that_replays_says_which_case_is_wrong(tmp_path: Path) -> None:
    needs("node")
    replay = ["node", str(PROJECT / "replay.mjs")]
    lines = (FOLDER / "finite.txt").read_text().splitlines(keepends=True)
    wrong = [*lines[:4], lines[4].replace(lines[4][-17:-1], "f" * 16), *lines[5:]]
    (tmp_path / "wrong.txt").write_text("".join(wrong))
    assert run([*replay, str(FOLDER / "finite.json"), str(FOLDER / "finite.txt")], tmp_path).startswith("PASS ")
    again = [str(FOLDER / name) for name in ("labels.json", "labels_again.json", "labels_device.json")]
    assert run([*replay, *again, str(FOLDER / "labels_device.txt")], tmp_path).startswith("PASS ")
    envelopes = [str(FOLDER / "pieces.json"), str(FOLDER / "pieces_envelopes.txt")]
    assert run([*replay, *envelopes], tmp_path).startswith("PASS ")
    command = [*replay, str(FOLDER / "finite.json"), "wrong.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "FAIL case 3\n")


def test_a_report_takes_as_many_random_bytes_as_the_format_says(shared: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    (tmp_path / "bytes.mjs").write_text(
        f'import {{ readFileSync }} from "node:fs";\nimport {{ readTable }} from "{PROJECT / "src" / "index.mjs"}";\n'
        'for (const path of process.argv.slice(2)) console.log(readTable(readFileSync(path, "utf8")).RANDOM_BYTES);\n'
    )
    said = run(["node", "bytes.mjs", *(str(FOLDER / f"{name}.json") for name in shared)], tmp_path).split()
    laws = [table.law for table in shared.values()]
    least = [law.least_bytes if isinstance(law, ItemsLaw) else min(law.enough_bytes, 4096) for law in laws]
    assert list(map(int, said)) == least


# -- one module --------------------------------------------------------------------------------------------------------


def test_a_table_of_every_kind_alone_in_a_module_answers_its_vectors(shared: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    for table in shared.values():
        stem = alone(table, tmp_path)
        replay = ["node", str(PROJECT / "replay.mjs"), f"{stem}.mjs", "vectors.txt"]
        assert run(replay, tmp_path).startswith("PASS ")


def test_a_module_without_randomness_reports_nothing(tmp_path: Path) -> None:
    needs("node")
    stem = alone(TABLES["smokes"], tmp_path)
    (tmp_path / "main.mjs").write_text(
        f'import {{ NoRandomness, TABLE, sample }} from "./{stem}.mjs";\n'
        f'console.log(TABLE === "{TABLES["smokes"].sha256}");\n'
        'Object.defineProperty(globalThis, "crypto", { value: undefined });\n'
        'try {\n  for (;;) sample("yes");\n} catch (error) {\n  console.log(error instanceof NoRandomness);\n}\n'
    )
    assert run(["node", "main.mjs"], tmp_path).split() == ["true", "true"]


# -- laws --------------------------------------------------------------------------------------------------------------

Cells = tuple[float, Callable[[str], object], Mapping[object, Fraction]]


def cells_of(table: Table) -> Cells:
    """An input, what is counted of a report as it is printed, and how probable each count is, by the table's law."""
    law, whole = table.law, 1 << table.bits
    if isinstance(law, Listed):
        x = law.ends[0]
        chances = law.probabilities([x])[0]
        return x, float, {y: Fraction(chance) for y, chance in zip(law.outputs, chances, strict=True)}
    if isinstance(law, PiecesLaw):
        x = law.ends[0]
        start, cells = law.start(x), law.cells
        inside = lambda y: (round(float(y) / law.step - law.first - 0.5) - start) % cells < law.inside  # noqa: E731
        return x, inside, {True: Fraction(law.weight, whole), False: Fraction(whole - law.weight, whole)}
    if isinstance(law, AdditiveLaw):
        x = law.ends[0]
        zero = law.weights[0] / (2 * Fraction(whole) / (1 - Fraction(law.tail, whole)) - law.weights[0])
        side = lambda y: (float(y) > x) - (float(y) < x)  # noqa: E731
        return x, side, {0: zero, 1: (1 - zero) / 2, -1: (1 - zero) / 2}
    return 1, *of_item(table)


def of_item(table: Table) -> tuple[Callable[[str], object], Mapping[object, Fraction]]:
    """Whether the report supports item 1."""
    law, whole = table.law, 1 << table.bits
    if isinstance(law, Coins):
        own = Fraction(law.own_bit[1], whole)
    else:
        assert isinstance(law, Choice) or table.kind == "subset"
        own = Fraction(law.own, whole)

    def supports(digits: str) -> bool:
        report = bytes.fromhex(digits)
        number = int.from_bytes(report, "little")
        match table.kind:
            case "response":
                return number == 1
            case "unary" | "subset":
                return bool(number >> 1 & 1)
            case "hashing":
                return hashed(1, number & (1 << 64) - 1) % law.hashes == number >> 64
            case "sketch":
                return bool(number >> 8 + hashed(1, report[0]) % law.buckets & 1)
            case _:
                place = number & (1 << law.place_bits) - 1
                home = number >> law.place_bits == 1 % law.blocks
                return home and (place & (1 // law.blocks + 1)).bit_count() % 2 == 0

    return supports, {True: own, False: 1 - own}


SHAPES = (
    *("window", "unbiased", "finite", "pieces", "circle", "additive"),
    *("response", "unary", "hashing", "subset", "hadamard", "sketch"),
)


@pytest.mark.slow
def test_reports_have_the_law_of_their_table(shared: dict[str, Table], tmp_path: Path) -> None:
    """Chi-square, n = 20,000 for each of 12 tables: false alarms with probability 1e-6 each; a share of one half that
    is off by 0.03 is noticed but for a chance of 1e-3."""
    needs("node")
    asked = {name: cells_of(shared[name]) for name in SHAPES}
    (tmp_path / "draw.mjs").write_text(
        f'import {{ readFileSync }} from "node:fs";\nimport {{ readTable }} from "{PROJECT / "src" / "index.mjs"}";\n'
        f"for (const [path, x] of {json.dumps([[str(FOLDER / f'{n}.json'), c[0]] for n, c in asked.items()])}) {{\n"
        '  const { sampleCode } = readTable(readFileSync(path, "utf8"));\n'
        f"  const reports = Array.from({{ length: {DRAWS} }}, () => sampleCode(x));\n"
        '  const said = reports.map((y) => (typeof y === "number" ? y : Buffer.from(y).toString("hex")));\n'
        '  console.log(said.join(" "));\n}\n'
    )
    lines = run(["node", "draw.mjs"], tmp_path).splitlines()
    for (name, (_, cell, chances)), line in zip(asked.items(), lines, strict=True):
        found = Counter(map(cell, line.split()))
        assert found.total() == DRAWS
        assert set(found) <= set(chances), name
        expected = [float(chance) * DRAWS for chance in chances.values()]
        assert stats.chisquare([found[y] for y in chances], expected).pvalue > FALSE_ALARM, name


# -- packages ----------------------------------------------------------------------------------------------------------


def test_a_package_of_labels_numbers_and_items_passes_its_tests(mixed: dict[str, Table], tmp_path: Path) -> None:
    needs("node", "npm")
    export_package(mixed, "typescript", "@example/survey", tmp_path / "made", cases=3)
    assert passed(run(["npm", "test"], tmp_path / "made")) == 4 * len(mixed)


def test_a_package_of_a_collection_writes_envelopes_of_its_attributes(mixed: dict[str, Table], tmp_path: Path) -> None:
    needs("node", "npm")
    study = Collection("study", Spending.SPLIT, [Attribute(name, table) for name, table in mixed.items()])
    export_package(study, "typescript", "survey", tmp_path / "made", cases=0)
    assert passed(run(["npm", "test"], tmp_path / "made")) == 4 * len(mixed)
    head, *_ = (tmp_path / "made" / "test" / "table_envelopes.txt").read_text().splitlines()[2:]
    assert head.split()[3][:24] == "6d64726501010200" + "00000000"
    assert head.split()[3][24:88] == study.sha256


def test_a_package_with_a_device_passes_its_tests(tmp_path: Path) -> None:
    needs("node", "npm")
    export_package(TABLES, "typescript", "survey", tmp_path / "made", cases=3, device=DEVICE)
    assert passed(run(["npm", "test"], tmp_path / "made")) == 4 * len(TABLES) + 1


def test_a_package_whose_device_counts_and_one_whose_device_draws_bytes_pass_their_tests(tmp_path: Path) -> None:
    needs("node", "npm")
    for name, table, values in (
        ("mood", make_table(catalogue.pm(1.0), 16), 0),
        ("fruit", protocol_table("oue", 1, 12), 3),
    ):
        folder = tmp_path / name
        device = Device(table, None, values=values, reports=3)
        export_package({name: table}, "typescript", "survey", folder, cases=3, device=device)
        assert passed(run(["npm", "test"], folder)) == 5


def test_a_package_that_answers_otherwise_fails_its_tests(tmp_path: Path) -> None:
    needs("node")
    export_package(TABLES, "typescript", "survey", tmp_path / "made", cases=0, device=DEVICE)
    for path, old, new in (
        ("data.mjs", r"\"outputs\":[\"0\",\"1\"", r"\"outputs\":[\"1\",\"0\""),
        ("src/state.mjs", "period <= MOST", "period < 9"),
        ("src/envelope.mjs", "12);", "13);"),
    ):
        source = tmp_path / "made" / path
        text = source.read_text()
        assert old in text
        source.write_text(text.replace(old, new, 1))
        done = subprocess.run(["node", "--test"], cwd=tmp_path / "made", capture_output=True, timeout=100, check=False)
        assert done.returncode != 0, path
        source.write_text(text)


def test_a_state_that_python_stored_is_read_by_node(tmp_path: Path) -> None:
    needs("node")
    export_package(TABLES, "typescript", "survey", tmp_path / "made", cases=0, device=DEVICE)
    with FileStorage(tmp_path / "state") as storage:
        storage.store(created(DEVICE, None, PERIOD, 2))
    (tmp_path / "state.lock").unlink()  # Node has no locks that end with a process, and takes any for one of its own
    (tmp_path / "made" / "app.mjs").write_text(
        'import { smokes_device as device } from "survey";\nimport { fileStorage } from "survey/file";\n'
        'const storage = fileStorage("../state");\n'
        f'console.log(device.report(storage, "rather not", {PERIOD}), device.serial(storage));\nstorage.close();\n'
    )
    said = run(["node", "app.mjs"], tmp_path / "made").strip()
    assert said in {f"{label} 2" for label in LABELS.outputs or ()}
    with FileStorage(tmp_path / "state") as storage:
        state = known(DEVICE, storage.load())
    assert (state.serial, state.reports, len(state.entries)) == (2, 4, 1)


def test_packages_of_different_tables_have_the_same_runtime(mixed: dict[str, Table]) -> None:
    few, many = (package_texts(tables, "typescript", "survey", cases=0) for tables in (TABLES, mixed))
    assert not any("device" in path or "state" in path for path in few)
    own = re.compile(r"(tables|test)/.*\.(json|txt)|README.md|mechdesign-package.json|data.mjs|index.(d.mts|mjs)")
    assert {path for path in few if few[path] != many.get(path)} == {path for path in few if own.fullmatch(path)}


WRONG = (
    'smokes.sample("maybe")',
    "smokes.sample(1)",
    'data.sample("1")',
    'export const a: "maybe" = smokes.sample("no")',
    "smokes.INPUT_LABELS[3]",
    'table.sample("maybe")',
    "table.INPUT_LABELS[12]",
    'export const b: string = table.sample("fruit 1")',
    'envelopes.data("1", 20000)',
    'envelopes.data(1, "2099-12-31")',
)
RIGHT = (
    "export const y: typeof smokes.OUTPUT_LABELS[number] = smokes.sample(smokes.INPUT_LABELS[1])",
    "export const code: number = smokes.sampleCode(0)",
    "export const report: table.Output = table.sample(table.INPUT_LABELS[2])",
    "export const bytes: Uint8Array = envelopes.table(report, 20000)",
    "export const input: data.Input = 0.5",
)


def test_the_types_of_a_package_are_those_of_its_tables(mixed: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    folder = tmp_path / "made"
    export_package(mixed, "typescript", "survey", folder, cases=0)
    lines = "".join(f"{line};\n" for line in (*RIGHT, *WRONG))
    (folder / "user.ts").write_text(f'import {{ data, envelopes, smokes, table }} from "./index.mjs";\n{lines}')
    assert refused(folder) == list(range(2 + len(RIGHT), 2 + len(RIGHT) + len(WRONG)))


def test_the_types_of_a_device_are_those_of_its_tables(tmp_path: Path) -> None:
    needs("node")
    folder = tmp_path / "made"
    export_package(TABLES, "typescript", "survey", folder, cases=0, device=DEVICE)
    (folder / "user.ts").write_text(
        'import { smokes_device as device } from "survey";\nimport type { again } from "survey";\n'
        'import { webStorage, withState } from "survey/browser";\nimport { fileStorage } from "survey/file";\n'
        'const kept = fileStorage("state");\ndevice.create(kept, 20, device.REPORTS);\n'
        'export const said: again.Output = device.report(webStorage(), "no", 20, device.serial(kept));\n'
        'export const later: Promise<again.Output> = withState((storage) => device.report(storage, "no", 20));\n'
        'device.report(kept, "maybe", 20);\ndevice.report(kept, 1, 20);\ndevice.create(kept);\n'
    )
    assert refused(folder) == [9, 10, 11]


def refused(folder: Path) -> list[int]:
    """Which lines of user.ts the compiler refuses; it refuses none elsewhere."""
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    command = ["node", compiler(), *options, "user.ts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    found = re.findall(r"^([\w./]+)\((\d+)", done.stdout, re.MULTILINE)
    assert {file for file, _ in found} <= {"user.ts"}, done.stdout
    return sorted({int(line) for _, line in found})


@pytest.mark.slow
def test_65536_labels_compile_and_are_found(tmp_path: Path) -> None:
    needs("node")
    texts = tuple(f"{'x' * 20} {i}" for i in range(65535))
    table = items("hashing", (*texts, "\U0001f600" * 200), hashes=4)
    folder = tmp_path / "made"
    export_package({"fruit": table}, "typescript", "survey", folder, cases=0)
    (folder / "user.ts").write_text(
        f'import {{ fruit }} from "survey";\nfruit.sample("{texts[-1]}");\n'
        'try {\n  fruit.sample("none");\n} catch {\n  const last: fruit.Input = fruit.INPUT_LABELS[65535];\n'
        "  console.log(fruit.sample(last).length);\n}\n"
    )
    options = ["--strict", "--module", "nodenext", "--target", "es2022"]
    run(["node", compiler(), *options, "user.ts"], folder)
    assert run(["node", "user.js"], folder) == f"{table.law.report_bytes}\n"
