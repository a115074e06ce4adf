"""C99: a static library by make or CMake with the tables as constants; or one source and its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mechdesign.tables.export.package import (
    MOST_CASES,
    Kept,
    Language,
    Member,
    NameRule,
    Package,
    Packaging,
    constant_names,
    words,
)
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime

KEYWORDS = words(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "alignas alignof "
    "bool constexpr false nullptr static_assert thread_local true typeof asm class delete friend mutable namespace new "
    "operator private protected public template this throw try using virtual"
)
_LIBRARIES = words("m c pthread rt dl crypto ssl test all check clean main mechdesign internal")
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

_HEADER = "mechdesign.h"
_CORE = ("internal.h", "json.c", "table.c", "draw.c", "random.c")
"""What reads tables and draws."""
_TESTS = ("read.h", "replay.h", "replay.c", "no_randomness.c", "refused.c")
_DEVICE_TESTS = ("replay_device.c", "storage.c")
_OWN_INCLUDE = re.compile(r'^#include "(?:mechdesign|internal)\.h"\n', re.MULTILINE)


def headers(device: Kept | None) -> tuple[str, ...]:
    """What a package of tables, or with a device, declares."""
    return _HEADER, "mechdesign_envelope.h", *(() if device is None else ("mechdesign_device.h",))


def sources(device: Kept | None) -> tuple[str, ...]:
    """What a package of tables, or with a device, is compiled of."""
    return *_CORE, "envelope.c", *(() if device is None else ("device.c", "storage.c"))


def _carried(package: Package) -> dict[str, str]:
    carried = {name: f"c/{name}" for name in ("Makefile", "CMakeLists.txt")}
    carried |= {f"include/{name}": f"c/include/{name}" for name in headers(package.device)}
    carried |= {f"src/{name}": f"c/src/{name}" for name in sources(package.device)}
    tests = _TESTS if package.device is None else _TESTS + _DEVICE_TESTS
    return carried | {f"tests/{name}": f"c/tests/{name}" for name in tests}


def _files(package: Package) -> dict[str, str]:
    name = package.name
    texts = {
        "package.txt": "\n".join([name, *_cases(package)]) + "\n",
        f"include/{name}.h": header(name, package.members, package.device),
        f"src/{name}.c": source(name, f"{name}.h", package.members, package.device),
    }
    for member in package.members:
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
        texts[f"tests/{member.name}_envelopes.txt"] = member.envelopes
    if package.device is not None:
        texts[f"tests/{package.device.name}_vectors.txt"] = package.device.vectors
    return texts


def _cases(package: Package) -> Iterable[str]:
    """The package's tests: programs and what they are given."""
    kept = package.device
    drawn = "" if kept is None else " ".join(["device.json", *(f"tables/{name}.json" for name in _drawn(kept))])
    for member in package.members:
        table = f"tables/{member.name}.json"
        yield f"replay table tests/{member.name}_vectors.txt {table}"
        attribute = member.subject.attribute
        of = table if attribute is None else f"{table} collection.json {attribute}"
        if member.subject.is_device:
            yield f"replay_device envelopes tests/{member.name}_envelopes.txt {drawn}"
        else:
            yield f"replay envelopes tests/{member.name}_envelopes.txt {of}"
        yield f"no_randomness {table}"
        yield f"refused {table}"
    if kept is not None:
        yield f"replay_device states tests/{kept.name}_vectors.txt {drawn}"
        yield f"storage {drawn}"


def _drawn(kept: Kept) -> list[str]:
    """The names of the tables that a device draws from, as its file names them."""
    return [kept.once.name, *([] if kept.again is None else [kept.again.name])]


def header(name: str, members: Iterable[Member], device: Kept | None = None) -> str:
    """What is declared of a package's tables."""
    places = {"name": name, "members": members, "device": device, "headers": headers(device), "has_envelopes": True}
    return render(runtime("c/package/tables.h.jinja"), is_listed=_is_listed, constants=_constants, **places)


def source(name: str, header_name: str, members: Iterable[Member], device: Kept | None = None) -> str:
    """Tables as constants: numbers, as compilers differ in how long a text they take."""
    places = {"name": name, "members": members, "device": device, "header": header_name, "has_envelopes": True}
    return render(runtime("c/package/tables.c.jinja"), numbers=_numbers, hash=_hash, **places)


def _is_listed(labels: tuple[str, ...] | None) -> bool:
    return labels is not None and len(labels) <= MOST_CASES


def _constants(name: str, member: Member, side: str, labels: tuple[str, ...]) -> list[str]:
    return constant_names(f"{name}_{member.name}_{side}".upper(), labels)


def _numbers(text: str) -> str:
    return _lines(text.encode("ascii"))


def _hash(member: Member) -> str:
    return _lines(bytes.fromhex(member.subject.sha256))


def _lines(content: bytes) -> str:
    rows = (content[i : i + 28] for i in range(0, len(content), 28))
    return ",\n".join(",".join(map(str, row)) for row in rows)


def _places(package: Package) -> dict[str, object]:
    member = package.members[0]
    places: dict[str, object] = {"sampled": f"mdp_sample{_input(member, 'table, {}, &report')}"}
    if package.device is not None:
        once = package.device.once
        places["tables"] = "once, again" if package.device.again is not None else "once, NULL"
        places["reported"] = f"mdp_device_report{_input(once, '&device, &storage, {}, 2946, 0, &report')}"
    return places


def _input(member: Member, arguments: str) -> str:
    """The end of a function's name, and its arguments with the first input."""
    if member.input_labels is None:
        return f"({arguments.format(member.first)})"
    return f"_label({arguments.format(c_text(str(member.first)))})"


def is_plain(letter: str) -> bool:
    """Whether a letter stands for itself in texts of every language."""
    return letter.isascii() and (letter.isalnum() or letter in " _.,:-")


def c_text(text: str) -> str:
    """A text in UTF-8. Three octal digits end an escape whatever follows, and question marks make no trigraphs.

    >>> print(c_text('no "??/"'))
    "no \\042\\077\\077\\057\\042"
    """
    escaped = (letter if is_plain(letter) else "".join(f"\\{byte:03o}" for byte in letter.encode()) for letter in text)
    return f'"{"".join(escaped)}"'


def single(member: Member) -> Mapping[str, str]:
    """What draws and the table in one source, and its header."""
    name = f"{member.stem}.h"
    parts = [runtime(f"c/src/{part}") for part in _CORE]
    first = f'#include "{name}"\n'
    runtime_text = "\n".join([_OWN_INCLUDE.sub(first, parts[0]), *(_OWN_INCLUDE.sub("", part) for part in parts[1:])])
    places = {"name": member.stem, "members": [member], "device": None, "has_envelopes": False}
    named = {"header": _HEADER, "headers": [_HEADER], "is_listed": _is_listed, "constants": _constants}
    declared, tables = (
        _OWN_INCLUDE.sub("", render(runtime(f"c/package/tables.{ending}.jinja"), numbers=_numbers, **named, **places))
        for ending in ("h", "c")
    )
    return {name: f"{runtime(f'c/include/{_HEADER}')}\n{declared}", f"{member.stem}.c": f"{runtime_text}\n{tables}"}


C = Language("c", single, Packaging("C", RULE, "c/guide.md", _carried, _files, _places))
