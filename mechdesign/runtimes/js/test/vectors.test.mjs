// The shared vectors of all runtimes: tables of every kind, devices, and envelopes of each.
import assert from "node:assert/strict";
import test from "node:test";
import { envelopeWriter } from "../src/index.mjs";
import { replay } from "../replay.mjs";
import { devices, tables, text } from "./shared.mjs";

const tableOf = (sha256) => [...tables.values()].find(({ TABLE }) => TABLE === sha256);

test("there are tables of every kind, and devices", () => {
  const kinds = [...tables.keys()].map((name) => JSON.parse(text(`${name}.json`)).kind);
  assert.equal(new Set(kinds).size, 11);
  assert.ok(devices.size > 0);
});

for (const [name, table] of tables) {
  test(`${name} answers its vectors`, () => assert.ok(replay(table, text(`${name}.txt`)) > 0));
  test(`envelopes of ${name} are its vectors`, () => {
    assert.ok(replay({ table, write: envelopeWriter(table) }, text(`${name}_envelopes.txt`)) > 0);
  });
}

for (const [name, device] of devices) {
  test(`${name} answers its vectors`, () => assert.ok(replay(device, text(`${name}.txt`)) > 0));
  test(`envelopes of ${name} are its vectors`, () => {
    const { table: first, again, sha256 } = JSON.parse(text(`${name}.json`));
    const table = tableOf(again ?? first);
    const write = envelopeWriter(table, { subject: "device", sha256 });
    assert.ok(replay({ table, write }, text(`${name}_envelopes.txt`)) > 0);
  });
}

test("envelopes of a collection are its vectors", () => {
  const { attributes, sha256 } = JSON.parse(text("collection.json"));
  attributes.forEach((attribute, number) => {
    const table = tableOf(attribute.table.sha256);
    const write = envelopeWriter(table, { subject: "attribute", attribute: number, sha256 });
    assert.ok(replay({ table, write }, text(`collection_${number}_envelopes.txt`)) > 0);
  });
});

test("a wrong answer is no pass, and neither are no cases", () => {
  const table = tables.get("window");
  assert.throws(() => replay({ ...table, sampleCode: () => 0.5 }, text("window.txt")), /case 1/);
  assert.throws(() => replay(table, "# nothing\n"), /no cases/);
});
