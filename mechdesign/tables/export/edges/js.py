"""JavaScript: npm's package of the runtime with types and a page that collects, or one module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from mechdesign.tables.export.package import MOST_CASES, VERSION, Language, Member, NameRule, Package, Packaging, words
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime

RULE = NameRule(
    r"(@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99}",
    "small letters, digits, dots, - and _, with or without @scope/ before it",
    words(
        "node_modules favicon.ico assert buffer child_process cluster console crypto dgram dns events fs http http2 "
        "https inspector module net os path process punycode querystring readline repl stream timers tls tty url util "
        "v8 vm wasi worker_threads zlib test node"
    ),
    words(
        "arguments await break case catch class const continue debugger default delete do else enum eval export "
        "extends false finally for function if implements import in instanceof interface let new null package "
        "private protected public return static super switch this throw true try typeof var void while with yield"
    ),
)

_CORE = ("randomness", "bits", "reading", "numbers", "items", "table")
"""What reads tables and draws, each module after those that it imports."""
_ENVELOPES = ("envelope", "index", "package")
_REMEMBERING = ("state", "device", "browser", "file")
_TYPED = ("index", "state", "device", "browser", "file")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\.\.?/[^"]*";\n', re.MULTILINE)


def _carried(package: Package) -> dict[str, str]:
    modules = [*_CORE, *_ENVELOPES]
    placed = ["test/package.test.mjs", "demo/index.html", "demo/page.mjs", "demo/collect.mjs"]
    if package.device is not None:
        modules += _REMEMBERING
        placed += ["browser.mjs", "browser.d.mts"]
    names = [f"{name}.mjs" for name in modules] + [f"{name}.d.mts" for name in _TYPED if name in modules]
    carried = {f"src/{name}": f"js/src/{name}" for name in names}
    return carried | {"replay.mjs": "js/replay.mjs"} | {name: f"js/package/{name}" for name in placed}


def _files(package: Package) -> dict[str, str]:
    kept = package.device
    names = [*(member.name for member in package.members), "envelopes", *([] if kept is None else [kept.name])]
    texts = {
        "package.json": json.dumps(_manifest(package), indent=2) + "\n",
        "data.mjs": f"export default {json.dumps(_data(package), indent=2)};\n",
        "index.mjs": render(runtime("js/package/index.mjs.jinja"), names=names, device=kept),
        "index.d.mts": render(runtime("js/package/index.d.mts.jinja"), package=package, labels=label_type),
    }
    for member in package.members:
        texts[f"test/{member.name}_vectors.txt"] = member.vectors
        texts[f"test/{member.name}_envelopes.txt"] = member.envelopes
    if kept is not None:
        texts[f"test/{kept.name}_vectors.txt"] = kept.vectors
    return texts


def _manifest(package: Package) -> dict[str, object]:
    exports: dict[str, object] = {".": {"types": "./index.d.mts", "default": "./index.mjs"}}
    if package.device is not None:
        exports["./browser"] = {"types": "./browser.d.mts", "default": "./browser.mjs"}
        exports["./file"] = {"types": "./src/file.d.mts", "default": "./src/file.mjs"}
    return {
        "name": package.name,
        "version": VERSION,
        "description": "Reports under local differential privacy, of exact law",
        "license": "Apache-2.0",
        "type": "module",
        "exports": exports,
        "types": "./index.d.mts",
        "files": ["*.mjs", "*.d.mts", "src", "tables", "*.json"],
        "sideEffects": False,
        "engines": {"node": ">=19"},
        "scripts": {"test": "node --test"},
    }


def _data(package: Package) -> dict[str, object]:
    """What a package is made of, as its index opens it."""
    kept = package.device
    return {
        "name": package.name,
        "tables": {member.name: member.json for member in package.members},
        "collection": None if package.collection is None else package.collection.sha256,
        "device": None
        if kept is None
        else {
            "name": kept.name,
            "once": kept.once.name,
            "reporting": kept.reporting.name,
            "sha256": kept.device.sha256,
            "text": kept.json,
        },
    }


def label_type(labels: tuple[str, ...] | None) -> str:
    """The type of a list of labels."""
    if labels is None:
        return "null"
    return "readonly string[]" if len(labels) > MOST_CASES else f"readonly [{', '.join(map(json.dumps, labels))}]"


def _places(package: Package) -> dict[str, object]:
    """Whose envelopes a collector takes, as options of the command."""
    if package.collection is not None:
        return {"of": "--of collection.json --estimate people"}
    tables = " ".join(f"--of tables/{member.name}.json" for member in package.members)
    return {"of": tables if package.device is None else f"--device device.json {tables}"}


def single(member: Member) -> Mapping[str, str]:
    """The modules that draw joined into one, with the table's file as a text."""
    table = f"const TABLE_JSON = {json.dumps(member.json)};\n"
    texts = [*(runtime(f"js/src/{name}.mjs") for name in _CORE), table, runtime("js/package/single.mjs")]
    return {f"{member.stem}.mjs": joined(texts)}


def joined(modules: Iterable[str]) -> str:
    """Modules in one, each after those that it imports: what they import from each other is there already."""
    return "\n".join(_IMPORT.sub("", text) for text in modules)


JAVASCRIPT = Language("javascript", single)
TYPESCRIPT = Language("typescript", package=Packaging("npm", RULE, "js/guide.md", _carried, _files, _places))
