"""WebAssembly: the Rust sampler compiled for browsers, and an ECMAScript module that loads it."""

from __future__ import annotations

import json

from mechdesign.deploy.export import javascript, rust
from mechdesign.deploy.export.layout import chosen
from mechdesign.deploy.export.packages import envelopes, npm
from mechdesign.deploy.export.packages.cargo import KEYWORDS
from mechdesign.deploy.export.packages.package import VERSION, Member, NameRule, Package, common, in_blocks, words
from mechdesign.deploy.export.texts import braced_text

RULE = NameRule(npm.RULE.pattern, npm.RULE.words, npm.RULE.taken, npm.RULE.members | KEYWORDS | words("std"))
_RUST = "rustc --edition 2021 --crate-type cdylib --crate-name samplers --target wasm32-unknown-unknown"
_BUILD = f"{_RUST} -C opt-level=s -C panic=abort -C strip=symbols src/lib.rs -o samplers.wasm"

_CALLED = """\
```javascript
import { load } from "@package@";

const { @name@ } = await load();
const report = @name@.sample(@example@);
```"""


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    manifest = {
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
    readme = {
        "called": npm.called_first(package, _CALLED + envelopes.told(npm.ENVELOPED)),
        "built": "`npm run build` compiles `src` to `samplers.wasm`, by rustc with its target "
        "`wasm32-unknown-unknown`.",
        "tested": "`npm test`, after the build, with Node 19 or later.",
        "randomness": in_blocks(package, npm.RANDOMNESS + " The module imports it as `env.random`."),
    }
    samplers = package.each(_SAMPLER, _words_of, "")
    texts = common(package, readme) | {
        "package.json": json.dumps(manifest, indent=2) + "\n",
        "src/lib.rs": _library(package),
        "index.mjs": package.filled("wasm/index.mjs", {"samplers": samplers}),
        "envelopes.mjs": package.each(npm.ENVELOPE, lambda _: {}, ""),
        "envelopes.d.mts": package.each(npm.ENVELOPE, lambda _: {}, ""),
        "test/envelopes.test.mjs": envelopes.tests(
            package, "replay.mjs", {"writers": package.each(npm.WRITER, lambda m: npm.writer(m, "all"), "")}
        ),
        "index.d.mts": package.filled(
            "wasm/index.d.mts",
            {
                "types": package.each(_TYPES, _types),
                "members": package.each("  readonly @name@: @Name@;\n", lambda _: {}, ""),
            },
        ),
        "test/vectors.test.mjs": package.filled(
            "npm/vectors.test.mjs",
            {
                "names": "{ NoRandomness, load }",
                "samplers": package.each(
                    "  @name@: { draw: loaded.@name@.@core@, bad: NoRandomness, typical: @typical@ },\n", npm.tested, ""
                ),
            },
        ).replace("const SAMPLERS", "const loaded = await load();\nconst SAMPLERS"),
    }
    for member in package.members:
        texts[f"src/{member.plan.stem}.rs"] = rust.sources(member.plan)[f"{member.plan.stem}.rs"]
        texts[f"test/{member.name}_vectors.txt"] = member.vectors
        form = envelopes.form_of(member)
        shape = frozenset({"standalone", "texts" if form == "labels" else form})
        for ending in ("mjs", "d.mts"):
            words = {"module": "index"}
            text = envelopes.source(member, f"envelope.{ending}", javascript.LANGUAGE, words, shape)
            texts[f"{member.plan.stem}_envelope.{ending}"] = text
        texts[f"test/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


def _library(package: Package) -> str:
    sizes = [npm.bytes_of(member) for member in package.members]
    text = package.filled("wasm/lib.rs", {"exports": package.each(_EXPORT, _rust_words), "most": max(sizes)})
    words = {"numbers": 0 in sizes, "items": any(sizes)}
    return chosen(text, {word for word, holds in words.items() if holds})


_EXPORT = """\
#[path = "@stem@.rs"]
#[allow(dead_code)]
mod @name@;

impl Why for @name@::Error {
    fn bad_input(self) -> bool {
        self == @name@::Error::BadInput
    }
}

/// A report for the code x: whether there is one, which `report` then gives.
#[no_mangle]
pub extern "C" fn sample_@name@(x: f64) -> i32 {
    @report@
}

/// The same from bytes that are asked for one by one, for tests only.
#[no_mangle]
pub extern "C" fn test_@name@(x: f64) -> i32 {
    @asked@
}
"""

_SAMPLER = """\
    @name@: sampler("@name@", @inputs@, @outputs@, @points@, @reports@, @size@),
"""

_TYPES = """\
export interface @Name@ {
@labels@  /** A report for the input x: a RangeError if it is none. */
  sample(x: @input@, fill?: Fill): @output@;
  /** @same@. */
  sampleCode(x: number, fill?: Fill): @given@;
}
"""


def _rust_words(member: Member) -> dict[str, object]:
    core = "sample_code" if member.plan.labelled else "sample"
    drawn, none = f"{member.name}::{core}_from", f"{member.name}::Error::NoRandomness"
    if npm.bytes_of(member):
        asked = f"kept({drawn}(item(x), &mut |bytes| asked(bytes, {none})))"
        return {"asked": asked, "report": asked}
    asked = f"outcome({drawn}(x, &mut |bytes| asked(bytes, {none})))"
    return {
        "asked": asked,
        "report": f"outcome(allotted::<{member.plan.allotted}, _, _>(|fill| {drawn}(x, fill), {none}))",
    }


def _words_of(member: Member) -> dict[str, object]:
    plan = member.plan
    outputs = getattr(plan.law, "outputs", ())
    points = list(range(plan.inputs.count) or plan.inputs.points)
    return {
        "size": npm.bytes_of(member),
        "inputs": _listed(plan.input_labels),
        "outputs": _listed(plan.output_labels),
        "points": "null" if plan.input_labels is None else json.dumps(points),
        "reports": "null" if plan.output_labels is None else json.dumps([float(y) for y in outputs]),
    }


def _listed(labels: tuple[str, ...] | None) -> str:
    return "null" if labels is None else "[" + ", ".join(map(braced_text, labels)) + "]"


def _types(member: Member) -> dict[str, object]:
    plan = member.plan
    sides = {"input": plan.input_labels, "output": plan.output_labels}
    plain = {"input": "number", "output": "Uint8Array" if npm.bytes_of(member) else "number"}
    union = {
        side: plain[side] if labels is None else " | ".join(map(braced_text, labels)) for side, labels in sides.items()
    }
    listed = "".join(
        f"  readonly {side.upper()}_LABELS: readonly [{', '.join(map(braced_text, labels))}];\n"
        for side, labels in sides.items()
        if labels is not None
    )
    return {"labels": listed, "given": plain["output"], "same": npm.same_without_labels(member), **union}
