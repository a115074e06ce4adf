// Answers vectors, in the three text forms of FORMAT.md:
//
//     node replay.mjs TABLE.json VECTORS.txt
//     node replay.mjs TABLE.json [AGAIN.json] DEVICE.json VECTORS.txt
//     node replay.mjs TABLE.json ENVELOPES.txt
//     node replay.mjs SAMPLER.mjs VECTORS.txt
//
// It prints PASS with the number of cases, or FAIL with the first that is answered otherwise.
import { readFileSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const view = new DataView(new ArrayBuffer(8));

export function digitsOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function bytesOf(digits) {
  return digits === "-" ? null : Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function numberOf(text) {
  if (!/^[0-9a-f]{16}$/.test(text)) return Number(text); // an item
  view.setBigUint64(0, BigInt(`0x${text}`));
  return view.getFloat64(0);
}

function written(report) {
  if (report instanceof Uint8Array) return digitsOf(report);
  view.setFloat64(0, report);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

// A source of these bytes, which says how many were read.
function stream(digits) {
  const content = bytesOf(digits) ?? [];
  const fill = (bytes) => {
    if (fill.used + bytes.length > content.length) throw new Error("no bytes left");
    for (let i = 0; i < bytes.length; i++) bytes[i] = content[fill.used++];
  };
  fill.used = 0;
  return fill;
}

// Input, random bytes, how many are used, and the report or error.
function tableCase({ sampleCode }, [input, random, used, expected]) {
  const fill = stream(random);
  try {
    return written(sampleCode(numberOf(input), fill)) === expected && fill.used === Number(used);
  } catch (error) {
    return error instanceof RangeError && expected === "error";
  }
}

// What, state, period, least, allowance, input, random bytes, how many are used, the outcome, and what is stored.
function deviceCase(device, [what, state, period, least, allowance, x, random, used, outcome, after]) {
  let stored = "-";
  const storage = { load: () => bytesOf(state), store: (bytes) => (stored = digitsOf(bytes)) };
  const fill = stream(random);
  let said;
  try {
    if (what === "create") {
      device.create(storage, Number(period), Number(allowance), Number(least));
      said = "done";
    } else {
      said = written(device.reportCode(storage, numberOf(x), Number(period), Number(least), fill));
      if (fill.used !== Number(used)) return false;
    }
  } catch (error) {
    if (error.name === "StateRefused") said = error.reason;
    else if (error instanceof RangeError) said = "input";
    else throw error;
  }
  return said === outcome && stored === after;
}

// A report, the last day, the nonce, and the envelope or error.
function envelopeCase({ table, write }, [report, day, nonce, expected]) {
  const fill = (bytes) => bytes.set(bytesOf(nonce));
  const read = table.OUTPUT_LABELS ? (digits) => new TextDecoder().decode(bytesOf(digits)) : numberOf;
  try {
    return digitsOf(write(table.REPORT_BYTES ? bytesOf(report) : read(report), Number(day), fill)) === expected;
  } catch (error) {
    return error instanceof RangeError && expected === "error";
  }
}

/** How many cases the text of vectors has, all of them answered by the subject; an error names the first that is not. */
export function replay(subject, text) {
  const isRight = "write" in subject ? envelopeCase : "create" in subject ? deviceCase : tableCase;
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  if (lines.length === 0) throw new Error("no cases");
  const wrong = lines.findIndex((line) => !isRight(subject, line.split(" ")));
  if (wrong >= 0) throw new Error(`case ${wrong + 1}`);
  return lines.length;
}

async function main(paths) {
  const vectors = readFileSync(paths.at(-1), "utf8");
  if (paths[0].endsWith(".mjs")) return replay(await import(pathToFileURL(resolve(paths[0]))), vectors);
  const { envelopeWriter, readTable } = await import("./src/index.mjs");
  const texts = paths.slice(0, -1).map((path) => readFileSync(path, "utf8"));
  const isDevice = texts.length > 1;
  const tables = texts.slice(0, isDevice ? -1 : 1).map(readTable);
  if (isDevice) return replay((await import("./src/device.mjs")).readDevice(texts.at(-1), tables), vectors);
  if (vectors.startsWith("# envelopes")) return replay({ table: tables[0], write: envelopeWriter(tables[0]) }, vectors);
  return replay(tables[0], vectors);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    console.log(`PASS ${await main(process.argv.slice(2))}`);
  } catch (error) {
    console.log(`FAIL ${error.message}`);
    process.exitCode = 1;
  }
}
