// Replays the vectors of envelopes: each writer gives the same bytes for the same nonce, and refuses what cannot be.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as all from "../index.mjs";

const WRITERS = {
@writers@};

const bytes = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
const READ = {
  label: (digits) => new TextDecoder().decode(bytes(digits)),
  number: (digits) => new DataView(bytes(digits).buffer).getFloat64(0),
  bytes,
};

for (const [name, { write, none, as }] of Object.entries(WRITERS)) {
  const text = readFileSync(new URL(`./${name}_envelopes.txt`, import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split(" "));

  test(`envelopes of ${name} reproduce their vectors`, () => {
    assert.ok(lines.length > 1);
    for (const [report, day, nonce, expected] of lines) {
      const fill = (place) => place.set(bytes(nonce));
      if (expected === "error") assert.throws(() => write(READ[as](report), Number(day), fill), RangeError);
      else assert.deepEqual(write(READ[as](report), Number(day), fill), bytes(expected));
    }
  });

  test(`without randomness there is no envelope of ${name}`, () => {
    const system = Object.getOwnPropertyDescriptor(globalThis, "crypto");
    const report = READ[as](lines[0][0]);
    const broken = () => {
      throw new Error("broken");
    };
    try {
      for (const value of [undefined, {}, { getRandomValues: broken }]) {
        Object.defineProperty(globalThis, "crypto", { value, configurable: true });
        assert.throws(() => write(report, 1), none);
      }
    } finally {
      Object.defineProperty(globalThis, "crypto", system);
    }
    assert.notDeepEqual(write(report, 1), write(report, 1));
  });
}
