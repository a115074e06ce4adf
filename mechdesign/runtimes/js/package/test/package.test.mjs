// The tables of this package, its device and its envelopes: all answer their vectors, and none does without randomness.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import data from "../data.mjs";
import * as all from "../index.mjs";
import { replay } from "../replay.mjs";

const text = (name) => readFileSync(new URL(`./${name}.txt`, import.meta.url), "utf8");
const broken = () => {
  throw new Error("broken");
};

function withoutRandomness(call) {
  const system = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  try {
    for (const value of [undefined, {}, { getRandomValues: broken }]) {
      Object.defineProperty(globalThis, "crypto", { value, configurable: true });
      assert.throws(call, all.NoRandomness);
    }
  } finally {
    Object.defineProperty(globalThis, "crypto", system);
  }
}

for (const [name, content] of Object.entries(data.tables)) {
  const table = all[name];
  const write = all.envelopes[name];
  const x = table.INPUT_LABELS?.[0] ?? table.LOWER;

  test(`${name} is the table in tables/${name}.json`, () => {
    assert.equal(content, readFileSync(new URL(`../tables/${name}.json`, import.meta.url), "utf8"));
  });
  test(`${name} answers its vectors`, () => assert.ok(replay(table, text(`${name}_vectors`)) > 0));
  test(`envelopes of ${name} are their vectors`, () => {
    assert.ok(replay({ table, write }, text(`${name}_envelopes`)) > 0);
  });
  test(`${name} without randomness gives an error and no report`, () => {
    const report = table.sample(x);
    // bytes that were read before may be left
    withoutRandomness(() => Array.from({ length: 4097 }, () => table.sample(x)));
    withoutRandomness(() => write(report, 1));
    assert.notDeepEqual(write(report, 1), write(report, 1));
  });
}

if (data.device !== null) {
  const { name } = data.device;
  test(`${name} answers its vectors`, () => assert.ok(replay(all[name], text(`${name}_vectors`)) > 0));
}
