"""A device in other languages: its samplers, its state machine, a storage in a file, and test vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path

from mechdesign.deploy.device.description import Device
from mechdesign.deploy.device.state import MOST_STATE, OF_ITEMS, OF_NUMBERS, entry_size
from mechdesign.deploy.device.vectors import lines, vectors
from mechdesign.deploy.export import c, java, javascript, python, rust
from mechdesign.deploy.export.languages import Difference, first_difference, write_texts
from mechdesign.deploy.export.layout import chosen, fill, template, wrapped
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.writing import Language
from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import frozen

_Files = Callable[[str, str], dict[str, str]]


@frozen
class Names:
    """What generated sources call each other: the device, its class, and the samplers of both tables."""

    device: str
    type: str
    first: str
    again: str


@frozen
class _Target:
    """What differs between languages: how they write numbers, what modules are called, and types of labels.

    ``names`` gives for the stem and the class of a device the files and the templates they are filled from;
    ``takes`` and ``gives`` are the types of what goes in and comes out, each for numbers and for labels; ``wraps`` of
    what comes out of the language above; ``of_items`` what goes in and comes out of a table on items, and both in the
    language above. A language ``spells_out`` samplers if it cannot name modules anew.
    """

    language: Language
    sources: Callable[[Plan], dict[str, str]]
    names: _Files
    module: str
    core: tuple[str, str]
    takes: tuple[str, str] = ("", "")
    gives: tuple[str, str] = ("", "")
    wraps: tuple[str, str] = ("", "")
    of_items: tuple[str, str, str, str] = ("", "", "", "")
    spells_out: bool = False


_TARGETS: Mapping[str, _Target] = {
    "python": _Target(
        python.LANGUAGE,
        python.sources,
        lambda stem, _: {f"{stem}.py": "device.py.in", f"{stem}_replay.py": "replay.py.in"},
        "sampler",
        ("report", "report_code"),
    ),
    "javascript": _Target(
        javascript.LANGUAGE,
        javascript.sources,
        lambda stem, _: {
            f"{stem}.mjs": "device.mjs",
            f"{stem}.d.mts": "device.d.mts",
            f"{stem}_file.mjs": "file.mjs",
            f"{stem}_file.d.mts": "file.d.mts",
            f"{stem}_browser.mjs": "browser.mjs",
            f"{stem}_browser.d.mts": "browser.d.mts",
            f"{stem}_replay.mjs": "replay.mjs",
        },
        "sampler",
        ("report", "reportCode"),
        ("number", "string"),
        ("number", "string"),
        of_items=("number", "Uint8Array", "", ""),
    ),
    "c": _Target(
        c.LANGUAGE,
        c.sources,
        lambda stem, _: {f"{stem}.h": "device.h", f"{stem}.c": "device.c", f"{stem}_replay.c": "replay.c"},
        "sampler",
        ("{device}_report", "{device}_report_code"),
        ("double ", "const char *"),
        ("double *", "const char **"),
        of_items=("int64_t ", "unsigned char *", "", ""),
        spells_out=True,
    ),
    "swift": _Target(  # types above the C files
        c.LANGUAGE,
        c.sources,
        lambda stem, name: {
            f"{stem}.h": "device.h",
            f"{stem}.c": "device.c",
            f"{stem}_replay.c": "replay.c",
            f"{name}.swift": "Device.swift",
        },
        "sampler",
        ("{device}_report", "{device}_report_code"),
        ("double ", "const char *"),
        ("double *", "const char **"),
        ("Double", "String"),
        of_items=("int64_t ", "unsigned char *", "Int", "[UInt8]"),
        spells_out=True,
    ),
    "rust": _Target(
        rust.LANGUAGE,
        rust.sources,
        lambda stem, _: {f"{stem}.rs": "device.rs", f"{stem}_replay.rs": "replay.rs"},
        "sampler",
        ("report", "report_code"),
        ("f64", "&str"),
        ("f64", "&'static str"),
        of_items=("u64", "[u8; DRAWN]", "", ""),
    ),
    "java": _Target(
        java.LANGUAGE,
        java.sources,
        lambda _, name: {f"{name}.java": "Device.java", f"{name}_Replay.java": "Replay.java"},
        "Sampler",
        ("report", "reportCode"),
        ("double", "String"),
        ("double", "String"),
        of_items=("int", "byte[]", "", ""),
        spells_out=True,
    ),
}

LANGUAGES = tuple(_TARGETS)


def export_device(device: Device, language: str, directory: Path | str, *, overwrite: bool = False) -> list[Path]:
    """Write the samplers, the state machine, a program that replays its test vectors, the vectors and the device file.

    *Guarantee.* As `export_table`: for every step of the vectors a program stores the same bytes and reports the same
    double as `mechdesign.deploy.device.reported`, and either all files are written or none.
    """
    if language not in _TARGETS:
        raise InvalidInput("language", language, f"be one of {', '.join(LANGUAGES)}, with a state")
    return write_texts(_texts(device, language), Path(directory), overwrite=overwrite)


def device_difference(device: Device, path: Path | str) -> Difference | None:
    """``None`` if the file is, byte for byte, one that `export_device` writes, whatever its name; else the difference.

    What a name ends in says which files it is compared with.
    """
    content, ending = files.read_bytes(Path(path)), Path(path).suffix
    texts = {name: text for language in LANGUAGES for name, text in _texts(device, language).items()}
    like = [text for name, text in texts.items() if ending and name.endswith(ending)]
    if not like:
        rule = "have a name that ends in py, mjs, mts, c, h, rs, java, swift, txt or json, as exported files have"
        raise InvalidInput("source", Path(path).name, rule)
    return first_difference(like, content)


def _texts(device: Device, language: str) -> dict[str, str]:
    target = _TARGETS[language]
    texts = target.sources(plan_of(device.table.document))
    if device.again is not None:
        texts |= target.sources(plan_of(device.again.document))
    names = loose_names(device, language)
    texts |= filled(device, language, names, target.names(names.device, names.type))
    texts[f"{device.stem}.json"] = device.content.decode()
    return texts | {f"{device.stem}_vectors.txt": vectors_text(device)}


def loose_names(device: Device, language: str) -> Names:
    """Those of sources that stand beside each other: after hashes, so that many devices have room in a folder."""
    module = _TARGETS[language].module
    first, second = (f"{module}_{table.sha256[:8]}" for table in (device.table, device.reporting))
    return Names(device.stem, f"Device_{device.sha256[:8]}", first, second)


def filled(
    device: Device,
    language: str,
    names: Names,
    sources: Mapping[str, str],
    more: Mapping[str, object] | None = None,
    words: Collection[str] = ("loose",),
) -> dict[str, str]:
    """Files and the templates they are filled from, as texts; ``more`` are places that ``words`` ask for."""
    plan = plan_of(device.table.document)
    second = None if device.again is None else plan_of(device.again.document)
    places = _places(device, _TARGETS[language], names, plan, second) | dict(more or {})
    kept = _words(device, plan, second) | set(words)
    return {file: fill(chosen(template(f"device/{source}"), kept), places) for file, source in sources.items()}


@lru_cache(maxsize=4)
def vectors_text(device: Device) -> str:
    """The file of its test vectors."""
    return lines(device, vectors(device))


def _words(device: Device, plan: Plan, second: Plan | None) -> set[str]:
    """The words by which lines of templates are kept."""
    said = plan if second is None else second
    words = {
        "memory": device.values > 0,
        "items": device.items > 0,
        "numbers": device.items == 0,
        "points": device.items == 0 and plan.input_labels is not None,
        "again": second is not None,
        "other": second is not None and second.sha256 != plan.sha256,
        "input_labels": plan.input_labels is not None,
        "output_labels": said.output_labels is not None,
        "labels": plan.input_labels is not None or said.output_labels is not None,
        "told": device.told is not None,
    }
    return {word for word, holds in words.items() if holds}


def _places(device: Device, target: _Target, names: Names, plan: Plan, second: Plan | None) -> dict[str, object]:
    said = plan if second is None else second
    is_labelled = plan.input_labels is not None or said.output_labels is not None
    spelled = names.first if second is None else names.again
    places: dict[str, object] = {
        "sha": device.sha256,
        "table": device.table.sha256,
        "device": names.device,
        "name": names.type,
        "guard": names.device.upper(),
        "values": device.values,
        "reports": device.reports,
        "size": device.size,
        "drawn": device.drawn,
        "items": device.items,
        "entry": entry_size(device.drawn),
        "version": OF_ITEMS if device.items else OF_NUMBERS,
        "first": names.first,
        "first_core": target.language.core(plan),
        "core": target.core[is_labelled].format(device=names.device),
        "reporting": spelled if target.spells_out else "first" if second is None else "again",
        "taken": target.takes[plan.input_labels is not None],
        "given": target.gives[said.output_labels is not None],
        "wrapped": target.wraps[said.output_labels is not None],
        "key": wrapped([str(byte) for byte in device.key]),
        "code": "x" if plan.input_labels is None else "POINTS[place]",
        "put": "bytes.putDouble(inputs[i]).putDouble(drawn[i])",
        "code_in": target.takes[0],
        "code_out": target.gives[0],
        "again_system": "Ok(y)",
        "within": "",
        "x": "x",
        "x_type": target.wraps[plan.input_labels is not None],
        "longest": MOST_STATE + 1,
        "zero": f"Array(repeating: 0, count: {device.drawn})" if device.items else "0.0",
    }
    if device.items:
        taken, given, above, result = target.of_items
        places["put"] = "bytes.putInt(inputs[i]).put(drawn[i])"
        places |= {"code_in": taken, "code_out": given, "given": given, "wrapped": result}
        if plan.input_labels is None:
            places |= {"taken": taken, "x_type": above, "x": "Int64(x)"}
        else:
            places["code"] = "place"
    if second is not None:
        places |= {"again": names.again, "again_core": target.language.core(second)}
        places["again_system"] = f"Ok(again::{target.language.core(second)}(y)?)"
    if plan.input_labels is not None and not device.items:
        places["POINTS"] = target.language.declared("POINTS", plan.inputs.points)
    if said.output_labels is not None:
        places["OUTPUTS"] = target.language.declared("OUTPUTS", said.law.numbers()["outputs"])
    return places
