"""What a device adds to a package: its state machine beside the samplers, a storage, its file, and its own tests.

A package with a device is the package of its tables with more files, and some lines more in those that name them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from mechdesign.deploy.device.description import Device, device_among
from mechdesign.deploy.device.relations import losses_together
from mechdesign.deploy.device.sources import Names, filled, vectors_text
from mechdesign.deploy.export.layout import chosen, fill
from mechdesign.deploy.export.packages import npm
from mechdesign.deploy.export.packages.jvm import kotlin_example
from mechdesign.deploy.export.packages.npm import example, tested
from mechdesign.deploy.export.packages.package import DEVICE, MANIFEST, Member, Package, spent, template
from mechdesign.deploy.export.packages.swift import swift_example
from mechdesign.deploy.reports.collection import Collection
from mechdesign.deploy.table import Table
from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import frozen

_ONE_BY_ONE = "export a package for every question: what one person loses by all of them adds up"

_TAKEN = frozenset({"DeviceError", "DeviceStorage", "DeviceTest", "DeviceTests"})
"""Classes of devices and of their tests."""

_NONE = {
    "sql": (
        "a warehouse draws for many people at once, and has no storage of one device",
        "export the sampler without --reports, or the device for the app with --to swift, kotlin or typescript",
    ),
    "opendp": (
        "a measurement of OpenDP is a function, and has no place for a state",
        "export it without --reports, or the device with --to python",
    ),
    "wasm": (
        "the state machine is not compiled to WebAssembly, and a page stores its state in JavaScript",
        "take --to typescript, whose package has the device",
    ),
}
"""Why there is no device in a language, and what to do then."""


@frozen
class Kept:
    """A package whose first table is drawn by a device, and by its second one again in every report."""

    package: Package
    device: Device
    once: Member
    again: Member | None

    @property
    def name(self) -> str:
        """What the device is called in the package.

        >>> Kept.name.fget(type("", (), {"once": type("", (), {"name": "smokes"})}))
        'smokes_device'
        """
        return f"{self.once.name}_device"

    @property
    def type(self) -> str:
        """The same as classes are written."""
        return f"{self.once.camel}Device"

    @property
    def reporting(self) -> Member:
        """The table whose outputs are reported."""
        return self.once if self.again is None else self.again

    @property
    def folder(self) -> str:
        """The folder of a package of classes."""
        return self.package.name.replace(".", "/")

    @property
    def is_labelled(self) -> bool:
        return self.once.plan.input_labels is not None or self.reporting.plan.output_labels is not None

    def machine(
        self, language: str, names: Names, sources: Mapping[str, str], more: Mapping[str, object] | None = None
    ) -> dict[str, str]:
        """Sources of the device in a language, as they stand in a package."""
        places = {"package": self.package.name, **(more or {})}
        return filled(self.device, language, names, sources, places, {"packaged"})

    def text(self, name: str, more: Mapping[str, object]) -> str:
        """A template of packages with devices."""
        words = {"items" if self.device.items else "numbers", *(["memory"] if self.device.values else [])}
        words |= {"forgets"} if self.device.forgets else set()
        places = {"package": self.package.name, "device": self.name, "name": self.type, **more}
        places.setdefault("drawn", self.device.drawn)
        return fill(chosen(template(f"device/{name}"), words), {"typical": tested(self.once)["typical"], **places})

    @property
    def vectors(self) -> str:
        return vectors_text(self.device)


@frozen
class Added:
    """Files that are new or written anew, and what the README says: how it is called, and how it is stored."""

    texts: Mapping[str, str]
    called: str
    storage: str


def with_device(package: Package, device: Device, texts: Mapping[str, str]) -> dict[str, str]:
    """The files of a package, with those of a device that draws from its tables."""
    kept = Kept(package, device, *_members(package, device))
    _require_free(kept)
    added = _ADDED[package.language](kept, dict(texts))
    manifest = json.loads(texts[MANIFEST])
    again = None if kept.again is None else kept.again.name
    manifest["device"] = {"file": DEVICE, "table": kept.once.name, "again": again, "sha256": device.sha256}
    readme = _instead(texts["README.md"], spent(package), _SPENT)
    readme = _before(readme, "## What the app must do\n", _readme(kept, added))
    return {
        **texts,
        "README.md": readme,
        MANIFEST: json.dumps(manifest, indent=2) + "\n",
        DEVICE: device.content.decode(),
        **added.texts,
    }


_SPENT = "**What one person spends is what the reports of the device lose together: see below.**"


def require_state(language: str) -> None:
    """`InvalidInput` with the reason and the next step where packages of a language have no device."""
    if language in _NONE:
        reason, step = _NONE[language]
        rule = f"be one of {', '.join(STATEFUL)} where a device keeps a state: {reason}"
        raise InvalidInput("language", language, rule, step)


def require_own_tables(device: Device, tables: Mapping[str, Table] | Collection) -> None:
    """A package with a device holds the tables it draws from, and no more."""
    if isinstance(tables, Collection):
        rule = "be tables where a device keeps a state: each attribute has a device of its own"
        raise InvalidInput("collection", tables.name, rule, _ONE_BY_ONE)
    own = {device.table.sha256, device.reporting.sha256}
    if {table.sha256 for table in tables.values()} != own or len(tables) != len(own):
        rule = "be those of one device: what is drawn once, and what draws again, where there is one"
        raise InvalidInput("tables", ", ".join(tables), rule, _ONE_BY_ONE)


def device_named(root: Path) -> str | None:
    """The hash of the device that a package's manifest names, which `package_difference` decides."""
    said = json.loads(files.read_bytes(root / MANIFEST)).get("device")
    return str(said.get("sha256")) if isinstance(said, dict) else None


def device_in(root: Path, tables: Mapping[str, Table]) -> Device | None:
    """The device of a folder whose manifest names one, decided from its file and these tables; or `FileProblem`."""
    if device_named(root) is None:
        return None
    return device_among(root / DEVICE, tables.values())


def _members(package: Package, device: Device) -> tuple[Member, Member | None]:
    by_hash = {member.plan.sha256: member for member in package.members}
    return by_hash[device.table.sha256], None if device.again is None else by_hash[device.again.sha256]


def _require_free(kept: Kept) -> None:
    for member in kept.package.members:
        is_other = member is not kept.once
        if member.camel in _TAKEN or (is_other and (member.name + "_").startswith(kept.name + "_")):
            rule = f"not be a word that the device {kept.name} has already"
            raise InvalidInput("table name", member.name, rule, "rename the table's file")


def _readme(kept: Kept, added: Added) -> str:
    device = kept.device
    rows = (f"| {loss.relation} | {loss.words} |" for loss in losses_together(device))
    again = "" if kept.again is None else f", which `{kept.again.name}` randomises again in every report"
    places = {
        "once": kept.once.name,
        "size": device.size,
        "values": device.values,
        "reports": device.reports,
        "again": again,
        "sha": device.sha256,
        "reporting": kept.reporting.name,
        "losses": "\n".join(rows),
        "called": added.called,
        "storage": added.storage,
    }
    return kept.text("README.md", places)


def _before(text: str, mark: str, more: str) -> str:
    """The text with ``more`` before a mark that stands in it once."""
    return _instead(text, mark, more + mark)


def _instead(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise AssertionError(f"the template has {old!r} {text.count(old)} times")
    return text.replace(old, new)


def _python(kept: Kept, texts: dict[str, str]) -> Added:
    root, name = f"src/{kept.package.name}", kept.name
    names = Names(name, kept.type, kept.once.plan.stem, kept.reporting.plan.stem)
    core = "report_code" if kept.is_labelled else "report"
    called = (
        f"```python\nfrom {kept.package.name} import {name}\n\n"
        f'with {name}.FileStorage("state") as storage:  # or two functions of your own\n'
        "    # once, with what the server grants of this period\n"
        f"    {name}.create(storage, period=2946, allowance={kept.device.reports})\n"
        f"    report = {name}.report(storage, {example(kept.once)}, period=2946)\n```"
    )
    new = {
        f"{root}/__init__.py": texts[f"{root}/__init__.py"] + f"from . import {name}  # noqa: F401\n",
        **kept.machine("python", names, {f"{root}/{name}.py": "device.py.in"}, {"within": "from . "}),
        "tests/test_device.py": kept.text("test_device.py.in", {"core": core}),
        f"tests/{name}_vectors.txt": kept.vectors,
    }
    return Added(new, called, _IN_FILE)


def _rust(kept: Kept, texts: dict[str, str]) -> Added:
    crate, name = kept.package.name.replace("-", "_"), kept.name
    names = Names(name, kept.type, kept.once.name, kept.reporting.name)
    core = "report_code" if kept.is_labelled else "report"
    called = (
        f"```rust\nuse {crate}::{name}::{{create, report, FileStorage}};\n\n"
        'let mut storage = FileStorage::open("state")?; // or your own `Storage`: two functions\n'
        "// once, with what the server grants of this period\n"
        f"create(&mut storage, 2946, {kept.device.reports}, 0)?;\n"
        f"let report = report(&mut storage, {example(kept.once)}, 2946, 0)?;\n```"
    )
    new = {
        "Cargo.toml": _instead(texts["Cargo.toml"], 'rust-version = "1.82"', 'rust-version = "1.89"'),
        "src/lib.rs": texts["src/lib.rs"] + f"pub mod {name};\n",
        **kept.machine("rust", names, {f"src/{name}.rs": "device.rs"}),
        "tests/device.rs": kept.text("device.rs", {"core": core, "crate": crate}),
        f"tests/{name}_vectors.txt": kept.vectors,
    }
    return Added(new, called, f"{_IN_FILE} Its lock needs Rust 1.89.")


def _c(kept: Kept, texts: dict[str, str]) -> Added:
    package = kept.package.name
    stem = f"{package}_{kept.name}"
    names = Names(stem, kept.type, kept.once.plan.stem, kept.reporting.plan.stem)
    core = f"{stem}_report_code" if kept.is_labelled else f"{stem}_report"
    sources = {f"src/{stem}.c": "device.c", f"include/{stem}.h": "device.h", f"tests/{kept.name}_replay.c": "replay.c"}
    report = "double report" if kept.reporting.plan.output_labels is None else "const char *report"
    if kept.device.items:
        report = f"unsigned char report[{stem.upper()}_REPORT_BYTES]"
    given = "report" if kept.device.items else "&report"
    called = (
        f"```c\n#include <{package}.h>\n\n{stem}_file file; /* or two functions of your own in a {stem}_storage */\n"
        f'{stem}_storage storage;\n{report};\nint outcome = {stem}_open(&file, "state", &storage);\n'
        "/* once, with what the server grants of this period */\n"
        f"if (outcome == 0) outcome = {stem}_create(&storage, 2946, {kept.device.reports}, 0);\n"
        f"if (outcome == 0) outcome = {stem}_report(&storage, {example(kept.once)}, 2946, 0, {given});\n"
        f"{stem}_close(&file);\n```"
    )
    header = f"include/{package}.h"
    words = {"@stem@": stem, "@name@": kept.name, "@package@": package}
    new = {
        **kept.machine("c", names, sources),
        header: _before(texts[header], f"\nenum {{ {package.upper()}_OK", f'#include "{stem}.h"\n'),
        f"tests/{kept.name}_file.c": kept.text("file.c", {"core": core, "device": stem, "guard": stem.upper()}),
        f"tests/{kept.name}_vectors.txt": kept.vectors,
        "Makefile": texts["Makefile"] + _replaced(_MAKE, words),
        "CMakeLists.txt": texts["CMakeLists.txt"] + _replaced(_CMAKE, words),
    }
    return Added(new, called, f"{_IN_FILE} On Windows the app brings its own two functions.")


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for word, by in words.items():
        text = text.replace(word, by)
    return text


_MAKE = """
# the device
lib@package@.a: src/@stem@.o

check: check-device
check-device: tests/@name@_replay tests/@name@_file
	./tests/@name@_replay tests/@name@_vectors.txt
	./tests/@name@_file

clean: clean-device
clean-device:
	rm -f src/@stem@.o tests/@name@_replay tests/@name@_file

.PHONY: check-device clean-device
"""

_CMAKE = """
# the device
target_sources(@package@ PRIVATE src/@stem@.c)
if(CMAKE_PROJECT_NAME STREQUAL PROJECT_NAME)
  foreach(program replay file)
    add_executable(@name@_${program} tests/@name@_${program}.c)
    target_link_libraries(@name@_${program} @package@)
  endforeach()
  add_test(NAME replay_@name@ COMMAND @name@_replay ${CMAKE_CURRENT_SOURCE_DIR}/tests/@name@_vectors.txt)
  add_test(NAME file_@name@ COMMAND @name@_file)
endif()
"""


def _swift(kept: Kept, texts: dict[str, str]) -> Added:
    package, device = kept.package.name, kept.device
    inner = f"Sources/C{package}"
    names = Names(device.stem, kept.type, kept.once.plan.stem, kept.reporting.plan.stem)
    core = f"{device.stem}_report_code" if kept.is_labelled else f"{device.stem}_report"
    inputs, is_named = kept.once.plan.input_labels, kept.reporting.plan.output_labels is not None
    value = swift_example(kept.once)
    places: dict[str, object] = {
        "module": f"C{package}",
        "x_type": _number(device, "Int") if inputs is None else f"{kept.once.camel}.Input",
        "x": ("Int64(x)" if device.items else "x") if inputs is None else "x.rawValue",
        "wrapped": f"{kept.reporting.camel}.Output" if is_named else _number(device, "[UInt8]"),
    }
    sources = {
        f"{inner}/{device.stem}.c": "device.c",
        f"{inner}/include/{device.stem}.h": "device.h",
        f"Sources/{package}/{kept.type}.swift": "Device.swift",
    }
    called = (
        f"```swift\nimport {package}\n\n"
        f"let device = {kept.type}(try {kept.type}File(path: path)) // or your own `DeviceStorage`: two functions\n"
        "// once, with what the server grants of this period\n"
        f"try device.create(period: 2946, allowance: {device.reports})\n"
        f"let report = try device.report({value}, period: 2946)\n```"
    )
    header = f"{inner}/include/C{package}.h"
    vectors = f"{kept.name}_vectors"
    new = {
        **kept.machine("swift", names, sources, places),
        header: texts[header] + f'#include "{device.stem}.h"\n',
        f"Tests/{package}Tests/DeviceTests.swift": kept.text(
            "DeviceTests.swift",
            {"module": f"C{package}", "core": core, "example": value, "vectors": vectors, "device": device.stem},
        ),
        f"Tests/{package}Tests/Vectors/{vectors}.txt": kept.vectors,
    }
    return Added(new, called, f"{_IN_FILE} {_APPLE}\n\n{_PARSED}")


def _java(kept: Kept, texts: dict[str, str]) -> Added:
    name = kept.type
    names = Names(kept.name, name, kept.once.camel, kept.reporting.camel)
    called = (
        f'```java\ntry (var storage = new {name}.FileStorage(Path.of("state"))) {{ // or your own {name}.Storage\n'
        "    // once, with what the server grants of this period\n"
        f"    {name}.create(storage, 2946, {kept.device.reports}, 0);\n"
        f"    var report = {name}.report(storage, {example(kept.once)}, 2946, 0);\n}}\n```"
    )
    return Added(_classes(kept, names), called, f"{_IN_FILE} {_ANDROID}")


def _kotlin(kept: Kept, texts: dict[str, str]) -> Added:
    machine = f"{kept.type}Machine"
    names = Names(kept.name, machine, f"{kept.once.camel}Sampler", f"{kept.reporting.camel}Sampler")
    inputs, is_named = kept.once.plan.input_labels, kept.reporting.plan.output_labels is not None
    report = f"{machine}.report(storage, {'x' if inputs is None else 'x.label'}, period, least)"
    output = f"{kept.reporting.camel}.Output"
    places: dict[str, object] = {
        "machine": machine,
        "name": kept.type,
        "x_type": _number(kept.device, "Int") if inputs is None else f"{kept.once.camel}.Input",
        "wrapped": output if is_named else _number(kept.device, "ByteArray"),
        "report": f"{output}.of({report})" if is_named else report,
    }
    called = (
        f"```kotlin\n{kept.type}.inFile(path).use {{ storage -> // or your own {machine}.Storage: two functions\n"
        f"    val device = {kept.type}(storage)\n"
        "    // once, with what the server grants of this period\n"
        f"    device.create(2946, allowance = {kept.device.reports})\n"
        f"    val report = device.report({kotlin_example(kept.once)}, 2946)\n}}\n```"
    )
    kotlin = kept.machine("java", names, {f"src/main/kotlin/{kept.folder}/{kept.type}.kt": "Device.kt"}, places)
    return Added(_classes(kept, names) | kotlin, called, f"{_IN_FILE} {_ANDROID}")


def _number(device: Device, of_items: str) -> str:
    """The type of what is no label."""
    return of_items if device.items else "Double"


def _classes(kept: Kept, names: Names) -> dict[str, str]:
    """The machine in Java, and its tests."""
    core = "reportCode" if kept.is_labelled else "report"
    return {
        **kept.machine("java", names, {f"src/main/java/{kept.folder}/{names.type}.java": "Device.java"}),
        f"src/test/java/{kept.folder}/DeviceTest.java": kept.text(
            "DeviceTest.java", {"core": core, "name": names.type}
        ),
        f"src/test/resources/{kept.name}_vectors.txt": kept.vectors,
    }


def _typescript(kept: Kept, texts: dict[str, str]) -> Added:
    name, once, reporting = kept.name, kept.once.plan.stem, kept.reporting.plan.stem
    names = Names(name, kept.type, once, reporting)
    core = "reportCode" if kept.is_labelled else "report"
    types = {"taken": f'import("./{once}.mjs").Input', "given": f'import("./{reporting}.mjs").Output'}
    called = (
        f'```javascript\nimport {{ {name} }} from "{kept.package.name}";\n'
        f'import {{ withState }} from "{kept.package.name}/browser"; // in Node: fileStorage of "/file"\n\n'
        "// once, with what the server grants of this period\n"
        f"await withState((storage) => {name}.create(storage, 2946, {kept.device.reports}));\n"
        f"const report = await withState((storage) => {name}.report(storage, {example(kept.once)}, 2946));\n```"
    )
    sources = {
        f"{name}.mjs": "device.mjs",
        f"{name}.d.mts": "device.d.mts",
        f"{name}_file.mjs": "file.mjs",
        f"{name}_file.d.mts": "file.d.mts",
        f"{name}_browser.mjs": "browser.mjs",
        f"{name}_browser.d.mts": "browser.d.mts",
    }
    manifest = json.loads(texts["package.json"])
    for place in ("browser", "file"):
        manifest["exports"][f"./{place}"] = {"types": f"./{name}_{place}.d.mts", "default": f"./{name}_{place}.mjs"}
    manifest["files"].append(DEVICE)
    exported = f'export * as {name} from "./{name}.mjs";\n'
    new = {
        **kept.machine("javascript", names, sources, types),
        "package.json": json.dumps(manifest, indent=2) + "\n",
        "index.mjs": texts["index.mjs"] + exported,
        "index.d.mts": texts["index.d.mts"] + exported,
        "test/device.test.mjs": kept.text("device.test.mjs", {"core": core}),
        "test/device.types.ts": fill(_TYPES, {"device": name, "name": kept.once.name, "example": example(kept.once)}),
        f"test/{name}_vectors.txt": kept.vectors,
        "demo/index.html": kept.text(
            "index.html",
            {"form": npm.form(kept.once), "reports": kept.device.reports, "reporting": kept.reporting.name},
        ),
        "demo/collect.mjs": _instead(
            texts["demo/collect.mjs"], r"(demo\/index", rf"({name}(_browser)?\.mjs|demo\/index"
        ),
    }
    return Added(new, called, _IN_PAGE)


_TYPES = """\
import { @device@ as device } from "../index.mjs";
import { withState } from "../@device@_browser.mjs";
import { fileStorage } from "../@device@_file.mjs";

export const kept: device.Storage = fileStorage("state");
device.create(kept, 20, device.REPORTS);
export const report = device.report(kept, @example@, 20, device.serial(kept));
export const later: Promise<typeof report> = withState((storage) => device.report(storage, @example@, 20));
// @ts-expect-error: an input of another type
device.report(kept, Symbol(), 20);
"""

_IN_FILE = (
    "The storage in a file writes beside it, has the disk confirm it, and renames: at every moment the file holds one "
    "state or the other. A lock keeps a second process out."
)
_APPLE = (
    "On Apple's systems exclude the file from backups (`isExcludedFromBackup`) and keep `serial` in a keychain item of "
    "this device only."
)
_PARSED = (
    "The Swift of this package is written beside siblings that are built, and checked by a parser: its exporter had no "
    "compiler of Swift. The C below it, which decides, counts and draws, was compiled and run."
)
_ANDROID = "On Android it needs API 26; keep the file in `noBackupFilesDir`."
_IN_PAGE = (
    "| storage | one state or the other | there to stay | one user at a time |\n|---|---|---|---|\n"
    "| `withState` of `/browser` (IndexedDB) | yes: one transaction | yes, where the browser keeps to strict "
    "durability, and before the report is given | yes: pages wait for each other (`navigator.locks`) |\n"
    "| `webStorage()` (localStorage) | yes | **no**: a browser writes it when it likes, so a crash within seconds can "
    "bring an older state back, which only `least` notices | **no**: hold `navigator.locks` around each call |\n"
    "| `fileStorage` of `/file` (Node) | yes: written beside it and renamed | yes: the disk confirms it | yes, but "
    "a process that is killed leaves `NAME.lock`, and every other is refused until somebody removes it |\n\n"
    "Who clears the data of a site loses the state; private windows begin without one."
)

_ADDED: Mapping[str, Callable[[Kept, dict[str, str]], Added]] = {
    "swift": _swift,
    "kotlin": _kotlin,
    "typescript": _typescript,
    "rust": _rust,
    "c": _c,
    "python": _python,
    "java": _java,
}
"""How a device is added, by language."""

STATEFUL = tuple(_ADDED)
"""The languages whose packages can have a device."""
