"""WebAssembly: the Rust sampler compiled for browsers, and an ECMAScript module that loads it."""

from __future__ import annotations

import json

from mechdesign.deploy.export import javascript, rust
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
        "src/lib.rs": package.filled("wasm/lib.rs", {"exports": package.each(_EXPORT, _rust_words)}),
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
    outcome(allotted::<@enough@, _, _>(|fill| @name@::@core@_from(x, fill), @name@::Error::NoRandomness))
}

/// The same from bytes that are asked for one by one, for tests only.
#[no_mangle]
pub extern "C" fn test_@name@(x: f64) -> i32 {
    outcome(@name@::@core@_from(x, &mut |bytes| asked(bytes, @name@::Error::NoRandomness)))
}
"""

_SAMPLER = """\
    @name@: sampler("@name@", @inputs@, @outputs@, @points@, @reports@),
"""

_TYPES = """\
export interface @Name@ {
@labels@  /** A report for the input x: a RangeError if it is none. */
  sample(x: @input@, fill?: Fill): @output@;
  /** The same in codes, the numbers of the table. */
  sampleCode(x: number, fill?: Fill): number;
}
"""


def _rust_words(member: Member) -> dict[str, object]:
    return {"core": "sample_code" if member.plan.labelled else "sample"}


def _words_of(member: Member) -> dict[str, object]:
    plan = member.plan
    outputs = getattr(plan.law, "outputs", ())
    return {
        "inputs": _listed(plan.input_labels),
        "outputs": _listed(plan.output_labels),
        "points": "null" if plan.input_labels is None else json.dumps(list(plan.inputs.points)),
        "reports": "null" if plan.output_labels is None else json.dumps([float(y) for y in outputs]),
    }


def _listed(labels: tuple[str, ...] | None) -> str:
    return "null" if labels is None else "[" + ", ".join(map(braced_text, labels)) + "]"


def _types(member: Member) -> dict[str, object]:
    plan = member.plan
    sides = {"input": plan.input_labels, "output": plan.output_labels}
    union = {
        side: "number" if labels is None else " | ".join(map(braced_text, labels)) for side, labels in sides.items()
    }
    listed = "".join(
        f"  readonly {side.upper()}_LABELS: readonly [{', '.join(map(braced_text, labels))}];\n"
        for side, labels in sides.items()
        if labels is not None
    )
    return {"labels": listed, **union}
