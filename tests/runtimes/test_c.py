"""The runtime in C: its own tests under strict compilers, its law, its systems, its packages, and changes of it."""

from __future__ import annotations

import functools
import json
import math
import random
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Table, load_table, make_table
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.folder import export_package
from mechdesign.tables.export.single import export_table
from mechdesign.tables.labels import Labels
from mechdesign.tables.reports.collection import Attribute, Collection, Spending
from mechdesign.words.domains import Finite

RUNTIMES = Path(__file__).parents[2] / "mechdesign" / "runtimes"
SOURCES = sorted((RUNTIMES / "c" / "src").glob("*.c"))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
CLEAN = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path, *, fails: bool = False) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    said = (done.stdout + done.stderr).strip()
    assert (done.returncode != 0) == fails, said
    return said


def compiled(folder: Path, main: str, *flags: str, name: str = "main") -> Path:
    """A program with the runtime in it."""
    needs("gcc")
    (folder / f"{name}.c").write_text(main)
    own = [f"-I{RUNTIMES / 'c' / 'include'}", f"-I{RUNTIMES / 'c' / 'src'}", f"-I{RUNTIMES / 'c' / 'tests'}"]
    run(["gcc", *STRICT, *own, *flags, f"{name}.c", *map(str, SOURCES), "-pthread", "-o", name], folder)
    return folder / name


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("gcc", ["-O2"]), ("gcc", ["-O1", *CLEAN]), ("clang", ["-O1"])],
    ids=["gcc", "asan", "clang"],
)
@pytest.mark.slow
def test_its_own_tests_pass(compiler: str, flags: list[str], tmp_path: Path) -> None:
    needs(compiler, "make")
    shutil.copytree(RUNTIMES / "c", tmp_path / "c")
    shutil.copytree(RUNTIMES / "vectors", tmp_path / "vectors")
    given = " ".join([*STRICT, *flags])
    said = run(
        ["make", "check", f"CC={compiler}", f"CFLAGS={given}", f"LIBS=-pthread {' '.join(flags)}"], tmp_path / "c"
    )
    vectors = {path.name for path in (RUNTIMES / "vectors").glob("*.txt")}
    assert {name for name in vectors if f"/{name}" not in said} == set()
    assert said.count("PASS") == len((tmp_path / "c" / "package.txt").read_text().splitlines()) - 1


def test_its_header_is_one_of_cpp(tmp_path: Path) -> None:
    needs("g++")
    (tmp_path / "main.cpp").write_text(
        '#include "mechdesign.h"\nint main() {\n    return mdp_table_read("", 0, nullptr) - MDP_BAD_FILE;\n}\n'
    )
    run(["g++", "-Wall", "-Wextra", "-Werror", f"-I{RUNTIMES / 'c' / 'include'}", "-c", "main.cpp"], tmp_path)


DECIMALS = """
#include "internal.h"
#include <locale.h>
#include <stdio.h>
static char line[4096], value[4096];
int main(void) {
    setlocale(LC_ALL, "");
    while (fgets(line, sizeof line, stdin) != NULL) {
        double x;
        uint64_t word = 0;
        if (mdp_json_read(value, line, strlen(line)) && mdp_json_decimal(value, &x)) memcpy(&word, &x, 8);
        else word = UINT64_MAX;
        printf("%016llx\\n", (unsigned long long)word);
    }
    return 0;
}
"""


def decimal(x: float) -> str:
    """All digits of a double."""
    sign, exact = "-" if math.copysign(1, x) < 0 else "", abs(Fraction(x))
    places = exact.denominator.bit_length() - 1
    digits = str(exact.numerator * 5**places).rjust(places + 1, "0")
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def test_decimals_are_read_to_the_bit_and_what_is_no_double_is_refused(tmp_path: Path) -> None:
    chosen = random.Random(28)
    every = [struct.unpack("<d", chosen.randbytes(8))[0] for _ in range(2000)]
    numbers = [x for x in every if math.isfinite(x)]
    numbers += [0.0, 0.1, -0.5, 5e-324, -5e-324, 2.2250738585072014e-308, sys.float_info.max, 1.0, 2.0**53 - 1, 1e22]
    no_numbers = [
        "0.1",
        "1e5",
        "",
        "-",
        ".5",
        "5.",
        "1.2.3",
        "0x1",
        "nan",
        "9007199254740993",
        "1" + "0" * 400,
        "0." + "0" * 1100,
    ]
    program = compiled(tmp_path, DECIMALS, *CLEAN)
    lines = "".join(f'"{text}"\n' for text in [*map(decimal, numbers), *no_numbers])
    done = subprocess.run(
        [str(program)],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "de_DE.UTF-8"},
        timeout=60,
    )
    found = done.stdout.split()
    assert found[: len(numbers)] == [struct.pack(">d", x).hex() for x in numbers]
    assert set(found[len(numbers) :]) == {"f" * 16}


FORGED = """
#include "mechdesign.h"
#include <stdio.h>
static char json[1 << 20];
int main(void) {
    mdp_table *table;
    printf("%d\\n", mdp_table_read(json, fread(json, 1, sizeof json, stdin), &table));
    return 0;
}
"""
FAR = 2**63 - 1


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("forged"), FORGED, *CLEAN)


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("window", {"base": FAR}),
        ("window", {"caps": FAR}),
        ("unbiased", {"base": FAR, "caps": FAR}),
        ("additive", {"least": -(2**62), "most": 2**62}),
    ],
    ids=str,
)
def test_a_forged_count_is_refused_before_it_is_added(name: str, forged: dict[str, int], reading: Path) -> None:
    """A sum past 63 bits is undefined in C: the sanitizer ends a program that adds before it refuses."""
    document = json.loads((RUNTIMES / "vectors" / f"{name}.json").read_text())
    for key, number in forged.items():
        law = document["law"]
        law[key] = [law[key][0], number, *law[key][2:]] if isinstance(law[key], list) else number
    text = json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"
    done = subprocess.run([str(reading)], input=text, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("14\n", "")


@pytest.mark.parametrize(
    "forged",
    ['["a"]', "[]", '"a"', "{}", '["a","a"]', '["a","b","c"]', '["a",""]', '["a",1]', '["a",["b"]]']
    + [
        f'["a","{letter}"]'
        for letter in (r"\u0000", r"\ud83d", r"\ud83dn", r"\ude00", r"\x", r"\u12", r"\u12G4", "\x7f")
    ],
)
def test_labels_that_are_not_one_text_for_each_item_are_refused(forged: str, reading: Path) -> None:
    """They are written over the text that they are read from, next to the lists of the law."""
    text = protocol_table("grr", 1.0, ("a", "\U0001f600")).content.decode("ascii")
    for inputs, outcome in ((r'["a","\ud83d\ude00"]', "0\n"), (forged, "14\n")):
        read = text.replace(r'["a","\ud83d\ude00"]', inputs)
        assert inputs in read
        done = subprocess.run([str(reading)], input=read, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == (outcome, "")


@pytest.mark.parametrize(("tail", "outcome"), [(2**32 - 2**16, "0\n"), (2**32 - 2**16 + 1, "14\n")])
def test_noise_that_hardly_ever_ends_is_refused(tail: int, outcome: str, reading: Path) -> None:
    document = json.loads((RUNTIMES / "vectors" / "additive.json").read_text())
    document["bits"] = 32
    document["law"] |= {"tail": tail, "weights": [2**32], "least": 0, "most": 1}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"
    done = subprocess.run([str(reading)], input=text, capture_output=True, text=True, check=False)
    assert done.stdout == outcome


# -- the law -----------------------------------------------------------------------------------------------------------

DRAWN = """
#include "read.h"
#include <stdint.h>
#include <string.h>
int main(int count, char **arguments) {
    mdp_table *table = table_of(arguments[1]);
    double x = strtod(arguments[2], NULL);
    long most = strtol(arguments[3], NULL, 10);
    mdp_report y;
    if (count != 4) return 2;
    while (most-- > 0) {
        uint64_t word = 0;
        if (mdp_sample_code(table, x, &y) != MDP_OK) return 1;
        if (y.size > 0) memcpy(&word, y.bytes, y.size < 8 ? y.size : 8);
        else memcpy(&word, &y.number, 8);
        printf("%016llx\\n", (unsigned long long)word);
    }
    mdp_table_free(table);
    return 0;
}
"""
SHAPES = {
    "window": 0.55,
    "unbiased": 0.3,
    "finite_pairs": 1,
    "clamped_wave": 0.4,
    "clamped_noise": 0.5,
    "response": 2,
    "unary": 3,
    "hadamard": 4,
}
"""Inputs: numbers, or the place of a point or an item."""
REPORTS = 100_000
RATE = 1e-5
"""A right sampler fails one of these tests in 12 500 runs."""


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("drawn"), DRAWN, "-O2")


@pytest.mark.parametrize("name", SHAPES)
def test_reports_have_the_law_of_the_rule_in_python(name: str, drawing: Path, tmp_path: Path) -> None:
    """Two samples of one law: the runtime's, and that of the rule which exact tests hold to the table.

    Pearson's statistic over the outcomes that both drew often (chi-square, a false alarm at rate 1e-5). With 10^5
    reports each a share that is off by a hundredth of 1 is noticed with a power above 0.999.
    """
    x = SHAPES[name]
    table = load_table(RUNTIMES / "vectors" / f"{name}.json")
    drawn = run([str(drawing), str(RUNTIMES / "vectors" / f"{name}.json"), str(x), str(REPORTS)], tmp_path).split()
    reports = table.law.sampler()(np.full(REPORTS, x))
    if reports.ndim == 2:
        own = ["".join(f"{byte:02x}" for byte in reversed(row[:8])).rjust(16, "0") for row in reports.tolist()]
    else:
        own = [struct.pack(">d", y).hex() for y in reports.tolist()]
    if reports.ndim == 1 and len(set(own)) > 400:  # a fine grid: by the tenths of its values
        edges = np.quantile(reports, np.linspace(0.1, 0.9, 9))
        said = np.array([struct.unpack(">d", bytes.fromhex(word))[0] for word in drawn])
        first, second = (np.bincount(np.searchsorted(edges, values), minlength=10) for values in (reports, said))
    else:
        words = sorted(set(own) | set(drawn))
        first, second = (np.array([counts[word] for word in words]) for counts in (Counter(own), Counter(drawn)))
    often = first + second >= 20
    first, second = (np.append(counts[often], counts[~often].sum()) for counts in (first, second))
    kept = first + second > 0
    statistic = float((np.square(first - second)[kept] / (first + second)[kept]).sum())
    assert statistic < chi2.isf(RATE, int(kept.sum()) - 1)


# -- systems -----------------------------------------------------------------------------------------------------------

COMMON_CRYPTO = """
#include <stddef.h>
static int left = @left@;
int CCRandomGenerateBytes(void *bytes, size_t count);
int CCRandomGenerateBytes(void *bytes, size_t count) {
    size_t i;
    if (left-- <= 0) return -4300;
    for (i = 0; i < count; i++) ((unsigned char *)bytes)[i] = 0xff;
    return 0;
}
"""
ONE = """
#include "read.h"
int main(int count, char **arguments) {
    mdp_report y;
    y.number = 7;
    if (count != 2) return 2;
    printf("%d ", mdp_sample_code(table_of(arguments[1]), 0, &y));
    printf("%g\\n", y.number);
    return 0;
}
"""


@pytest.mark.parametrize(("left", "expected"), [(1, "0 2"), (0, "2 7")])
def test_phones_of_apple_are_asked_by_what_their_kit_has(left: int, expected: str, tmp_path: Path) -> None:
    """With all bits set the last output is drawn; without randomness there is an error, and the output stays."""
    needs("gcc", "nm")
    kit = tmp_path / "kit"
    (kit / "CommonCrypto").mkdir(parents=True)
    (kit / "sys").mkdir()
    (kit / "sys" / "random.h").write_text('#error "the kit for phones has no sys/random.h"\n')
    headers = {
        "CommonCryptoError.h": "enum { kCCSuccess = 0 };\ntypedef int CCCryptorStatus;\n",
        "CommonRandom.h": "#include <stddef.h>\n#include <CommonCrypto/CommonCryptoError.h>\n"
        "typedef CCCryptorStatus CCRNGStatus;\nCCRNGStatus CCRandomGenerateBytes(void *bytes, size_t count);\n",
    }
    for name, text in headers.items():
        (kit / "CommonCrypto" / name).write_text(f"#pragma once\n{text}")
    (tmp_path / "kit.c").write_text(COMMON_CRYPTO.replace("@left@", str(left)))
    program = compiled(tmp_path, ONE, f"-I{kit}", "-D__APPLE__", "-D_DEFAULT_SOURCE", "kit.c")
    assert run([str(program), str(RUNTIMES / "vectors" / "finite_pairs.json")], tmp_path) == expected
    assert "getentropy" not in run(["nm", "-u", str(program)], tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="a C library of Linux stands for Android's")
@pytest.mark.parametrize(
    ("flags", "asked", "not_asked"),
    [
        ([], "getrandom", ["getentropy", "arc4random_buf"]),
        (["-D__ANDROID__"], "arc4random_buf", ["getrandom", "getentropy"]),
    ],
    ids=["linux", "android"],
)
def test_a_system_is_asked_by_what_all_its_levels_have(
    flags: list[str], asked: str, not_asked: list[str], tmp_path: Path
) -> None:
    """``getrandom`` is there from API 28 of Android only, and no header of it is included before."""
    needs("gcc", "nm")
    (tmp_path / "sys").mkdir()
    if flags:
        (tmp_path / "sys" / "random.h").write_text("#error Android has none before API 28\n")
    source = RUNTIMES / "c" / "src" / "random.c"
    run(["gcc", "-std=c99", *flags, f"-I{tmp_path}", f"-I{RUNTIMES / 'c' / 'include'}", "-c", str(source)], tmp_path)
    symbols = run(["nm", "-u", "random.o"], tmp_path)
    assert asked in symbols
    assert not any(name in symbols for name in not_asked)


# -- packages ----------------------------------------------------------------------------------------------------------

LABELS = Labels(("no", 'rather "not"', "yes"), ("n", "?", "\u00e9"))


@functools.cache
def smokes() -> Table:
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=LABELS)


@functools.cache
def mood() -> Table:
    return make_table(catalogue.pm(1.0), 32)


def packed(folder: Path) -> None:
    tables = {"smokes": smokes(), "mood": mood(), "fruit": protocol_table("oue", 1.0, 12)}
    export_package(tables, "c", "survey", folder, cases=5)


def collected(folder: Path) -> None:
    attributes = [Attribute("smokes", smokes()), Attribute("mood", mood())]
    export_package(Collection("people", Spending.SPLIT, attributes), "c", "survey", folder, cases=5)


def kept(folder: Path) -> None:
    again = make_table(catalogue.randomised_response(0.5, Finite((0, 1, 2))), labels=Labels(None, ("a", "b", "c")))
    device = Device(smokes(), again, values=2, reports=3)
    export_package({"smokes": smokes(), "again": again}, "c", "survey", folder, cases=5, device=device)


def kept_bytes(folder: Path) -> None:
    table = protocol_table("oue", 1.0, 12)
    export_package({"fruit": table}, "c", "survey", folder, cases=5, device=Device(table, None, values=3, reports=3))


@pytest.mark.parametrize("package", [packed, collected, kept, kept_bytes])
def test_packages_build_and_pass_by_make(package: Callable[[Path], None], tmp_path: Path) -> None:
    needs("gcc", "make")
    package(tmp_path / "p")
    said = run(["make", "check", "CC=gcc", f"CFLAGS=-O1 {' '.join(STRICT)}"], tmp_path / "p")
    assert said.count("PASS") == len((tmp_path / "p" / "package.txt").read_text().splitlines()) - 1
    assert (tmp_path / "p" / "libsurvey.a").is_file()


CALLED = """
#include "survey.h"
#include <fcntl.h>
#include <stdio.h>
int main(void) {
    mdp_table *once = NULL, *again = NULL;
    mdp_report report;
    @called@
    printf("%d %d\\n", outcome, fcntl(0, F_GETFD) >= 0);
    return 0;
}
"""


def test_the_device_of_the_readme_closes_no_file_that_it_did_not_open(tmp_path: Path) -> None:
    """Where reading fails no file was opened. What is not set is zero here, as standard input is."""
    needs("gcc")
    kept(tmp_path / "p")
    called = re.search(r"```c\n(mdp_device device;.*?)```", (tmp_path / "p" / "README.md").read_text(), re.DOTALL)
    assert called is not None
    (tmp_path / "main.c").write_text(CALLED.replace("@called@", called[1]))
    sources = [str(path) for path in sorted((tmp_path / "p" / "src").glob("*.c"))]
    flags = ["-std=c99", "-ftrivial-auto-var-init=zero", "-Ip/include"]
    run(["gcc", *flags, "main.c", *sources, "-pthread", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path) == "14 1"


@pytest.mark.slow
def test_packages_build_and_pass_by_cmake(tmp_path: Path) -> None:
    needs("cmake", "ctest", "gcc")
    kept(tmp_path / "p")
    run(["cmake", "-B", "build", "-DCMAKE_C_COMPILER=gcc"], tmp_path / "p")
    run(["cmake", "--build", "build"], tmp_path / "p")
    assert "100% tests passed" in run(["ctest", "--test-dir", "build"], tmp_path / "p")


def test_a_runtime_is_carried_as_it_stands(tmp_path: Path) -> None:
    packed(tmp_path / "p")
    kept(tmp_path / "kept")
    for path in SOURCES:
        assert (tmp_path / "kept" / "src" / path.name).read_bytes() == path.read_bytes()
        assert (tmp_path / "p" / "src" / path.name).exists() == (path.stem not in ("device", "storage"))


TWO = """
#include "@a@.h"
#include "@b@.h"
#include <stdio.h>
int main(void) {
    mdp_table *first, *second;
    mdp_report report;
    if (mdp_table_read(@a@_@am@_json, @a@_@am@_length, &first) != MDP_OK) return 1;
    if (mdp_table_read(@b@_@bm@_json, @b@_@bm@_length, &second) != MDP_OK) return 2;
    if (mdp_sample_label(first, "yes", &report) != MDP_OK) return 3;
    puts(report.label);
    if (mdp_sample(second, 0.5, &report) != MDP_OK) return 4;
    mdp_table_free(first);
    mdp_table_free(second);
    return 0;
}
"""


def two(a: str, am: str, b: str, bm: str) -> str:
    return TWO.replace("@a@", a).replace("@am@", am).replace("@b@", b).replace("@bm@", bm)


def test_two_packages_are_linked_into_one_program_as_objects_and_as_libraries(tmp_path: Path) -> None:
    needs("gcc", "make")
    for name, table in (("first", smokes()), ("second", mood())):
        export_package({"t": table}, "c", name, tmp_path / name, cases=0)
        run(["make", f"CFLAGS=-O1 {' '.join(STRICT)}"], tmp_path / name)
    (tmp_path / "main.c").write_text(two("first", "t", "second", "t"))
    command = ["gcc", *STRICT, "-Ifirst/include", "-Isecond/include", "main.c", "-pthread", "-o", "main"]
    for linked in (
        ["first/libfirst.a", "second/libsecond.a"],
        [str(path) for name in ("first", "second") for path in sorted((tmp_path / name / "src").glob("*.o"))],
    ):
        run([*command, *linked], tmp_path)
        assert run(["./main"], tmp_path) in ("n", "?", "\u00e9")


def test_sources_that_stand_alone_compile_beside_each_other_and_draw(tmp_path: Path) -> None:
    needs("gcc")
    stems = [export_table(table, "c", tmp_path, cases=5)[0].stem for table in (smokes(), mood())]
    (tmp_path / "main.c").write_text(two(stems[0], "table", stems[1], "table"))
    sources = [f"{stem}.c" for stem in stems]
    run(["gcc", *STRICT, "-O1", *CLEAN, "main.c", *sources, "-pthread", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path) in ("n", "?", "\u00e9")


@pytest.mark.slow
def test_65536_labels_compile_and_are_all_found(tmp_path: Path) -> None:
    needs("gcc", "make")
    labels = tuple(f"label {i}" for i in range(65536))
    export_package({"t": protocol_table("grr", 1.0, labels)}, "c", "survey", tmp_path / "p", cases=5)
    assert "LABEL_65535" not in (tmp_path / "p" / "include" / "survey.h").read_text()
    said = run(["make", "check", "CC=gcc", f"CFLAGS=-O1 {' '.join(STRICT)}"], tmp_path / "p")
    assert "PASS what is no input" in said


def test_labels_have_constants(tmp_path: Path) -> None:
    packed(tmp_path / "p")
    header = (tmp_path / "p" / "include" / "survey.h").read_text()
    assert "SURVEY_SMOKES_INPUT_1_RATHER_NOT" in header
    assert "SURVEY_SMOKES_OUTPUT_2" in header


# -- changes of the runtime --------------------------------------------------------------------------------------------

SAME = (
    "own[8]",  # how large a place is
    "others[16384]",
    "bits == 32",  # the same by another way
    "t->bits > 32 ?",
    "memset(report, 0, ",  # one more, after the end: tests with a sanitizer notice
    "count <= from->left",  # vectors bring their own bytes; tests/randomness.c counts those of the system
    "bytes != own",
    "from->next += count",
    "from->left -= count",
    "from->failed",  # more than one way to be true
    "size_t middle",  # another search that finds the same
    "pick(t->means",  # one more is after the end, as tests with a sanitizer notice
    "number < digits",  # they are different
    "y < t->clamp",
    "y > t->clamp",
    "place < count && numbers[place]",  # one more is after the end
    "t->point_count == 0) return 0",  # the place of what has none
    "place < count - 1; place++",  # one more that nobody looks at
    "z < 0 ?",  # no number is less than itself
    "more < 0",
    "more > t->extra",
    "start < 0",
    "place < 0",
    "place > (double)outside",
    "mdp_put(report, 8, seed)",  # what is written again
    "head = size",  # as many bytes for the table at hand
)
"""Parts of lines whose changes leave every answer of the shared vectors as it is."""
FIRST = "/* The low bits of as few whole bytes as hold them. */\n"
LAST = "/* Writes mdp_report_size bytes. */\n"
"""The rules stand between these lines."""
_CHANGES = [
    (r"(?<![\w.])(\d+)(?![\w.])", lambda found: str(int(found[1]) + 1)),
    (r" < (?!\d+;)", lambda found: " <= "),
    (r" <= ", lambda found: " < "),
    (r" > ", lambda found: " >= "),
    (r" >= ", lambda found: " > "),
    (r" == ", lambda found: " != "),
    (r" != ", lambda found: " == "),
    (r" \+ ", lambda found: " - "),
    (r" - ", lambda found: " + "),
    (r" && ", lambda found: " || "),
    (r" \|\| ", lambda found: " && "),
]


def mutants(text: str) -> list[tuple[int, str]]:
    """Every text with one change in a line that decides, and the number of the line."""
    lines = text.splitlines(keepends=True)
    made = []
    first, last = (lines.index(line) for line in (FIRST, LAST))
    for number, line in enumerate(lines[first:last], first):
        if any(part in line for part in SAME) or line.lstrip().startswith(
            ("/*", "*", "#", "static", "typedef", "enum", "MDP_SHARED")
        ):
            continue
        for pattern, change in _CHANGES:
            for found in re.finditer(pattern, line):
                changed = line[: found.start()] + change(found) + line[found.end() :]
                made.append((number + 1, "".join([*lines[:number], changed, *lines[number + 1 :]])))
    return made


@pytest.mark.slow
def test_a_changed_rule_fails_the_vectors(tmp_path: Path) -> None:
    """Every change of a number, a comparison or a step of the sampling rules."""
    needs("gcc", "sh")
    folder = tmp_path / "c"
    shutil.copytree(RUNTIMES / "c", folder)
    shutil.copytree(RUNTIMES / "vectors", tmp_path / "vectors")
    every = mutants((folder / "src" / "draw.c").read_text())
    assert len(every) > 100
    flags = ["gcc", "-std=c99", "-w", "-O0", "-Iinclude"]
    run([*flags, "-c", *[f"src/{path.name}" for path in SOURCES], "tests/replay.c"], folder)
    (folder / "package.txt").write_text(run(["sh", "tests/list.sh", "../vectors"], folder) + "\n")
    link = ["gcc", *[f"{path.stem}.o" for path in SOURCES], "replay.o", "-pthread", "-o", "replay"]
    run(link, folder)
    replayed = ["sh", "-c", "ulimit -t 5; ./replay list package.txt"]
    assert run(replayed, folder).count("PASS") > 60
    missed = []
    for line, text in every:
        (folder / "changed.c").write_text(text)
        done = subprocess.run(
            [*flags, "-Isrc", "-c", "changed.c", "-o", "draw.o"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            run(link, folder)
            if subprocess.run(replayed, cwd=folder, capture_output=True, check=False).returncode == 0:
                missed.append(f"{line}: {text.splitlines()[line - 1].strip()}")
    assert missed == []
