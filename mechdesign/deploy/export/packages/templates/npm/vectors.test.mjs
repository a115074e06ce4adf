// Replays the vectors: each sampler returns the same report, bit for bit, after as many bytes, and refuses what is no input.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import @names@ from "../index.mjs";

const SAMPLERS = {
@samplers@};
const view = new DataView(new ArrayBuffer(8));

function bits(report) {
  if (report instanceof Uint8Array) return Array.from(report, (byte) => byte.toString(16).padStart(2, "0")).join("");
  view.setFloat64(0, report);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

function number(digits) {
  if (digits.length < 16) return Number(digits);
  view.setBigUint64(0, BigInt("0x" + digits));
  return view.getFloat64(0);
}

function replayed(draw, line) {
  const [input, stream, used, expected] = line.split(" ");
  let position = 0;
  const fill = (bytes) => {
    for (let i = 0; i < bytes.length; i++, position++) {
      if (2 * position >= stream.length) throw new Error("no bytes left");
      bytes[i] = parseInt(stream.slice(2 * position, 2 * position + 2), 16);
    }
  };
  try {
    return bits(draw(number(input), fill)) === expected && position === Number(used);
  } catch (error) {
    return error instanceof RangeError && expected === "error";
  }
}

for (const [name, { draw, bad, typical }] of Object.entries(SAMPLERS)) {
  test(`${name} reproduces its vectors`, () => {
    const text = readFileSync(new URL(`./${name}_vectors.txt`, import.meta.url), "utf8");
    const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
    assert.ok(lines.length > 0);
    lines.forEach((line, i) => assert.ok(replayed(draw, line), `case ${i + 1}`));
  });

  test(`${name} without randomness gives an error and no report`, () => {
    const system = Object.getOwnPropertyDescriptor(globalThis, "crypto");
    const broken = () => {
      throw new Error("broken");
    };
    try {
      for (const value of [undefined, {}, { getRandomValues: broken }]) {
        Object.defineProperty(globalThis, "crypto", { value, configurable: true });
        // bytes that were read before may be left
        assert.throws(() => {
          for (let i = 0; i <= 4096; i++) draw(typical);
        }, bad);
      }
    } finally {
      Object.defineProperty(globalThis, "crypto", system);
    }
    assert.notEqual(draw(typical), undefined);
  });
}
