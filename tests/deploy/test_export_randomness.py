"""Where exported samplers take randomness from: what each system allows, and an error where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mechdesign.deploy import Table, export_table, make_table
from mechdesign.deploy.export.plan import plan_of
from mechdesign.domains import Finite
from mechdesign.mechanisms import catalogue

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


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


@pytest.fixture(scope="module")
def table() -> Table:
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), 32)


@pytest.fixture
def iphone(tmp_path: Path) -> Path:
    """Of the headers for randomness, those that Apple's kit for phones has; to include any other is an error."""
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
    return kit


@pytest.mark.parametrize(("left", "expected"), [(1, "0 2"), (0, "2 7")])
def test_c_on_phones_of_apple_uses_what_their_kit_has(
    table: Table, iphone: Path, tmp_path: Path, left: int, expected: str
) -> None:
    """With all bits set the last output is drawn; without randomness there is an error, and the output stays."""
    needs("gcc", "nm")
    stem = plan_of(table.document).stem
    export_table(table, "c", tmp_path, cases=1)
    (tmp_path / "common_crypto.c").write_text(COMMON_CRYPTO.replace("@left@", str(left)))
    (tmp_path / "main.c").write_text(
        f'#include "{stem}.h"\n#include <stdio.h>\nint main(void) {{\n    double y = 7;\n'
        f'    int code = {stem}(0.0, &y);\n    printf("%d %g\\n", code, y);\n    return 0;\n}}\n'
    )
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", str(iphone), "-I", "."]
    assert run([*strict, "-D__APPLE__", "-c", f"{stem}.c", "-o", "sampler.o"], tmp_path) == ""
    assert run([*strict, "main.c", "common_crypto.c", "sampler.o", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == expected
    assert "getentropy" not in run(["nm", "-u", "sampler.o"], tmp_path)


@pytest.mark.parametrize(("left", "expected"), [(1, "Ok(2.0)"), (0, "Err(NoRandomness)")])
def test_rust_on_phones_of_apple_links_no_private_function(
    table: Table, tmp_path: Path, left: int, expected: str
) -> None:
    """The store refuses programs that call getentropy."""
    needs("rustc", "gcc", "ar", "nm")
    stem = plan_of(table.document).stem
    export_table(table, "rust", tmp_path, cases=1)
    (tmp_path / "common_crypto.c").write_text(COMMON_CRYPTO.replace("@left@", str(left)))
    assert run(["gcc", "-c", "common_crypto.c"], tmp_path) == ""
    assert run(["ar", "rcs", "libcommon_crypto.a", "common_crypto.o"], tmp_path) == ""
    (tmp_path / "main.rs").write_text(
        f'#[path = "{stem}.rs"]\n#[allow(dead_code)]\nmod sampler;\n'
        'fn main() {\n    println!("{:?}", sampler::sample(0.0));\n}\n'
    )
    apple = ["-A", "explicit_builtin_cfgs_in_flags", "--cfg", 'target_vendor="apple"']
    compiler = ["rustc", "--edition", "2021", "-D", "warnings", *apple]
    assert run([*compiler, "main.rs", "-L", ".", "-l", "static=common_crypto", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == expected
    library = ["--crate-type", "lib", "--emit", "obj", f"{stem}.rs", "-o", "sampler.o"]
    assert run([*compiler, *library], tmp_path) == ""
    symbols = run(["nm", "-u", "sampler.o"], tmp_path)
    assert "CCRandomGenerateBytes" in symbols
    assert "getentropy" not in symbols


@pytest.mark.parametrize("language", ["c", "rust"])
def test_linux_is_asked_by_getrandom(table: Table, tmp_path: Path, language: str) -> None:
    if sys.platform != "linux":
        pytest.skip("for Linux")
    stem = plan_of(table.document).stem
    export_table(table, language, tmp_path, cases=1)
    if language == "c":
        needs("gcc", "nm")
        assert run(["gcc", "-c", f"{stem}.c", "-o", "sampler.o"], tmp_path) == ""
    else:
        needs("rustc", "nm")
        library = ["--crate-type", "lib", "--emit", "obj", f"{stem}.rs", "-o", "sampler.o"]
        assert run(["rustc", "--edition", "2021", *library], tmp_path) == ""
    symbols = run(["nm", "-u", "sampler.o"], tmp_path)
    assert "getrandom" in symbols
    assert "getentropy" not in symbols
    assert "CCRandom" not in symbols


@pytest.mark.parametrize("language", ["c", "rust"])
def test_android_is_asked_by_what_all_its_levels_have(table: Table, tmp_path: Path, language: str) -> None:
    """``getrandom`` is there from API 28 only; no other header for randomness is included, and the vectors pass."""
    if sys.platform != "linux":
        pytest.skip("a C library of Linux stands for Android's")
    stem = plan_of(table.document).stem
    export_table(table, language, tmp_path, cases=1)
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "random.h").write_text("#error Android has none before API 28\n")
    if language == "c":
        needs("gcc", "nm")
        c = ["gcc", "-std=c99", "-Wall", "-Werror", "-D__ANDROID__", "-I.", "-c", f"{stem}.c", "-o", "sampler.o"]
        assert run(c, tmp_path) == ""
    else:
        needs("rustc", "nm")
        android = ["-A", "explicit_builtin_cfgs_in_flags", "--cfg", 'target_os="android"']
        library = ["--crate-type", "lib", "--emit", "obj", f"{stem}.rs", "-o", "sampler.o"]
        assert run(["rustc", "--edition", "2021", *android, *library], tmp_path) == ""
    symbols = run(["nm", "-u", "sampler.o"], tmp_path)
    assert "arc4random_buf" in symbols
    assert "getrandom" not in symbols
    assert "getentropy" not in symbols


@pytest.mark.parametrize("missing", ["undefined", "{}"])
def test_javascript_without_secure_randomness_says_so(table: Table, tmp_path: Path, missing: str) -> None:
    needs("node")
    stem = plan_of(table.document).stem
    export_table(table, "javascript", tmp_path, cases=1)
    (tmp_path / "main.mjs").write_text(
        f'import {{ sample }} from "./{stem}.mjs";\n'
        f'Object.defineProperty(globalThis, "crypto", {{ value: {missing} }});\n'
        "try {\n  console.log(sample(0));\n} catch (error) {\n"
        "  console.log(error instanceof TypeError, error.message);\n}\n"
    )
    assert run(["node", "main.mjs"], tmp_path).startswith(
        "false no secure randomness: crypto.getRandomValues is missing"
    )


# -- blocks ------------------------------------------------------------------------------------------------------------

SYSTEM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
static long calls = 0;
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    static ssize_t (*real)(void *, size_t, unsigned);
    const char *how = getenv("RANDOMNESS");
    calls++;
    if (how && how[0] == 'n') {
        errno = ENOSYS;
        return -1;
    }
    if (how && how[0] == 'i' && calls % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    if (!real) real = (ssize_t (*)(void *, size_t, unsigned))dlsym(RTLD_NEXT, "getrandom");
    return real(bytes, how && how[0] == 'i' && count > 100 ? 100 : count, flags);
}
__attribute__((destructor)) static void say(void) {
    if (getenv("COUNT")) fprintf(stderr, "%ld calls\\n", calls);
}
"""
C_DRAWS = """
#include "@stem@.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **given) {
    long i, draws = atol(given[1]);
    double y = 7, x = atof(given[2]);
    if (count > 3) {
        if (@stem@(x, &y)) return 1;
        if (fork() != 0) wait(NULL);
    }
    for (i = 0; i < draws; i++) {
        int outcome = @stem@(x, &y);
        if (outcome) {
            printf("%d %g\\n", outcome, y);
            return 0;
        }
        if (draws < 100) printf("%.17g\\n", y);
    }
    return 0;
}
"""
RUST_DRAWS = """
#[path = "@stem@.rs"]
#[allow(dead_code)]
mod sampler;
extern "C" {
    fn fork() -> i32;
    fn wait(status: *mut i32) -> i32;
}
fn main() {
    let given: Vec<String> = std::env::args().collect();
    let (draws, x): (usize, f64) = (given[1].parse().unwrap(), given[2].parse().unwrap());
    if given.len() > 3 {
        sampler::sample(x).unwrap();
        unsafe {
            if fork() != 0 {
                wait(std::ptr::null_mut());
            }
        }
    }
    for _ in 0..draws {
        match sampler::sample(x) {
            Err(error) => {
                println!("{error:?}");
                return;
            }
            Ok(y) if draws < 100 => println!("{y:?}"),
            Ok(_) => {}
        }
    }
}
"""


@pytest.fixture(scope="module")
def wide() -> Table:
    """Reports that are hardly ever alike; how many digits the rule itself draws depends on the input."""
    return make_table(catalogue.laplace(1.0), 32)


def drawing(language: str, table: Table, folder: Path) -> None:
    """A program that draws, and a library that stands before the operating system's."""
    if sys.platform != "linux":
        pytest.skip("for Linux")
    needs("gcc")
    stem = plan_of(table.document).stem
    export_table(table, language, folder, cases=1)
    (folder / "system.c").write_text(SYSTEM)
    assert run(["gcc", "-shared", "-fPIC", "-w", "system.c", "-o", "system.so", "-ldl"], folder) == ""
    if language == "c":
        (folder / "draws.c").write_text(C_DRAWS.replace("@stem@", stem))
        assert run(["gcc", "-w", "draws.c", f"{stem}.c", "-o", "draws"], folder) == ""
    else:
        needs("rustc")
        (folder / "draws.rs").write_text(RUST_DRAWS.replace("@stem@", stem))
        assert run(["rustc", "--edition", "2021", "draws.rs", "-o", "draws"], folder) == ""


def drawn(folder: Path, *arguments: str, **how: str) -> str:
    preload = {"LD_PRELOAD": str(folder / "system.so"), **how}
    return run(["env", *(f"{key}={value}" for key, value in preload.items()), "./draws", *arguments], folder)


@pytest.mark.parametrize("language", ["c", "rust"])
def test_reports_take_as_many_bytes_for_every_input_and_the_system_is_asked_for_blocks(
    wide: Table, language: str, tmp_path: Path
) -> None:
    drawing(language, wide, tmp_path)
    size = plan_of(wide.document).allotted
    assert size == wide.law.enough_bytes
    for draws in (1, 3000):
        calls = -(-draws * size // 4096)
        asked = {drawn(tmp_path, str(draws), x, COUNT="1").split("\n")[-1] for x in ("0", "0.3", "1")}
        assert asked == {f"{calls} calls"}


@pytest.mark.parametrize("language", ["c", "rust"])
def test_a_system_that_gives_few_bytes_or_is_interrupted_is_asked_again(
    wide: Table, language: str, tmp_path: Path
) -> None:
    drawing(language, wide, tmp_path)
    said = drawn(tmp_path, "50", "0.3", RANDOMNESS="interrupted").split()
    assert len(said) == 50
    assert len(set(said)) > 25


@pytest.mark.parametrize(("language", "expected"), [("c", "2 7"), ("rust", "NoRandomness")])
def test_a_system_without_randomness_gives_an_error_and_no_report(
    wide: Table, language: str, expected: str, tmp_path: Path
) -> None:
    drawing(language, wide, tmp_path)
    assert drawn(tmp_path, "50", "0.3", RANDOMNESS="none") == expected


def assert_differ(said: list[str]) -> None:
    """50 reports of a child, and 50 of its parent: with the same bytes all are alike.

    No report has a probability above 1/1000, so by chance 10 are alike with less than 1e-15.
    """
    assert len(said) == 100
    assert sum(one == other for one, other in zip(said[:50], said[50:], strict=True)) < 10


@pytest.mark.parametrize("language", ["c", "rust"])
def test_a_child_of_a_fork_repeats_no_bytes_of_its_parent(wide: Table, language: str, tmp_path: Path) -> None:
    drawing(language, wide, tmp_path)
    assert_differ(drawn(tmp_path, "50", "0.3", "fork").split())


def test_a_child_of_a_fork_repeats_no_bytes_in_python(wide: Table, tmp_path: Path) -> None:
    stem = plan_of(wide.document).stem
    export_table(wide, "python", tmp_path, cases=1)
    (tmp_path / "main.py").write_text(
        f"import os\nfrom {stem} import Allotment, sample, spare\n"
        "sample(0.3)\nassert spare\nchild = os.fork()\n"
        "if child:\n    os.waitpid(child, 0)\nelse:\n    assert not spare\n"
        "for _ in range(50):\n    print(sample(0.3), flush=True)\n"
    )
    assert_differ(run([sys.executable, "main.py"], tmp_path).split())


def test_threads_share_no_bytes_in_python(wide: Table, tmp_path: Path) -> None:
    stem = plan_of(wide.document).stem
    export_table(wide, "python", tmp_path, cases=1)
    (tmp_path / "main.py").write_text(
        f"import sys\nfrom concurrent.futures import ThreadPoolExecutor\nfrom {stem} import Allotment\n"
        "sys.setswitchinterval(1e-6)\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    taken = list(pool.map(lambda _: Allotment().own, range(4000)))\n"
        "print(len(set(taken)))\n"
    )
    assert run([sys.executable, "main.py"], tmp_path) == "4000"


FAILURES = {
    "the system": ("os.urandom = broken", "sample({x})"),
    "too few bytes": ("", "sample({x}, lambda count: b'\\0' * (count - 1))"),
    "no such source": ("del os.urandom\nos.urandom = missing", "sample({x})"),
}


@pytest.mark.parametrize("fault", FAILURES)
def test_python_without_randomness_raises_a_typed_error(table: Table, fault: str, tmp_path: Path) -> None:
    stem = plan_of(table.document).stem
    export_table(table, "python", tmp_path, cases=1)
    before, call = FAILURES[fault]
    (tmp_path / "main.py").write_text(
        f"import os\nfrom {stem} import NoRandomness, sample\n\n"
        "def broken(count):\n    raise OSError('broken')\n\n"
        "def missing(count):\n    raise NotImplementedError\n\n"
        f"{before}\ntry:\n    print({call.format(x=1)})\nexcept NoRandomness as error:\n    print('none:', error)\n"
    )
    assert run([sys.executable, "main.py"], tmp_path).startswith("none: ")


def test_opendp_without_randomness_raises_an_error(table: Table, tmp_path: Path) -> None:
    pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    stem = plan_of(table.document).stem
    export_table(table, "opendp", tmp_path, cases=1)
    (tmp_path / "main.py").write_text(
        f"import os\nimport opendp.prelude as dp\nfrom {stem}_opendp import make_measurement\n"
        "dp.enable_features('contrib', 'honest-but-curious')\n"
        "def broken(count):\n    raise OSError('broken')\n"
        "measure = make_measurement()\nos.urandom = broken\n"
        "try:\n    print(measure(1.0))\n"
        "except dp.OpenDPException as error:\n    print('none:', 'NoRandomness' in str(error))\n"
    )
    assert run([sys.executable, "main.py"], tmp_path) == "none: True"


@pytest.mark.parametrize("fault", ["() => { throw new Error('quota'); }", "null"])
def test_javascript_whose_randomness_fails_throws_a_typed_error(table: Table, fault: str, tmp_path: Path) -> None:
    needs("node")
    stem = plan_of(table.document).stem
    export_table(table, "javascript", tmp_path, cases=1)
    (tmp_path / "main.mjs").write_text(
        f'import {{ NoRandomness, sample }} from "./{stem}.mjs";\n'
        f'Object.defineProperty(globalThis, "crypto", {{ value: {{ getRandomValues: {fault} }} }});\n'
        "try {\n  console.log(sample(0));\n} catch (error) {\n"
        "  console.log(error instanceof NoRandomness, error.name);\n}\n"
    )
    assert run(["node", "main.mjs"], tmp_path) == "true NoRandomness"
