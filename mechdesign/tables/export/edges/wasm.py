"""WebAssembly: the Rust runtime compiled for pages, and an ECMAScript module that gives it tables and randomness."""

from __future__ import annotations

import json

from mechdesign.tables.export.edges import js
from mechdesign.tables.export.edges.rust import root, sources, vectors
from mechdesign.tables.export.package import VERSION, Language, Package, Packaging
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime

_RUSTC = 'rustc --edition 2021 --crate-type cdylib --crate-name samplers --cfg "feature=\\"wasm\\""'
_BUILD = (
    f"{_RUSTC} --target wasm32-unknown-unknown -C opt-level=s -C lto=fat -C codegen-units=1 -C panic=abort "
    "-C strip=symbols src/lib.rs -o samplers.wasm"
)


def _carried(package: Package) -> dict[str, str]:
    placed = {name: f"rust/wasm/{name}" for name in ("index.mjs", "index.d.mts")}
    return sources("wasm", "tables") | placed | {"test/package.test.mjs": "rust/wasm/package.test.mjs"}


def _files(package: Package) -> dict[str, str]:
    return {
        "package.json": json.dumps(_manifest(package), indent=2) + "\n",
        "src/lib.rs": root(package, wasm=True),
        "tables.mjs": _tables(package),
        "tables.d.mts": render(runtime("rust/wasm/tables.d.mts.jinja"), package=package, labels=js.label_type),
        **vectors(package),
    }


def _manifest(package: Package) -> dict[str, object]:
    return {
        "name": package.name,
        "version": VERSION,
        "description": "Reports under local differential privacy, of exact law",
        "license": "Apache-2.0",
        "type": "module",
        "exports": {".": {"types": "./index.d.mts", "default": "./index.mjs"}, "./samplers.wasm": "./samplers.wasm"},
        "types": "./index.d.mts",
        "files": ["*.mjs", "*.d.mts", "samplers.wasm", "src", "tables", "mechdesign-package.json"],
        "engines": {"node": ">=19"},
        "scripts": {"build": _BUILD, "test": "node --test"},
    }


def _tables(package: Package) -> str:
    """Files as texts: JavaScript has no numbers for their counts."""
    tables = json.dumps({member.name: member.json for member in package.members}, indent=2)
    collection = None if package.collection is None else package.collection.sha256
    return f"export const tables = {tables};\nexport const collection = {json.dumps(collection)};\n"


WASM = Language(
    "wasm",
    package=Packaging(
        "npm",
        js.RULE,
        "rust/wasm/guide.md",
        _carried,
        _files,
        no_device=(
            "the state machine is not compiled to WebAssembly, and a page stores its state in JavaScript",
            "take --to typescript, whose package has the device",
        ),
    ),
)
