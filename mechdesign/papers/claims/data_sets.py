"""Which of the papers' data sets lie in a folder: found by the names they are published under and by their columns."""

from __future__ import annotations

import codecs
import csv
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mechdesign.errors import FileProblem, InvalidInput

Files = tuple[Path, ...]
Header = frozenset[str]
"""The names in the first line of a CSV file, in small letters."""

_LONGEST_HEADER = 1 << 16
_DEEPEST = 6
_MOST_FILES = 10_000
_STROKE = ("age", "hypertension", "heart_disease", "ever_married", "avg_glucose_level", "bmi", "stroke")
_BANK = ("creditscore", "age", "estimatedsalary", "exited")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A published data set: what is looked for, and whether a file is part of it, by its name and its first line."""

    key: str
    about: str
    is_part: Callable[[str, Header], bool]
    parts: tuple[str, ...] = ()
    """Names of files that belong together; without them one file is the whole."""


def _columns(*names: str) -> Callable[[str, Header], bool]:
    return lambda _, header: header.issuperset(names)


def _named(*parts: str, endings: tuple[str, ...]) -> Callable[[str, Header], bool]:
    return lambda name, _: all(part in name for part in parts) and name.endswith(endings)


def _checkins_of(city: str) -> Callable[[str, Header], bool]:
    return lambda name, header: city in name and {"latitude", "longitude"} <= header and name.endswith(".csv")


_TEXTS = (".dat", ".txt", ".csv", ".seq")
DATA_SETS = (
    DataSet(
        "motion",
        "MotionSense: sub_1.csv, sub_2.csv and sub_3.csv of dws_1, with attitude.roll and userAcceleration.x",
        lambda name, header: header.issuperset(("attitude.roll", "useracceleration.x")) and name.startswith("sub_"),
        ("sub_1.csv", "sub_2.csv", "sub_3.csv"),
    ),
    DataSet("chi", "check-ins of Chicago: chi*.csv with user id, latitude and longitude", _checkins_of("chi")),
    DataSet("tky", "check-ins of Tokyo: *tky*.csv with user id, latitude and longitude", _checkins_of("tky")),
    DataSet("stroke", f"stroke prediction, normalised: a CSV file with {', '.join(_STROKE)}", _columns(*_STROKE)),
    DataSet("bank", f"bank attrition, normalised: a CSV file with {', '.join(_BANK)}", _columns(*_BANK)),
    DataSet("msnbc", "MSNBC click streams: *msnbc*.seq (or .txt, .dat)", _named("msnbc", endings=_TEXTS)),
    DataSet("kosarak", "Kosarak: *kosarak*.dat (or .txt, .csv)", _named("kosarak", endings=_TEXTS)),
    DataSet("bms-pos", "BMS-POS: *bms*pos*.csv (or .dat, .txt)", _named("bms", "pos", endings=_TEXTS)),
    DataSet("porto", "Porto's taxi trips: a CSV file with the column POLYLINE", _columns("polyline")),
    DataSet("kosarak.mat", "JRR's yes/no data: kosarak.mat", lambda name, _: name == "kosarak.mat"),
    DataSet("amazon.mat", "JRR's yes/no data: amazon.mat", lambda name, _: name == "amazon.mat"),
    DataSet("ec.mat", "JRR's yes/no data: ec.mat", lambda name, _: name == "ec.mat"),
    DataSet("impus.mat", "JRR's yes/no data: impus.mat", lambda name, _: name == "impus.mat"),
)


def found_in(folder: Path) -> Mapping[str, Files]:
    """The files of each data set that lies in a folder or below it.

    Two files that could be the same data set, and one that lacks a part, are an error: neither is a guess to be made.
    """
    candidates = [(path, path.name.lower(), _header(path)) for path in _files(folder)]
    found: dict[str, Files] = {}
    for data_set in DATA_SETS:
        files = [path for path, name, header in candidates if data_set.is_part(name, header)]
        if files:
            found[data_set.key] = _whole(data_set, files) if data_set.parts else _only(data_set, files)
    if not found:
        known = "; ".join(data_set.about for data_set in DATA_SETS)
        raise FileProblem("data folder", str(folder), "hold a data set of the papers", f"known are {known}")
    return found


def digest_of(files: Files) -> str:
    """What the content of files is, in a few characters."""
    total = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise _unreadable(path, error) from None
    return total.hexdigest()


def spelled(path: Path, name: str) -> str:
    """A column as the file spells it: in capitals or not."""
    return next((own for own in _first_line(path) if own.lower() == name.lower()), name)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise FileProblem("data folder", str(folder), "be a folder that is there")
    files: list[Path] = []
    try:
        for place, folders, names in os.walk(folder):
            root = Path(place)
            folders[:] = sorted(folders) if len(root.relative_to(folder).parts) < _DEEPEST else []
            files += [root / name for name in sorted(names) if (root / name).is_file()]
            if len(files) > _MOST_FILES:
                rule = f"hold at most {_MOST_FILES:,} files"
                raise FileProblem("data folder", str(folder), rule, "name the folder of the data sets")
    except OSError as error:
        raise _unreadable(folder, error) from None
    return files


def _header(path: Path) -> Header:
    return frozenset(name.lower() for name in _first_line(path)) if path.suffix.lower() == ".csv" else frozenset()


def _first_line(path: Path) -> list[str]:
    """Its cells; none where they cannot be read, which is said when the file is."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(_LONGEST_HEADER).removeprefix(codecs.BOM_UTF8).decode("latin-1")
        return [name.strip() for name in next(csv.reader([line]), [])]
    except (OSError, csv.Error):
        return []


def _only(data_set: DataSet, files: list[Path]) -> Files:
    if len(files) > 1:
        names = ", ".join(str(path) for path in files[:3])
        raise InvalidInput("data folder", names, f"hold one file of {data_set.about}", "keep the one that is meant")
    return tuple(files)


def _whole(data_set: DataSet, files: list[Path]) -> Files:
    """The parts, of the one folder that holds all; of MotionSense's several the one that is called dws_1."""
    folders = {path.parent: {one.name.lower(): one for one in files if one.parent == path.parent} for path in files}
    complete = {folder: names for folder, names in folders.items() if names.keys() >= set(data_set.parts)}
    if len(complete) > 1:
        complete = {folder: names for folder, names in complete.items() if folder.name.lower().endswith("dws_1")}
    if len(complete) != 1:
        place = ", ".join(str(folder) for folder in list(folders)[:3])
        raise InvalidInput("data folder", place, f"hold, in one folder, {data_set.about}", "add what is missing")
    (names,) = complete.values()
    return tuple(names[part] for part in data_set.parts)


def _unreadable(path: Path, error: OSError) -> FileProblem:
    return FileProblem("data folder", str(path), f"be readable: {(error.strerror or str(error)).lower()}")
