"""A device in other languages: its samplers, its state machine, a storage in a file, and test vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from mechdesign.deploy.device.description import Device
from mechdesign.deploy.device.state import length
from mechdesign.deploy.device.vectors import lines, vectors
from mechdesign.deploy.export import c, java, javascript, python, rust
from mechdesign.deploy.export.languages import Difference, first_difference, write_texts
from mechdesign.deploy.export.layout import chosen, fill, template, wrapped
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.writing import Language
from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import frozen

_Names = Callable[[str, str], dict[str, str]]


@frozen
class _Target:
    """What differs between languages: how they write numbers, what modules are called, and types of labels.

    ``names`` gives for the stem and the class of a device the files and the templates they are filled from;
    ``takes`` and ``gives`` are the types of what goes in and comes out, each for numbers and for labels; ``wraps`` of
    what comes out of the language above. A language ``spells_out`` samplers if it cannot name modules anew.
    """

    language: Language
    sources: Callable[[Plan], dict[str, str]]
    names: _Names
    module: str
    core: tuple[str, str]
    takes: tuple[str, str] = ("", "")
    gives: tuple[str, str] = ("", "")
    wraps: tuple[str, str] = ("", "")
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
            f"{stem}_replay.mjs": "replay.mjs",
        },
        "sampler",
        ("report", "reportCode"),
        ("number", "string"),
        ("number", "string"),
    ),
    "c": _Target(
        c.LANGUAGE,
        c.sources,
        lambda stem, _: {f"{stem}.h": "device.h", f"{stem}.c": "device.c", f"{stem}_replay.c": "replay.c"},
        "sampler",
        ("{device}_report", "{device}_report_code"),
        ("double ", "const char *"),
        ("double *", "const char **"),
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
    ),
    "java": _Target(
        java.LANGUAGE,
        java.sources,
        lambda _, name: {f"{name}.java": "Device.java", f"{name}_Replay.java": "Replay.java"},
        "Sampler",
        ("report", "reportCode"),
        ("double", "String"),
        ("double", "String"),
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
    plan = plan_of(device.table.document)
    second = None if device.again is None else plan_of(device.again.document)
    texts = target.sources(plan) | ({} if second is None else target.sources(second))
    name = f"Device_{device.sha256[:8]}"
    places = _places(device, target, plan, second)
    words = _words(device, plan, second)
    for file, source in target.names(device.stem, name).items():
        texts[file] = fill(chosen(template(f"device/{source}"), words), places | {"name": name})
    texts[f"{device.stem}.json"] = device.content.decode()
    return texts | {f"{device.stem}_vectors.txt": _vectors(device)}


@lru_cache(maxsize=4)
def _vectors(device: Device) -> str:
    return lines(device, vectors(device))


def _words(device: Device, plan: Plan, second: Plan | None) -> set[str]:
    """The words by which lines of templates are kept."""
    said = plan if second is None else second
    words = {
        "memory": device.values > 0,
        "again": second is not None,
        "other": second is not None and second.sha256 != plan.sha256,
        "input_labels": plan.input_labels is not None,
        "output_labels": said.output_labels is not None,
        "labels": plan.input_labels is not None or said.output_labels is not None,
    }
    return {word for word, holds in words.items() if holds}


def _places(device: Device, target: _Target, plan: Plan, second: Plan | None) -> dict[str, object]:
    def module(of: Plan) -> str:
        return f"{target.module}_{of.sha256[:8]}"

    said = plan if second is None else second
    is_labelled = plan.input_labels is not None or said.output_labels is not None
    places: dict[str, object] = {
        "sha": device.sha256,
        "table": device.table.sha256,
        "device": device.stem,
        "guard": device.stem.upper(),
        "values": device.values,
        "reports": device.reports,
        "size": length(device.values),
        "first": module(plan),
        "first_core": target.language.core(plan),
        "core": target.core[is_labelled].format(device=device.stem),
        "reporting": module(said) if target.spells_out else "first" if second is None else "again",
        "taken": target.takes[plan.input_labels is not None],
        "given": target.gives[said.output_labels is not None],
        "wrapped": target.wraps[said.output_labels is not None],
        "key": wrapped([str(byte) for byte in device.key]),
        "code": "x" if plan.input_labels is None else "POINTS[place]",
        "again_system": "Ok(y)",
    }
    if second is not None:
        places |= {"again": module(second), "again_core": target.language.core(second)}
        places["again_system"] = f"Ok(again::{target.language.core(second)}(y)?)"
    if plan.input_labels is not None:
        places["POINTS"] = target.language.declared("POINTS", plan.inputs.points)
    if said.output_labels is not None:
        places["OUTPUTS"] = target.language.declared("OUTPUTS", said.law.numbers()["outputs"])
    return places
