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
