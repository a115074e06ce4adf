// The shared vectors of all runtimes: tables of every kind, devices, and envelopes of each.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { envelopeWriter, readDevice, readTable } from "../src/index.mjs";
import { replay } from "../replay.mjs";

const FOLDER = new URL("../../vectors/", import.meta.url);
const text = (name) => readFileSync(new URL(name, FOLDER), "utf8");
const names = readdirSync(FOLDER);
const devices = names.filter((name) => name.endsWith("_device.json")).map((name) => name.slice(0, -5));
const others = new Set([...devices.map((name) => `${name}.json`), "collection.json"]);
const tables = new Map(
  names
    .filter((name) => name.endsWith(".json") && !others.has(name))
    .map((name) => [name.slice(0, -5), readTable(text(name))]),
);

test("there are tables of every kind, devices and a collection", () => {
  const kinds = [...tables.keys()].map((name) => JSON.parse(text(`${name}.json`)).kind);
  assert.equal(new Set(kinds).size, 11);
  assert.ok(devices.length > 0 && names.includes("collection.json"));
});

for (const [name, table] of tables) {
  test(`${name} answers its vectors`, () => assert.ok(replay(table, text(`${name}.txt`)) > 0));
  test(`envelopes of ${name} are its vectors`, () =>
    assert.ok(replay({ table, write: envelopeWriter(table) }, text(`${name}_envelopes.txt`)) > 0));
}

for (const name of devices) {
  const described = JSON.parse(text(`${name}.json`));
  test(`${name} answers its vectors`, () => {
    assert.ok(replay(readDevice(text(`${name}.json`), [...tables.values()]), text(`${name}.txt`)) > 0);
  });
  test(`envelopes of ${name} are its vectors`, () => {
    const table = [...tables.values()].find(({ TABLE }) => TABLE === (described.again ?? described.table));
    const write = envelopeWriter(table, { subject: "device", sha256: described.sha256 });
    assert.ok(replay({ table, write }, text(`${name}_envelopes.txt`)) > 0);
  });
}

test("envelopes of a collection are its vectors", () => {
  const { attributes, sha256 } = JSON.parse(text("collection.json"));
  attributes.forEach((attribute, number) => {
    const table = [...tables.values()].find(({ TABLE }) => TABLE === attribute.table.sha256);
    const write = envelopeWriter(table, { subject: "attribute", attribute: number, sha256 });
    assert.ok(replay({ table, write }, text(`collection_${number}_envelopes.txt`)) > 0);
  });
});
