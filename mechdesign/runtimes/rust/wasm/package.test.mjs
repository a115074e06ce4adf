// Replays the vectors: each table gives the same report, bit for bit, after as many bytes, and refuses what is no input.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { NoRandomness, load } from "../index.mjs";

const text = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const linesOf = (path) =>
  text(path)
    .split("\n")
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => line.split(" "));
const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const digits = (content) => Array.from(content, (byte) => byte.toString(16).padStart(2, "0")).join("");
const number = (bits) => new DataView(bytes(bits).buffer).getFloat64(0);

function said(report) {
  if (report instanceof Uint8Array) return digits(report);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, report);
  return digits(new Uint8Array(view.buffer));
}

// Gives bytes one after the other, and counts them.
function streamOf(content) {
  const stream = (place) => {
    if (stream.used + place.length > content.length) throw new Error("no bytes left");
    place.set(content.subarray(stream.used, stream.used + place.length));
    stream.used += place.length;
  };
  stream.used = 0;
  return stream;
}

// What a call does while the system has no randomness.
function withoutRandomness(call) {
  const system = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  const broken = () => {
    throw new Error("broken");
  };
  try {
    for (const value of [undefined, {}, { getRandomValues: broken }]) {
      Object.defineProperty(globalThis, "crypto", { value, configurable: true });
      call();
    }
  } finally {
    Object.defineProperty(globalThis, "crypto", system);
  }
}

const loaded = await load();
const { tables } = JSON.parse(text("mechdesign-package.json"));
assert.deepEqual(Object.keys(loaded).sort(), Object.keys(tables).sort());

for (const [name, table] of Object.entries(loaded)) {
  const isOfItems = JSON.parse(text(`tables/${name}.json`)).domain.kind === "items";
  const inputOf = (input) => (isOfItems ? Number(input) : number(input));
  const lines = linesOf(`vectors/${name}_vectors.txt`);
  const enveloped = linesOf(`vectors/${name}_envelopes.txt`);

  test(`${name} reproduces its vectors`, () => {
    assert.ok(lines.length > 0);
    for (const [input, stream, used, expected] of lines) {
      const fill = streamOf(bytes(stream));
      if (expected === "error") assert.throws(() => table.sampleCode(inputOf(input), fill), RangeError);
      else assert.deepEqual([said(table.sampleCode(inputOf(input), fill)), fill.used], [expected, Number(used)]);
    }
  });

  const reportOf = (report) => {
    if (isOfItems) return bytes(report);
    return table.OUTPUT_LABELS === null ? number(report) : new TextDecoder().decode(bytes(report));
  };
  test(`envelopes of ${name} reproduce their vectors`, () => {
    assert.ok(enveloped.length > 1);
    for (const [report, day, nonce, expected] of enveloped) {
      const call = () => table.envelope(reportOf(report), Number(day), streamOf(bytes(nonce)));
      if (expected === "error") assert.throws(call, RangeError);
      else assert.equal(digits(call()), expected);
    }
  });

  test(`${name} without randomness gives an error, no report and no envelope`, () => {
    const x = inputOf(lines[0][0]);
    const report = reportOf(enveloped[0][0]);
    withoutRandomness(() => {
      // bytes that were read before may be left
      assert.throws(() => {
        for (let i = 0; i <= 4096; i++) table.sampleCode(x);
      }, NoRandomness);
      assert.throws(() => table.envelope(report, 1), NoRandomness);
    });
    assert.notEqual(table.sampleCode(x), undefined);
    assert.notDeepEqual(table.envelope(report, 1), table.envelope(report, 1));
  });
}
