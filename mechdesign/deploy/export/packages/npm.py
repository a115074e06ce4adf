"""npm: an ECMAScript module with type declarations, tests of Node's own runner, and a page that collects."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from mechdesign.deploy.export import javascript
from mechdesign.deploy.export.layout import fill
from mechdesign.deploy.export.packages import envelopes
from mechdesign.deploy.export.packages.package import (
    COLLECTION,
    DEVICE,
    TABLES,
    VERSION,
    Member,
    NameRule,
    Package,
    common,
    in_blocks,
    words,
)
from mechdesign.deploy.export.texts import braced_text
from mechdesign.deploy.kinds import ItemsLaw

RULE = NameRule(
    r"(@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99}",
    "small letters, digits, dots, - and _, with or without @scope/ before it",
    words(
        "node_modules favicon.ico assert buffer child_process cluster console crypto dgram dns events fs http "
        "http2 https "
        "inspector module net os path process punycode querystring readline repl stream timers tls tty url util "
        "v8 vm wasi "
        "worker_threads zlib test node"
    ),
    words(
        "await break case catch class const continue debugger default delete do else enum export extends false "
        "finally for "
        "function if implements import in instanceof interface let new null package private protected public "
        "return static "
        "super switch this throw true try typeof var void while with yield"
    ),
)

_CALLED = """\
```javascript
import { @name@ } from "@package@";

const report = @name@.sample(@example@);
```

`demo/` has a page that asks and a collector that keeps envelopes: `node demo/collect.mjs`, then open the address that
it says. It writes `envelopes.txt`:

```
mechdesign collect-reports envelopes.txt --store seen.db --new-store --out reports \\
  @of@
```"""

RANDOMNESS = (
    "`crypto.getRandomValues`, in browsers and in Node. Where it is missing or fails, `sample` throws `NoRandomness`. "
    "Workers have blocks of their own; JavaScript has no `fork()`."
)


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    manifest = {
        "name": package.name,
        "version": VERSION,
        "description": "Reports under local differential privacy, of exact law",
        "license": "Apache-2.0",
        "type": "module",
        "exports": {".": {"types": "./index.d.mts", "default": "./index.mjs"}},
        "types": "./index.d.mts",
        "files": ["*.mjs", "*.d.mts", "tables", "mechdesign-package.json"],
        "sideEffects": False,
        "engines": {"node": ">=19"},
        "scripts": {"test": "node --test"},
    }
    readme = {
        "called": called_first(package, _CALLED.replace("@of@", _of(package)) + envelopes.told(ENVELOPED)),
        "built": "Nothing is built: `npm pack` makes the archive.",
        "tested": "`npm test`, with Node 19 or later.",
        "randomness": in_blocks(package, RANDOMNESS),
    }
    texts = common(package, readme) | {
        "package.json": json.dumps(manifest, indent=2) + "\n",
        "index.mjs": package.each('export * as @name@ from "./@stem@.mjs";\n', _nothing, "") + _ENVELOPES,
        "index.d.mts": package.each('export * as @name@ from "./@stem@.mjs";\n', _nothing, "") + _ENVELOPES,
        "envelopes.mjs": package.each(ENVELOPE, _nothing, ""),
        "envelopes.d.mts": package.each(ENVELOPE, _nothing, ""),
        "test/envelopes.test.mjs": envelopes.tests(
            package, "replay.mjs", {"writers": package.each(WRITER, lambda m: writer(m, f"all.{m.name}"), "")}
        ),
        "test/vectors.test.mjs": package.filled(
            "npm/vectors.test.mjs",
            {
                "names": "* as samplers",
                "samplers": package.each(_CASE, tested, ""),
            },
        ),
        "test/types.ts": 'import * as samplers from "../index.mjs";\n'
        + package.each(_TYPES, lambda member: {"example": example(member)}, ""),
        "demo/index.html": package.filled(
            "npm/index.html", {"forms": package.each(_FORM, lambda member: {"input": _input(member)}, "\n")}
        ),
        "demo/collect.mjs": package.filled(
            "npm/collect.mjs",
            {
                "known": package.each(_KNOWN, _known, ""),
                "most": max(map(envelopes.length, package.members)),
            },
        ),
    }
    for member in package.members:
        sources = javascript.sources(member.plan)
        texts[f"{member.plan.stem}.mjs"] = sources[f"{member.plan.stem}.mjs"]
        texts[f"{member.plan.stem}.d.mts"] = declarations(member)
        texts[f"test/{member.name}_vectors.txt"] = member.vectors
        for ending in ("mjs", "d.mts"):
            text = envelopes.source(member, f"envelope.{ending}", javascript.LANGUAGE, {})
            texts[f"{member.plan.stem}_envelope.{ending}"] = text
        texts[f"test/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


_ENVELOPES = 'export * as envelopes from "./envelopes.mjs";\n'
ENVELOPE = 'export { envelope as @name@ } from "./@stem@_envelope.mjs";\n'
WRITER = """\
  @name@: { write: all.envelopes.@name@, none: @of@.NoRandomness, as: "@as@" },
"""
ENVELOPED = "`envelopes.@name@(report, Date.UTC(2099, 11, 31) / 86400000)`"


def writer(member: Member, of: str) -> dict[str, object]:
    return {"of": of, "as": envelopes.read_as(member)}


_CASE = """\
  @name@: { draw: samplers.@name@.@core@, bad: samplers.@name@.NoRandomness, typical: @typical@ },
"""

_TYPES = """\
export const report_of_@name@: samplers.@name@.Output = samplers.@name@.sample(@example@);
// @ts-expect-error: an input of another type
samplers.@name@.sample(Symbol());
export const envelope_of_@name@: Uint8Array = samplers.envelopes.@name@(report_of_@name@, 20000);
// @ts-expect-error: a day that is a text
samplers.envelopes.@name@(report_of_@name@, "2099-12-31");
"""

_FORM = """\
<form data-table="@name@">
<fieldset><legend>@name@</legend>
@input@
<output></output>
</fieldset>
</form>"""


_KNOWN = """\
  { head: "@head@", hash: "@hash@", bytes: @bytes@ },
"""


def _of(package: Package) -> str:
    """Whose envelopes a collector takes, as options of the command."""
    if package.collection is not None:
        return f"--of {COLLECTION} --estimate people"
    tables = " ".join(f"--of {TABLES}/{member.name}.json" for member in package.members)
    return f"--device {DEVICE} {tables}" if any(member.subject.is_device for member in package.members) else tables


def _nothing(_: Member) -> dict[str, object]:
    return {}


def called_first(package: Package, text: str) -> str:
    """A text about how a package is called, with its first table as the example."""
    member = package.members[0]
    values = {"@name@": member.name, "@Name@": member.camel, "@package@": package.name, "@example@": example(member)}
    for place, value in values.items():
        text = text.replace(place, value)
    return text


def example(member: Member) -> str:
    """An input, as a literal that most languages share."""
    plan = member.plan
    if plan.input_labels is not None:
        return braced_text(plan.input_labels[0])
    return _first(member)


def bytes_of(member: Member) -> int:
    """The length of a report, where reports are bytes, else 0."""
    law = member.plan.law
    return law.report_bytes if isinstance(law, ItemsLaw) else 0


def _first(member: Member) -> str:
    """The first input, as samplers take numbers."""
    inputs = member.plan.inputs
    if inputs.count:
        return "0"
    return repr(float(inputs.points[0] if inputs.points else inputs.lower))


def tested(member: Member) -> dict[str, object]:
    """The function that vectors are for, and one of its inputs."""
    plan = member.plan
    return {"core": "sampleCode" if plan.labelled else "sample", "typical": _first(member)}


def declarations(member: Member) -> str:
    """The types of a sampler's module."""
    plan = member.plan
    lines = [
        f'/** The table this sampler was generated from. */\nexport const TABLE: "{plan.sha256}";',
        "/** There is no secure randomness, and so no report. */\nexport class NoRandomness extends Error {}",
        "/** Overwrites all it is given with random bytes: for tests only. */\nexport type Fill = (bytes: "
        "Uint8Array) => void;",
    ]
    for name, texts in (("INPUT", plan.input_labels), ("OUTPUT", plan.output_labels)):
        if texts is not None:
            listed = ",\n".join(f"  {braced_text(text)}" for text in texts)
            lines.append(f"export const {name}_LABELS: readonly [\n{listed},\n];")
    for name, labels in (("Input", plan.input_labels), ("Output", plan.output_labels)):
        lines.append(f"export type {name} = {_type(member, name) if labels is None else _union(name)};")
    lines.append("/** A report for the input x: a RangeError if it is none. */")
    lines.append("export function sample(x: Input, fill?: Fill): Output;")
    if plan.labelled:
        lines.append(f"/** {same_without_labels(member)}. */")
        lines.append(f"export function sampleCode(x: number, fill?: Fill): {_type(member, 'Output')};")
    return "\n".join(lines) + "\n"


def same_without_labels(member: Member) -> str:
    """What `sampleCode` is, beside `sample`."""
    if not member.plan.labelled:
        return "The same"
    return "The same for the number of a label" if bytes_of(member) else "The same in codes, the numbers of the table"


def _type(member: Member, side: str) -> str:
    return "Uint8Array" if side == "Output" and bytes_of(member) else "number"


def _union(name: str) -> str:
    return f"(typeof {name.upper()}_LABELS)[number]"


def form(member: Member) -> str:
    """The form of a table on a page."""
    return fill(_FORM, {"name": member.name, "input": _input(member)})


def _input(member: Member) -> str:
    plan = member.plan
    listed: Sequence[object] = member.inputs
    if listed:
        kind = "text" if plan.input_labels is not None else "number"
        options = "\n".join(f'<option value="{html.escape(str(x))}">{html.escape(str(x))}</option>' for x in listed)
        return f'<select name="x" data-type="{kind}">\n{options}\n</select> <button>Send</button>'
    ends = f'min="{plan.inputs.lower!r}" max="{plan.inputs.upper!r}"'
    step = "1" if plan.inputs.count else "any"
    return f'<input name="x" type="number" step="{step}" data-type="number" {ends} required> <button>Send</button>'


def _known(member: Member) -> dict[str, object]:
    """How the envelopes of a member begin, whose hash they have, and how long they are."""
    return {"head": envelopes.head(member).hex(), "hash": member.subject.sha256, "bytes": envelopes.length(member)}
