"""The runtime of the Java virtual machine: its own tests, its law, what it does without randomness, and its packages.

Programs are compiled by javac and, where they are there, Maven and the compiler of Kotlin; where one is missing its
tests are skipped by name.
"""

from __future__ import annotations

import math
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, load_table, make_table
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.edges.jvm import single
from mechdesign.tables.export.folder import export_package, package_texts
from mechdesign.tables.export.package import MOST_CASES, Member
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.reports.collection import Attribute, Collection, Spending
from mechdesign.tables.reports.envelope import Subject
from mechdesign.words.domains import Finite

ROOT = Path(__file__).parents[2]
RUNTIMES = ROOT / "mechdesign" / "runtimes"
JVM = RUNTIMES / "jvm"
VECTORS = RUNTIMES / "vectors"
KOTLIN = ROOT / ".toolchains" / "node_modules" / "kotlin-compiler"
"""Where ``make toolchains`` puts the compiler of Kotlin."""

NAME = "com.example.survey"
DRAWS = 4000
LABELS = Labels(("no", "rather $not", 'y"\u00e9\\'), ("n", "r", "y"))
MOST = 65_536


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path) -> str:
    """What a command prints; one that fails is an error with all of it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def javac(folder: Path, *sources: str | Path, classes: str = "", strict: bool = True) -> None:
    """Compiles to ``out``."""
    needs("javac", "java")
    options = ["--release", "17", "-Xlint:all", "-Werror"] if strict else []
    path = ["-cp", classes] if classes else []
    run(["javac", *options, *path, "-d", "out", *map(str, sources)], folder)


def java(folder: Path, *arguments: str, classes: str = "out") -> str:
    return run(["java", "-cp", classes, *arguments], folder)


def maven(folder: Path) -> dict[str, str]:
    """What the ecosystem's own tests say, by their names."""
    needs("mvn", "javac", "java")
    command = ["mvn", "-o", "-q", "-B", "package"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=550, check=False)
    if "in offline mode and the artifact" in done.stdout:
        pytest.skip("Maven has not its plugins or JUnit here, and does not fetch them in tests")
    assert done.returncode == 0, done.stdout
    reports = (folder / "target" / "surefire-reports").glob("*.txt")
    return {report.name.split(".")[-2]: report.read_text() for report in reports}


def kotlinc(folder: Path, *sources: str | Path) -> str:
    """Compiles to ``out``; the class path with which the program starts."""
    needs("javac", "java")
    if not (KOTLIN / "lib" / "kotlin-compiler.jar").exists():
        pytest.skip("the compiler of Kotlin is not installed (make toolchains)")
    compiler = ["java", "-Xmx1g", "-cp", str(KOTLIN / "lib" / "kotlin-preloader.jar")]
    compiler += ["org.jetbrains.kotlin.preloading.Preloader", "-cp", str(KOTLIN / "lib" / "kotlin-compiler.jar")]
    compiler += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-reflect", "-Xexplicit-api=strict"]
    run([*compiler, "-jvm-target", "17", "-cp", "out", *map(str, sources), "-d", "out"], folder)
    return os.pathsep.join(["out", "resources", str(KOTLIN / "lib" / "kotlin-stdlib.jar")])


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the classes of the runtime, and of its replay program, in ``out``."""
    folder = tmp_path_factory.mktemp("runtime")
    javac(folder, *JVM.rglob("src/main/**/*.java"), *JVM.rglob("*Replay.java"), *JVM.rglob("Vectors.java"))
    return folder


# -- the runtime -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_its_own_tests_pass_by_its_own_tools(tmp_path: Path) -> None:
    shutil.copytree(JVM, tmp_path / "jvm", ignore=shutil.ignore_patterns("target"))
    shutil.copytree(VECTORS, tmp_path / "vectors")
    said = maven(tmp_path / "jvm")
    assert list(said) == ["RuntimeTest"]
    found = re.search(r"Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0", said["RuntimeTest"])
    assert found is not None
    assert int(found[1]) >= 25


def test_it_reproduces_all_vectors(built: Path) -> None:
    said = re.fullmatch(r"PASS (\d+)\n", java(built, "mechdesign.runtime.Vectors", str(VECTORS)))
    assert said is not None
    rows = (path.read_text().splitlines() for path in VECTORS.glob("*.txt"))
    assert int(said[1]) == sum(not row.startswith("#") for text in rows for row in text)


def test_vectors_of_another_table_fail(built: Path) -> None:
    command = ["java", "-cp", "out", "mechdesign.runtime.Replay", str(VECTORS / "window.json")]
    done = subprocess.run(
        [*command, str(VECTORS / "window_62.txt")], cwd=built, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "FAIL case 1\n")


ALLOTTED = """
package mechdesign.runtime;

public final class Allotted {
  public static void main(String[] paths) throws Exception {
    for (String path : paths) {
      Law law = Replay.table(java.nio.file.Path.of(path)).law;
      if (law.items == 0) System.out.println(path + " " + law.allotted);
    }
  }
}
"""


def test_so_many_bytes_are_set_apart_for_a_report_as_its_law_needs(built: Path) -> None:
    tables = {
        str(path): load_table(path)
        for path in VECTORS.glob("*.json")
        if path.with_suffix(".txt").exists() and "_device" not in path.name
    }
    (built / "Allotted.java").write_text(ALLOTTED)
    javac(built, "Allotted.java", classes="out")
    said = dict(row.rsplit(" ", 1) for row in java(built, "mechdesign.runtime.Allotted", *tables).splitlines())
    numbers = {path: table for path, table in tables.items() if not isinstance(table.law, ItemsLaw)}
    assert {path: int(count) for path, count in said.items()} == {
        path: table.law.enough_bytes for path, table in numbers.items()
    }


DRAW = """
import java.nio.file.Files;
import java.nio.file.Path;
import mechdesign.runtime.NoRandomness;
import mechdesign.runtime.Sampler;
import mechdesign.runtime.Table;

public final class Draw {
  static final class Broken extends java.security.SecureRandomSpi {
    protected void engineSetSeed(byte[] seed) {}
    protected void engineNextBytes(byte[] bytes) { throw new java.security.ProviderException("broken"); }
    protected byte[] engineGenerateSeed(int count) { throw new java.security.ProviderException("broken"); }
  }

  static final class Nothing extends java.security.Provider {
    Nothing() {
      super("Nothing", "1", "");
      put("SecureRandom.Broken", Broken.class.getName());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Table table = Table.read(Files.readString(Path.of(arguments[0])));
    double x = Double.parseDouble(arguments[1]);
    if (arguments.length > 3) java.security.Security.insertProviderAt(new Nothing(), 1);
    for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
      try {
        if (arguments[1].contains(".")) {
          System.out.println(Sampler.numbers(table).sample(x));
        } else {
          for (byte part : Sampler.items(table).sample((int) x)) System.out.printf("%02x", part);
          System.out.println();
        }
      } catch (NoRandomness error) {
        System.out.println("no randomness");
      }
    }
  }
}
"""


@pytest.fixture(scope="session")
def drawing(built: Path) -> Path:
    (built / "Draw.java").write_text(DRAW)
    javac(built, "Draw.java", classes="out", strict=False)
    return built


def drawn(drawing: Path, table: Table, x: float, count: int, *more: str) -> list[str]:
    path = drawing / f"{table.sha256[:8]}.json"
    path.write_bytes(table.content)
    return java(drawing, "Draw", str(path), str(x), str(count), *more).split("\n")[:-1]


def assert_fits(observed: list[int], chances: list[float]) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, twice the mass on 1% of the outputs is noticed."""
    assert sum(observed) == DRAWS
    assert math.isclose(sum(chances), 1, rel_tol=1e-12)
    assert stats.chisquare(observed, [DRAWS * chance for chance in chances]).pvalue > 1e-6


@pytest.mark.parametrize("name", ["finite", "window", "unbiased"])
def test_listed_outputs_follow_their_row(drawing: Path, name: str) -> None:
    """At the first input every law is one row: its cumulative counts are those of FORMAT.md."""
    table = load_table(VECTORS / f"{name}.json")
    law, all_counts = table.document["law"], 1 << table.document["bits"]
    x = table.law.ends[0]
    if name == "finite":
        counts = law["rows"][0]
    else:
        reached = [0, *np.cumsum(law["base"]).tolist()]
        gained = [0, *np.cumsum(np.subtract(law["caps"], law["base"])).tolist()]
        extra = all_counts - reached[-1]
        start = law["starts"][0]
        ends = [n + min(max(g - start, 0), extra) for n, g in zip(reached, gained, strict=True)]
        counts = np.diff(ends).tolist()
    found = Counter(map(float, drawn(drawing, table, float(x), DRAWS)))
    outputs = [float(text) for text in law["outputs"]]
    assert set(found) <= set(outputs)
    chances = [count / all_counts for count in counts]
    if name == "unbiased":  # the first row has the mean of the lower end or one below it: the mean is right on average
        mean = sum(y * count for y, count in found.items()) / DRAWS
        assert abs(mean - x) < 6 * max(map(abs, outputs)) / math.sqrt(DRAWS)
    else:
        assert_fits([found[y] for y in outputs], chances)


def test_pieces_hit_their_window_as_often_as_its_weight_says(drawing: Path) -> None:
    table = load_table(VECTORS / "pieces.json")
    law = table.document["law"]
    start = min(max(math.floor((0.25 - float(law["anchor"])) * float(law["scale"])), 0), law["cells"] - law["inside"])
    cells = [round(float(y) / float(law["step"]) - 0.5) - law["first"] for y in drawn(drawing, table, 0.25, DRAWS)]
    hits = sum(0 <= cell - start < law["inside"] for cell in cells)
    chance = law["weight"] / (1 << table.document["bits"])
    assert_fits([hits, DRAWS - hits], [chance, 1 - chance])


def test_noise_has_its_law_about_the_input(drawing: Path) -> None:
    """At an input on the grid nothing is rounded: P(0) and the tails beyond half the first block are exact."""
    table = load_table(VECTORS / "additive.json")
    law, whole = table.document["law"], 1 << table.document["bits"]
    step, weights, far = 2.0 ** -law["shift"], law["weights"], law["tail"] / whole
    sizes = [round((float(y) - 0.5) / step) for y in drawn(drawing, table, 0.5, DRAWS)]
    block, half = len(weights), len(weights) // 2
    one_side = 1 / (
        2 - weights[0] / whole * (1 - far)
    )  # of all signs and sizes but the minus zeros, which are drawn anew
    above = one_side * ((1 - far) * sum(weights[half:]) / whole)
    beyond = one_side * far
    near = 1 - 2 * (above + beyond)
    found = Counter(
        0 if abs(size) < half else int(math.copysign(1 if abs(size) < block else 2, size)) for size in sizes
    )
    assert_fits([found[key] for key in (0, 1, -1, 2, -2)], [near, above, above, beyond, beyond])


@pytest.mark.parametrize("name", ["response_many", "unary", "hashing", "subset", "hadamard", "sketch"])
def test_reports_of_items_support_their_own_as_often_as_stated(drawing: Path, name: str) -> None:
    """By Hoeffding's inequality, false alarms have a probability below 1e-6 for each of both means."""
    table = load_table(VECTORS / f"{name}.json")
    law = table.law
    assert isinstance(law, ItemsLaw)
    rows = np.array([list(bytes.fromhex(text)) for text in drawn(drawing, table, 1, DRAWS)], dtype=np.uint8)
    support = law.support(law.sums(rows))
    least = math.sqrt(math.log(2e6) / (2 * DRAWS))
    assert abs(support[1] / DRAWS - Fraction(table.document["estimator"]["p"])) < least
    if name != "sketch":  # whose few functions map two items to one bucket, or never
        assert abs(support[2] / DRAWS - Fraction(table.document["estimator"]["q"])) < least


@pytest.mark.parametrize(("name", "x"), [("additive", 0.5), ("unary", 1)])
def test_without_randomness_there_is_an_error_and_no_report(drawing: Path, name: str, x: float) -> None:
    assert drawn(drawing, load_table(VECTORS / f"{name}.json"), x, 2, "broken") == ["no randomness"] * 2


OPEN = """
import java.nio.file.Path;
import mechdesign.runtime.FileStorage;
import mechdesign.runtime.StateRefused;

public final class Open {
  private static void open(Path path) throws Exception {
    try (FileStorage storage = new FileStorage(path)) {
      storage.load();
      System.out.println("opened");
    } catch (StateRefused refused) {
      System.out.println(refused.reason);
    }
  }

  public static void main(String[] paths) throws Exception {
    Path path = Path.of(paths[0]);
    if (paths.length == 1) {
      open(path);
      return;
    }
    FileStorage storage = new FileStorage(path);
    open(path);
    open(Path.of(paths[1]));
    new ProcessBuilder("java", "-cp", "out", "Open", paths[0]).inheritIO().start().waitFor();
    storage.close();
    open(path);
    storage.close();
  }
}
"""


def test_a_second_open_is_refused_and_takes_no_lock_from_the_first(built: Path, tmp_path: Path) -> None:
    """Systems count locks by process: a file that is closed again takes those of the whole process along."""
    (built / "Open.java").write_text(OPEN)
    javac(built, "Open.java", classes="out")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    said = java(built, "Open", str(tmp_path / "folder" / "state"), str(tmp_path / "link" / "state"))
    assert said.split() == ["busy", "busy", "busy", "opened"]


# -- changed runtimes --------------------------------------------------------------------------------------------------

# what another line writes over, what is as large or larger, and what the table's numbers never are
SAME = frozenset(
    {
        "Device: 0 -> 1 in hasItems = once.table.law.items > 0;",
        "Device: 0 -> 1 in this(0);",
        "Device: 4 -> 3 in boolean isState = stored.length >= HEAD + 4 && starts(stored, MAGIC.length);",
        "Device: + -> - in boolean isState = stored.length >= HEAD + 4 && starts(stored, MAGIC.length);",
        'Device: 40 -> 39 in if (!starts(stored, 40)) throw new StateRefused("other");',
        "Device: < -> <= in for (int i = at(held); i < end; i++) requireSound(content[i] == 0);",
        "ItemLaw: 8 -> 9 in write(report, 0, 8, seed);",
        "ItemLaw: 1 -> 0 in int[] others = new int[items - 1];",
        "ItemLaw: - -> + in int[] others = new int[items - 1];",
        "Law: 1 -> 2 in long[] found = new long[size + 1];",
        "NumberLaw: 0 -> 1 in long turned = isCircle ? Math.floorMod((long) Math.floor(place), cells) : 0;",
        "NumberLaw: 1 -> 0 in int row = last(means.length - 1, i -> means[i] <= mean);",
        "NumberLaw: - -> + in int row = last(means.length - 1, i -> means[i] <= mean);",
        "NumberLaw: <= -> < in int row = last(means.length - 1, i -> means[i] <= mean);",
        "RandomBytes: 0 -> 1 in long number = 0;",
        "RandomBytes: 64 -> 63 in return bits < 64 ? number & ((1L << bits) - 1) : number;",
        "RandomBytes: < -> <= in return z < 0 ? -number : number;",
        "RandomBytes: < -> <= in if (number != digits) return number < digits;",
        "Sampler: 40 -> 41 in ByteBuffer bytes = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);",
        "Table: 0 -> 1 in boolean hasItems = law.items > 0;",
    }
)
"""Changes after which the program does the same on all tables and states that there are."""

# what vectors do not ask, and the runtime's own tests do: sizes at their bounds, and the negative zero
OWN_TESTS = frozenset(
    {
        "Device: 0 -> 1 in && (!isListed || once.table.place(y) >= 0);",
        "Device: >= -> > in && (!isListed || once.table.place(y) >= 0);",
        "Law: + -> - in return Arrays.binarySearch(numbers, one + 0.0); // minus zero is zero",
        "Law: 1 -> 0 in return Math.max(1, bytesFor(bitLength(size - 1)));",
        "RandomBytes: - -> + in if (end - next >= count) return;",
        "RandomBytes: 1 -> 2 in int bits = Law.bitLength(size - 1);",
        "Table: + -> - in double y = (Double) report + 0.0;",
    }
)
MUTANTS = 150
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
OPERATOR = re.compile(r" (<|<=|>|>=|==|!=|&&|\|\||[+*/%&|^-]|<<|>>>|\+=) ")
INSTEAD = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "/",
    "&": "|",
    "|": "&",
    "^": "|",
    "<<": ">>>",
    ">>>": "<<",
    "+=": "-=",
}
CHANGED = ("Device", "ItemLaw", "Law", "NumberLaw", "RandomBytes", "Sampler", "Table")
NOT_SEEN = re.compile(
    r"FileRefused|(law|file|table|domain|\))\.whole\(|isLast|room|allot|bytesBelow|repeats|attempts|refused =|"
    r"digits =|further =|return -64|most = |i < means|require|isTable|isDevice|file\.text|isRight|labels|random|SYSTEM|"
    r"BLOCK|block\[i\]|place\(places"
)
"""Lines that refuse files, set bytes apart or read the system's: vectors do not show them, other tests do."""


def mutants() -> Iterator[tuple[str, str, str]]:
    """The source, what is changed, and its text."""
    for name in CHANGED:
        text = next(JVM.rglob(f"main/**/{name}.java")).read_text()
        at = 0
        for line in text.splitlines(keepends=True):
            if not re.match(r" *(/\*|\*|//|import|package)", line) and not NOT_SEEN.search(line):
                for start, end, new in replaced(re.sub(r'"(\\.|[^"])*"', lambda text: "_" * len(text[0]), line)):
                    change = f"{name}: {line[start:end]} -> {new} in {line.strip()}"
                    yield name, change, text[: at + start] + new + text[at + end :]
            at += len(line)


def replaced(line: str) -> Iterator[tuple[int, int, str]]:
    for number in NUMBER.finditer(line):
        yield number.start(), number.end(), str(int(number[0]) + 1)
        if int(number[0]) > 0:
            yield number.start(), number.end(), str(int(number[0]) - 1)
    for operator in OPERATOR.finditer(line):
        yield operator.start(1), operator.end(1), INSTEAD[operator[1]]
    for call in re.finditer(r"Math\.(min|max)\(", line):
        yield call.start(1), call.end(1), "max" if call[1] == "min" else "min"


@pytest.mark.slow
def test_a_changed_runtime_does_not_reproduce_the_vectors(built: Path, tmp_path: Path) -> None:
    """A number, a comparison or a step that is another one is noticed, but where it is the same program."""
    shutil.copy(Path(__file__).with_name("Mutants.java"), built)
    javac(built, "Mutants.java", classes="out")
    changes = {}
    for number, (name, change, text) in enumerate(random.Random(7).sample(list(mutants()), MUTANTS)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"{name}.java").write_text(text)
        changes[str(folder)] = change
    said = java(built, "Mutants", "out", str(VECTORS), *changes).splitlines()
    outcomes = dict(row.rsplit(" ", 1) for row in said)
    assert set(outcomes) == set(changes)
    assert set(outcomes.values()) <= {"noticed", "survived", "invalid"}
    survivors = {changes[folder] for folder, outcome in outcomes.items() if outcome == "survived"}
    assert survivors - SAME - OWN_TESTS == set()
    assert Counter(outcomes.values())["noticed"] > 0.8 * MUTANTS


# -- packages ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    """Of labels on both sides, of numbers, of items, and of items with labels."""
    return {
        "smokes_now": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1))), 32, labels=LABELS),
        "age": make_table(catalogue.pm(1.0), 32),
        "fruit": protocol_table("oue", 1.0, 12),
        "pets": protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")),
    }


def made(tables: dict[str, Table] | Collection, language: str, folder: Path, device: Device | None = None) -> Path:
    export_package(tables, language, NAME, folder / "made", cases=20, device=device)
    return folder / "made"


def all_passed(said: dict[str, str], *, has_device: bool = False) -> bool:
    counts = {"PackageTest": 3} | ({"DeviceTest": 1} if has_device else {})
    return said.keys() == counts.keys() and all(
        f"Tests run: {count}, Failures: 0, Errors: 0, Skipped: 0" in said[name] for name, count in counts.items()
    )


JAVA_USER = f"""
import com.example.survey.*;

public class User {{
  public static void main(String[] arguments) {{
    for (int i = 0; i < {DRAWS}; i++) System.out.println(SmokesNow.SAMPLER.sample(SmokesNow.Input.LABEL_1_RATHER_NOT));
    double y = Age.SAMPLER.sample(0.5);
    byte[] fruit = Fruit.SAMPLER.sample(3), pets = Pets.SAMPLER.sample(Pets.Input.of("no $pet"));
    if (Age.SAMPLER.envelope(y, 40000).length != 68 || fruit.length + pets.length != 3) throw new AssertionError();
    if (SmokesNow.SAMPLER.envelope(SmokesNow.Output.of("r"), 40000)[60] != 1) throw new AssertionError();
    try {{
      SmokesNow.Input.of("maybe");
    }} catch (IllegalArgumentException error) {{
      return;
    }}
    throw new AssertionError();
  }}
}}
"""

KOTLIN_USER = f"""
import com.example.survey.Age
import com.example.survey.Fruit
import com.example.survey.Pets
import com.example.survey.SmokesNow

public fun main() {{
    repeat({DRAWS}) {{ println(SmokesNow.sample(SmokesNow.Input.LABEL_1_RATHER_NOT).label) }}
    check(SmokesNow.Input.of("rather \\$not") == SmokesNow.Input.LABEL_1_RATHER_NOT)
    check(SmokesNow.Output.entries.map {{ it.label }} == listOf("n", "r", "y"))
    check(Age.envelope(Age.sample(0.5), 40000).size == 68)
    check(SmokesNow.envelope(SmokesNow.Output.of("r"), 40000)[60] == 1.toByte())
    check(Fruit.sample(3).size + Pets.sample(Pets.Input.LABEL_0_CAT).size == 3)
    check(runCatching {{ Age.envelope(0.5, -1) }}.exceptionOrNull() is IllegalArgumentException)
    check(runCatching {{ Age.sample(2.0) }}.exceptionOrNull() is IllegalArgumentException)
    check(runCatching {{ Fruit.sample(12) }}.exceptionOrNull() is IllegalArgumentException)
}}
"""


def assert_follows(said: str, table: Table) -> None:
    counts = Counter(said.split())
    row = table.document["law"]["rows"][1]
    assert_fits([counts[label] for label in LABELS.outputs or ()], [count / sum(row) for count in row])


def with_resources(folder: Path) -> Path:
    """Tables where Maven would put them, in ``resources``."""
    place = folder / "resources" / NAME.replace(".", "/")
    shutil.copytree(folder / "tables", place)
    if (folder / "device.json").exists():
        shutil.copy(folder / "device.json", place)
    return folder


@pytest.mark.slow
def test_a_package_of_java_passes_its_tests_and_draws(tables: dict[str, Table], tmp_path: Path) -> None:
    folder = made(tables, "java", tmp_path)
    assert all_passed(maven(folder))
    assert (folder / "target" / "survey-1.0.0.jar").exists()
    (folder / "User.java").write_text(JAVA_USER)
    javac(folder, "User.java", classes="target/classes")
    said = java(folder, "User", classes=os.pathsep.join(["target/classes", "out"]))
    assert_follows(said, tables["smokes_now"])


@pytest.mark.slow
def test_a_package_of_kotlin_is_compiled_and_draws(tables: dict[str, Table], tmp_path: Path) -> None:
    folder = with_resources(made(tables, "kotlin", tmp_path))
    javac(folder, *folder.rglob("src/main/**/*.java"))
    (folder / "User.kt").write_text(KOTLIN_USER)
    classes = kotlinc(folder, "src/main/kotlin", "User.kt")
    assert_follows(java(folder, "UserKt", classes=classes), tables["smokes_now"])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["device", "device_of_items", "collection"])
def test_packages_of_devices_and_collections_pass_their_tests(
    tables: dict[str, Table], what: str, tmp_path: Path
) -> None:
    if what == "collection":
        attributes = tuple(Attribute(name, tables[name]) for name in ("smokes_now", "age", "pets"))
        folder = made(Collection("people", Spending.SPLIT, attributes), "java", tmp_path)
    elif what == "device":
        again = make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), 16)
        once = make_table(
            catalogue.randomised_response(2.0, Finite((0, 1, 2))), 16, labels=Labels(("a", "b", "c"), None)
        )
        folder = made({"first": once, "second": again}, "java", tmp_path, Device(once, again, 2, 3))
    else:
        folder = made({"pets": tables["pets"]}, "java", tmp_path, Device(tables["pets"], None, 2, 3))
    assert all_passed(maven(folder), has_device=what != "collection")
    if what == "device":
        (folder / "User.java").write_text(
            "import com.example.survey.*;\nimport java.nio.file.Path;\nimport mechdesign.runtime.*;\n\n"
            "public class User {\n  public static void main(String[] a) throws Exception {\n"
            '    try (var storage = new FileStorage(Path.of("state"))) {\n'
            "      FirstDevice.DEVICE.create(storage, 20, 2, 0);\n"
            "      Double y = FirstDevice.DEVICE.report(storage, First.Input.LABEL_1_B, 20, 0);\n"
            "      System.out.println(y >= 0 && Second.SAMPLER.envelope(y, 1)[5] == 2);\n"
            "      System.out.println(FirstDevice.DEVICE.serial(storage, 0));\n    }\n  }\n}\n"
        )
        javac(folder, "User.java", classes="target/classes")
        assert java(folder, "User", classes=os.pathsep.join(["target/classes", "out"])) == "true\n2\n"


@pytest.mark.slow
def test_a_device_of_kotlin_has_defaults_for_what_is_rarely_said(tables: dict[str, Table], tmp_path: Path) -> None:
    table = tables["smokes_now"]
    folder = with_resources(made({"smokes": table}, "kotlin", tmp_path, Device(table, None, 2, 3)))
    javac(folder, *folder.rglob("src/main/**/*.java"))
    (folder / "User.kt").write_text(
        "import com.example.survey.Smokes\nimport com.example.survey.SmokesDevice\n"
        "import java.nio.file.Path\nimport mechdesign.runtime.FileStorage\nimport mechdesign.runtime.StateRefused\n\n"
        'public fun main() {\n    FileStorage(Path.of("state")).use { storage ->\n'
        "        val device = SmokesDevice(storage)\n        device.create(20, allowance = 1)\n"
        "        val report: Smokes.Output = device.report(Smokes.Input.LABEL_0_NO, 20)\n"
        "        check(report in Smokes.Output.entries)\n"
        "        val refused = runCatching { device.report(Smokes.Input.LABEL_0_NO, 20) }.exceptionOrNull()\n"
        '        check((refused as StateRefused).reason == "exhausted")\n'
        "        println(device.serial())\n    }\n}\n"
    )
    classes = kotlinc(folder, "src/main/kotlin", "User.kt")
    assert java(folder, "UserKt", classes=classes) == "2\n"


def test_packages_of_a_language_carry_the_same_runtime(tables: dict[str, Table]) -> None:
    texts = [package_texts({name: table}, "java", NAME, cases=0) for name, table in tables.items()]
    of_devices = {"Device.java", "FileStorage.java", "StateRefused.java", "Storage.java"}
    for path in (JVM / "src" / "main").rglob("*.java"):
        carried = {text.get(f"src/main/java/mechdesign/runtime/{path.name}") for text in texts}
        assert carried == {None if path.name in of_devices else path.read_text()}


# -- many labels -------------------------------------------------------------------------------------------------------

LONG = "a label that is as long as these are: "
LAST = "\\ud83d\\ude00"


def labels(count: int) -> tuple[str, ...]:
    """In no order of letters; one has as many letters as a label may have."""
    return (*(f"{LONG}{(i * 40_503) % MOST:05}" for i in range(count - 1)), "\U0001f600" * 200)


@pytest.fixture(scope="module")
def most() -> Table:
    return protocol_table("olh", 1, labels(MOST))


MANY = f"""
public class Main {{
  public static void main(String[] a) {{
    @SAMPLER@.sample("{LONG}00000");
    try {{
      @SAMPLER@.sample("none");
    }} catch (IllegalArgumentException error) {{
      System.out.println(@SAMPLER@.sample("{LAST}".repeat(200)).length);
    }}
  }}
}}
"""


@pytest.mark.slow
def test_java_takes_every_label_of_the_most_a_table_has(most: Table, tmp_path: Path) -> None:
    folder = with_resources(made({"fruit": most}, "java", tmp_path))
    (folder / "Main.java").write_text(MANY.replace("@SAMPLER@", "com.example.survey.Fruit.SAMPLER"))
    javac(folder, "Main.java", *folder.rglob("src/main/**/*.java"))
    assert java(folder, "Main", classes=os.pathsep.join(["out", "resources"])) == "9\n"


@pytest.mark.slow
def test_kotlin_takes_every_label_of_the_most_a_table_has(most: Table, tmp_path: Path) -> None:
    folder = with_resources(made({"fruit": most}, "kotlin", tmp_path))
    javac(folder, *folder.rglob("src/main/**/*.java"))
    (folder / "Main.kt").write_text(
        f'import com.example.survey.Fruit\n\npublic fun main() {{\n    Fruit.sample("{LONG}00000")\n'
        '    check(runCatching { Fruit.sample("none") }.exceptionOrNull() is IllegalArgumentException)\n'
        f'    val report = Fruit.sample("{LAST}".repeat(200))\n'
        "    check(Fruit.envelope(report, 40000).size == 60 + report.size)\n    println(report.size)\n}\n"
    )
    classes = kotlinc(folder, "src/main/kotlin", "Main.kt")
    assert java(folder, "MainKt", classes=classes) == "9\n"


@pytest.mark.slow
def test_enums_of_as_many_labels_as_enums_have_are_compiled(tmp_path: Path) -> None:
    table = protocol_table("olh", 1, labels(MOST_CASES))
    for language in ("java", "kotlin"):
        folder = with_resources(made({"fruit": table}, language, tmp_path / language))
        javac(folder, *folder.rglob("src/main/**/*.java"))
        if language == "kotlin":
            kotlinc(folder, "src/main/kotlin")


@pytest.mark.parametrize(
    ("language", "path", "enum"),
    [
        ("java", "src/main/java/{}/Fruit.java", "enum Input"),
        ("kotlin", "src/main/kotlin/{}/Fruit.kt", "enum class Input"),
    ],
)
def test_only_few_labels_are_an_enum(language: str, path: str, enum: str) -> None:
    for count in (MOST_CASES, MOST_CASES + 1):
        texts = package_texts({"fruit": protocol_table("olh", 1, labels(count))}, language, NAME, cases=0)
        text = texts[path.format(NAME.replace(".", "/"))]
        assert (enum in text) == (count == MOST_CASES)
        assert ("inputTexts()" in text) == (count > MOST_CASES)
        assert ("LABEL_0" in texts["README.md"]) == (count == MOST_CASES)


# -- a source that stands alone ----------------------------------------------------------------------------------------


def alone(table: Table, folder: Path) -> str:
    """Writes the files; the name of the class."""
    member = Member("alone", table, (), Subject(table.sha256))
    for path, text in single(member).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return member.stem.capitalize()


def test_a_table_as_a_literal_draws_beside_the_runtime_as_it_stands(tables: dict[str, Table], tmp_path: Path) -> None:
    name = alone(tables["smokes_now"], tmp_path)
    (tmp_path / "User.java").write_text(
        f"public class User {{\n  public static void main(String[] a) {{\n    for (int i = 0; i < {DRAWS}; i++) {{\n"
        f'      System.out.println({name}.SAMPLER.sample({name}.Input.of("rather $not")));\n    }}\n'
        f"    if (!{name}.SAMPLER.table.sha256.equals(a[0])) throw new AssertionError();\n  }}\n}}\n"
    )
    javac(tmp_path, "User.java", *tmp_path.rglob("*.java"))
    assert_follows(java(tmp_path, "User", tables["smokes_now"].sha256), tables["smokes_now"])


@pytest.mark.slow
def test_the_largest_literals_are_compiled(most: Table, tmp_path: Path) -> None:
    name = alone(most, tmp_path)
    (tmp_path / "Main.java").write_text(MANY.replace("@SAMPLER@", f"{name}.SAMPLER"))
    javac(tmp_path, "Main.java", *tmp_path.rglob("*.java"))
    assert java(tmp_path, "Main") == "9\n"
