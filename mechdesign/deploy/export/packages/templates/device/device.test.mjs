// The device: its vectors (states that are lost, cut, edited, foreign and rolled back among them), and a state in a file.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { @device@ as device } from "../index.mjs";
import { fileStorage } from "../@device@_file.mjs";

// @if items
const digits = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
// @else
const view = new DataView(new ArrayBuffer(8));
// @end
const { @core@: draw } = device;

function bytesOf(text) {
  return text === "-" ? null : Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function replayed(line) {
  const [what, before, period, least, allowance, x, stream, used, outcome, after] = line.split(" ");
  let stored = "-";
  const storage = {
    load: () => bytesOf(before),
    store: (bytes) => (stored = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")),
  };
  const data = bytesOf(stream) ?? [];
  let position = 0;
  const fill = (bytes) => {
    if (position + bytes.length > data.length) throw new Error("no bytes left");
    for (let i = 0; i < bytes.length; i++) bytes[i] = data[position++];
  };
  let said = "done";
  try {
    if (what === "create") device.create(storage, Number(period), Number(allowance), Number(least));
    else {
// @if items
      said = digits(draw(storage, Number(x), Number(period), Number(least), fill));
// @else
      view.setBigUint64(0, BigInt("0x" + x));
      view.setFloat64(0, draw(storage, view.getFloat64(0), Number(period), Number(least), fill));
      said = view.getBigUint64(0).toString(16).padStart(16, "0");
// @end
      if (position !== Number(used)) return false;
    }
  } catch (error) {
    if (error instanceof device.StateRefused) said = error.reason;
    else if (error instanceof RangeError) said = "input";
    else throw error;
  }
  return said === outcome && stored === after;
}

test("@device@ reproduces its vectors", () => {
  const text = readFileSync(new URL("./@device@_vectors.txt", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  assert.ok(lines.length > 0);
  lines.forEach((line, i) => assert.ok(replayed(line), `case ${i + 1}`));
});

test("a state in a file is created, spent, counted and used by one", () => {
  const folder = mkdtempSync(join(tmpdir(), "device-"));
  const path = join(folder, "state");
  try {
    const storage = fileStorage(path);
    assert.throws(() => draw(storage, @typical@, 20), { reason: "missing" });
    device.create(storage, 20, 1);
    assert.throws(() => device.create(storage, 20), { reason: "present" });
    draw(storage, @typical@, 20);
    assert.throws(() => draw(storage, @typical@, 20), { reason: "exhausted" });
    assert.throws(() => fileStorage(path), { reason: "busy" });
    storage.close();
    const again = fileStorage(path);
    assert.equal(device.serial(again), 2);
    assert.throws(() => device.serial(again, 3), { reason: "rolled-back" });
    again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a state in local storage is one or none", () => {
  const held = new Map();
  const place = { getItem: (key) => held.get(key) ?? null, setItem: (key, text) => held.set(key, text) };
  const storage = device.webStorage("state", place);
  assert.throws(() => device.serial(storage), { reason: "missing" });
  device.create(storage, 20, 1);
  draw(storage, @typical@, 20);
  assert.equal(device.serial(storage), 2);
  held.set("state", "none");
  assert.throws(() => device.serial(storage), { reason: "damaged" });
});
