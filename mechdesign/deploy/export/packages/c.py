"""C99: a static library by CMake or make, a header with the names of its tables, and programs that replay vectors."""

from __future__ import annotations

from mechdesign.deploy.export import c
from mechdesign.deploy.export.packages import envelopes
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
_HEADERS = words(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype std printf "
    "aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue ndbm netdb nl_types "
    "poll pwd regex sched search semaphore spawn strings stropts syslog tar termios trace ulimit unistd utime utmpx "
    "wordexp features endian malloc memory sys net arpa netinet linux asm bits windows bcrypt ntstatus"
)
"""A package's header is found before the system's of that name."""

RULE = NameRule(
    "[a-z][a-z0-9_]{0,30}",
    "a small letter, then small letters, digits and _, at most 31",
    KEYWORDS | _LIBRARIES | _HEADERS,
    KEYWORDS,
)

_CALLED = """\
```c
#include <@package@.h>

@taken@ report;
int outcome = @package@_@name@(@example@, &report);
```"""
ENVELOPED = "`@package@_@name@_envelope(report, last_day, envelope)`"

RANDOMNESS = (
    "`getrandom` on Linux, `arc4random_buf` on Android, `CCRandomGenerateBytes` on Apple's systems, "
    "`getentropy` on other Unixes, "
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
            _CALLED.replace("@taken@ report", declared).replace("&report", "report" if are_bytes else "&report")
            + envelopes.told(ENVELOPED),
        ),
        "built": "`make`, or `cmake -B build && cmake --build build`.",
        "tested": "`make check`, or `ctest --test-dir build`.",
        "randomness": in_blocks(package, RANDOMNESS),
    }
    names = [member.name for member in package.members]
    sources = [f"{member.plan.stem}{ending}" for member in package.members for ending in ("", "_envelope")]
    listed = {
        "guard": package.name.upper(),
        "sources": " ".join(f"src/{source}.c" for source in sources),
        "objects": " ".join(f"src/{source}.o" for source in sources),
        "tests": " ".join(f"{name}_{test}" for name in names for test in ("replay", "envelopes")),
        "includes": package.each('#include "@stem@.h"\n#include "@stem@_envelope.h"', lambda _: {}),
        "functions": package.each(
            _FUNCTION + _ENVELOPE,
            lambda member: _given(member) | {"guard": f"{package.name}_{member.name}".upper()},
            "\n",
        ),
        "checks": package.each(_CHECK, lambda _: {}, ""),
        "cmake_tests": package.each(_CMAKE + _CMAKE_ENVELOPE, lambda _: {}, ""),
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
        stem, written = member.plan.stem, c.sources(member.plan)
        texts[f"src/{stem}.c"] = written[f"{stem}.c"]
        texts[f"include/{stem}.h"] = written[f"{stem}.h"]
        texts[f"tests/{member.name}_replay.c"] = written[f"{stem}_replay.c"]
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
        for ending, folder in (("c", "src"), ("h", "include")):
            texts[f"{folder}/{stem}_envelope.{ending}"] = envelope(member, ending)
        lines = envelopes.vectors(member)
        texts[f"tests/{member.name}_envelopes.txt"] = lines
        texts[f"tests/{member.name}_envelopes.c"] = envelopes.tests(package, "replay.c", _replayed(member, lines))
    return texts


def envelope(member: Member, ending: str) -> str:
    """The writer of envelopes, or its header."""
    taken = {"labels": "const char *", "bytes": "const unsigned char *"}.get(envelopes.form_of(member), "double ")
    return envelopes.source(member, f"envelope.{ending}", c.LANGUAGE, {"taken": taken})


_FUNCTION = """\
/* Writes a report of @name@ for the input x to y. Returns an outcome of above; without a report y is left alone. */
static inline int @package@_@name@(@takes@x, @gives@y) {
    return @stem@(x, y);
}
"""

_ENVELOPE = """
/* The bytes that a collector reads, of a report that @package@_@name@ gave; it counts until the end (UTC) of the day
 * last_day, in days since 1970-01-01. Returns an outcome of above; without an envelope it is left alone. */
enum { @guard@_ENVELOPE = @stem_guard@_ENVELOPE_BYTES };
static inline int @package@_@name@_envelope(@reported@report, uint32_t last_day, unsigned char *envelope) {
    return @stem@_envelope(report, last_day, envelope);
}
"""

_CHECK = """\
\t./tests/@name@_replay tests/@name@_vectors.txt
\t./tests/@name@_envelopes tests/@name@_envelopes.txt
"""

_CMAKE_ENVELOPE = """\
  add_executable(@name@_envelopes tests/@name@_envelopes.c)
  target_link_libraries(@name@_envelopes @package@)
  add_test(NAME envelopes_@name@ COMMAND @name@_envelopes ${CMAKE_CURRENT_SOURCE_DIR}/tests/@name@_envelopes.txt)
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
        "reported": "const char *" if plan.output_labels else "const unsigned char *" if are_bytes else "double ",
        "stem_guard": plan.stem.upper(),
    }


def _failing(member: Member) -> dict[str, object]:
    plan = member.plan
    core = f"{plan.stem}_code" if plan.labelled else plan.stem
    guard = plan.stem.upper()
    report = f"unsigned char y[{guard}_REPORT_BYTES] = {{7}}" if bytes_of(member) else "double y[1] = {7}"
    return {**tested(member), "core": core, "guard": guard, "report": report}


_READ = {
    "label": "    const char *report = (const char *)read;",
    "bytes": "    const unsigned char *report = read;",
    "number": """\
    uint64_t word = 0;
    double report;
    int i;
    for (i = 0; i < 8; i++) word = word << 8 | read[i];
    memcpy(&report, &word, sizeof report);""",
}


def _replayed(member: Member, lines: str) -> dict[str, object]:
    plan = member.plan
    longest = max(map(len, lines.splitlines())) + 2
    words_ = {"stem": plan.stem, "guard": plan.stem.upper(), "longest": longest}
    return {**words_, "report": _READ[envelopes.read_as(member)]}
