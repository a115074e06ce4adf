// Random bytes: whose they are, how many a report takes, and what is without them.
import assert from "node:assert/strict";
import test from "node:test";
import { NoRandomness, envelopeWriter } from "../src/index.mjs";
import { devices, tables, text } from "./shared.mjs";

const POOL = 4096;

// What is done while the system's randomness is another.
function withSystem(value, call) {
  const system = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value, configurable: true });
  try {
    return call();
  } finally {
    Object.defineProperty(globalThis, "crypto", system);
  }
}

const broken = () => {
  throw new Error("broken");
};
const WITHOUT = [undefined, {}, { getRandomValues: broken }];
const firstInput = (table) => table.INPUT_LABELS?.[0] ?? table.LOWER;
const lastInput = (table) => table.INPUT_LABELS?.at(-1) ?? table.UPPER;

for (const [name, table] of tables) {
  test(`${name} without randomness gives an error and no report`, () => {
    for (const system of WITHOUT) {
      // bytes that were read before may be left
      const draw = () => Array.from({ length: POOL + 1 }, () => table.sample(firstInput(table)));
      assert.throws(() => withSystem(system, draw), NoRandomness);
    }
    assert.notEqual(table.sample(firstInput(table)), undefined);
    const report = table.sample(firstInput(table));
    for (const system of WITHOUT) {
      assert.throws(() => withSystem(system, () => envelopeWriter(table)(report, 1)), NoRandomness);
    }
  });

  test(`reports of ${name} take the same number of random bytes`, () => {
    const blocks = (x) => {
      let read = 0;
      const real = globalThis.crypto;
      const getRandomValues = (bytes) => {
        read++;
        return real.getRandomValues(bytes);
      };
      withSystem({ getRandomValues }, () => {
        for (let i = 0; i < POOL; i++) table.sample(x);
      });
      return read;
    };
    const found = [firstInput(table), lastInput(table)].map(blocks);
    // others are drawn again where a number is refused
    if (JSON.parse(text(`${name}.json`)).kind === "subset")
      assert.ok(found.every((count) => count >= table.RANDOM_BYTES));
    else assert.deepEqual(found, [table.RANDOM_BYTES, table.RANDOM_BYTES]);
  });
}

test("what randomness a device lacks, it neither stores nor reports", () => {
  for (const [name, device] of devices) {
    const table = tables.get(name.replace(/_device$/, ""));
    let content = null;
    const storage = { load: () => content, store: (bytes) => (content = bytes) };
    device.create(storage, 1, device.REPORTS);
    const before = content;
    const empty = (bytes) => bytes.fill(0, broken());
    assert.throws(() => device.report(storage, firstInput(table), 1, 0, empty), /broken/);
    assert.equal(content, before);
  }
});

test("bytes are erased as they are used, and used once", () => {
  const table = tables.get("window");
  const pools = [];
  const getRandomValues = (bytes) => {
    pools.push(bytes);
    bytes.fill(255);
  };
  withSystem({ getRandomValues }, () => {
    while (pools.length === 0) table.sample(0.5); // what was left of the real ones is used up
    table.sample(0.5);
  });
  const [pool] = pools;
  const used = pool.indexOf(255);
  assert.ok(used >= table.RANDOM_BYTES && used < POOL);
  assert.ok(pool.subarray(used).every((byte) => byte === 255));
  withSystem(undefined, () => table.sample(0.5));
  assert.equal(pool.indexOf(255), used + table.RANDOM_BYTES);
  while (pool.includes(255)) table.sample(0.5);
});

test("nonces are of the system, and other ones each time", () => {
  const table = tables.get("window");
  const write = envelopeWriter(table);
  const report = table.sample(0.5);
  const nonces = Array.from({ length: 100 }, () => write(report, 1).slice(44, 60).join());
  assert.equal(new Set(nonces).size, 100);
});
