"""C99: a static library by CMake or make, a header with the names of its tables, and programs that replay vectors."""

from __future__ import annotations

from mechdesign.deploy.export import c
from mechdesign.deploy.export.packages.npm import bytes_of, called_first, tested
from mechdesign.deploy.export.packages.package import Member, NameRule, Package, common, in_blocks, words

KEYWORDS = words(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "alignas alignof "
    "bool constexpr false nullptr static_assert thread_local true typeof asm class delete friend mutable namespace new "
    "operator private protected public template this throw try using virtual"
)
_LIBRARIES = words("m c pthread rt dl crypto ssl test all check clean main")
RULE = NameRule(
    "[a-z][a-z0-9_]{0,30}",
    "a small letter, then small letters, digits and _, at most 31",
    KEYWORDS | _LIBRARIES,
    KEYWORDS,
)

_CALLED = """\
```c
#include <@package@.h>

@taken@ report;
int outcome = @package@_@name@(@example@, &report);
```"""

RANDOMNESS = (
    "`getrandom` on Linux and Android, `CCRandomGenerateBytes` on Apple's systems, `getentropy` on other Unixes, "
    "`BCryptGenRandom` on Windows; without it the outcome is `NO_RANDOMNESS` and the report is left alone. Each "
    "thread has a "
    "block, and a child of `fork()` begins with none (`pthread_atfork`; who calls `clone` without the C library "
    "must not draw "
    "in the child). Signal handlers must not draw."
)


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    first, are_bytes = package.members[0].plan, bytes_of(package.members[0]) > 0
    declared = "double report" if first.output_labels is None else "const char *report"
    if are_bytes:
        declared = f"unsigned char report[{first.stem.upper()}_REPORT_BYTES]"
    readme = {
        "called": called_first(
            package,
            _CALLED.replace("@taken@ report", declared).replace("&report", "report" if are_bytes else "&report"),
        ),
        "built": "`make`, or `cmake -B build && cmake --build build`.",
        "tested": "`make check`, or `ctest --test-dir build`.",
        "randomness": in_blocks(package, RANDOMNESS),
    }
    names = [member.name for member in package.members]
    listed = {
        "guard": package.name.upper(),
        "sources": " ".join(f"src/{member.plan.stem}.c" for member in package.members),
        "objects": " ".join(f"src/{member.plan.stem}.o" for member in package.members),
        "tests": " ".join(f"{name}_replay" for name in names),
        "includes": package.each('#include "@stem@.h"', lambda _: {}),
        "functions": package.each(_FUNCTION, _given, "\n"),
        "checks": package.each("\t./tests/@name@_replay tests/@name@_vectors.txt\n", lambda _: {}, ""),
        "cmake_tests": package.each(_CMAKE, lambda _: {}, ""),
        "failures": package.each("    missed += check_@name@();\n", lambda _: {}, ""),
        "cases": package.each(_FAILURE, _failing, "\n"),
    }
    texts = common(package, readme) | {
        "Makefile": package.filled("c/Makefile", listed),
        "CMakeLists.txt": package.filled("c/CMakeLists.txt", listed),
        f"include/{package.name}.h": package.filled("c/package.h", listed),
        "tests/no_randomness.c": package.filled("c/no_randomness.c", listed),
    }
    for member in package.members:
        stem, sources = member.plan.stem, c.sources(member.plan)
        texts[f"src/{stem}.c"] = sources[f"{stem}.c"]
        texts[f"include/{stem}.h"] = sources[f"{stem}.h"]
        texts[f"tests/{member.name}_replay.c"] = sources[f"{stem}_replay.c"]
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
    return texts


_FUNCTION = """\
/* Writes a report of @name@ for the input x to y. Returns an outcome of above; without a report y is left alone. */
static inline int @package@_@name@(@takes@x, @gives@y) {
    return @stem@(x, y);
}
"""

_CMAKE = """\
  add_executable(@name@_replay tests/@name@_replay.c)
  target_link_libraries(@name@_replay @package@)
  add_test(NAME replay_@name@ COMMAND @name@_replay ${CMAKE_CURRENT_SOURCE_DIR}/tests/@name@_vectors.txt)
"""

_FAILURE = """\
static int check_@name@(void) {
    @report@;
    int outcome = @core@_from(@typical@, broken, NULL, y);
    if (outcome == @guard@_NO_RANDOMNESS && *y == 7) return 0;
    puts("FAIL @name@: a report without randomness");
    return 1;
}
"""


def _given(member: Member) -> dict[str, object]:
    plan, are_bytes = member.plan, bytes_of(member) > 0
    return {
        "takes": ("int64_t " if are_bytes else "double ") if plan.input_labels is None else "const char *",
        "gives": ("unsigned char *" if are_bytes else "double *") if plan.output_labels is None else "const char **",
    }


def _failing(member: Member) -> dict[str, object]:
    plan = member.plan
    core = f"{plan.stem}_code" if plan.labelled else plan.stem
    guard = plan.stem.upper()
    report = f"unsigned char y[{guard}_REPORT_BYTES] = {{7}}" if bytes_of(member) else "double y[1] = {7}"
    return {**tested(member), "core": core, "guard": guard, "report": report}
