// Checks the device against its test vectors: node @device@_replay.mjs @device@_vectors.txt
// With a state in a file: node @device@_replay.mjs create FILE PERIOD ALLOWANCE, or report FILE PERIOD X (X in codes).
import { readFileSync } from "node:fs";
import * as device from "./@device@.mjs";
import { fileStorage } from "./@device@_file.mjs";

// @if items
const digits = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
// @else
const view = new DataView(new ArrayBuffer(8));
// @end

function bytesOf(text) {
  return text === "-" ? null : Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function replay(line) {
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
      said = digits(device.@core@(storage, Number(x), Number(period), Number(least), fill));
// @else
      view.setBigUint64(0, BigInt("0x" + x));
      view.setFloat64(0, device.@core@(storage, view.getFloat64(0), Number(period), Number(least), fill));
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

function fromFile(what, path, period, number) {
  let storage;
  try {
    storage = fileStorage(path);
// @if items
    if (what === "report") return digits(device.@core@(storage, Number(number), Number(period)));
// @else
    if (what === "report") return String(device.@core@(storage, Number(number), Number(period)));
// @end
    device.create(storage, Number(period), Number(number));
    return "done";
  } catch (error) {
    if (error instanceof device.StateRefused) return error.reason;
    throw error;
  } finally {
    storage?.close();
  }
}

const said = process.argv.slice(2);
if (said.length === 4) {
  console.log(fromFile(...said));
} else {
  const lines = readFileSync(said[0], "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  const failed = lines.findIndex((line) => !replay(line));
  const isWrong = failed >= 0 || lines.length === 0;
  if (isWrong) console.log(lines.length ? `FAIL case ${failed + 1}` : "FAIL no cases");
  else console.log(`PASS ${lines.length}`);
  process.exitCode = isWrong ? 1 : 0;
}
