// Tables in WebAssembly: load() gives them, by name. The program reads random bytes in blocks, and erases them as they
// are used.
import { collection, tables } from "./tables.mjs";

// There is no secure randomness, and so no report.
export class NoRandomness extends Error {
  name = "NoRandomness";
}

function fromSystem(bytes) {
  const system = globalThis.crypto;
  if (typeof system?.getRandomValues !== "function") {
    const rule = "no secure randomness: crypto.getRandomValues is missing (browsers and Node 19 or later have it)";
    throw new NoRandomness(rule);
  }
  try {
    system.getRandomValues(bytes);
  } catch (error) {
    throw new NoRandomness("no secure randomness: crypto.getRandomValues failed", { cause: error });
  }
}

async function bytesOf(url) {
  if (url.protocol === "file:") return (await import("node:fs")).readFileSync(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`samplers.wasm cannot be loaded: status ${answer.status}`);
  return answer.arrayBuffer();
}

// All tables, by name.
export async function load(url = new URL("./samplers.wasm", import.meta.url)) {
  const state = { program: null, source: fromSystem, failure: null };
  const random = (at, count) => {
    try {
      state.source(new Uint8Array(state.program.memory.buffer, at, count));
      return 0;
    } catch (error) {
      state.failure = error;
      return 1;
    }
  };
  const { instance } = await WebAssembly.instantiate(await bytesOf(url), { env: { random } });
  state.program = instance.exports;
  const opened = Object.entries(tables).map(([name, text], place) => [name, open(state, text, place)]);
  return Object.freeze(Object.fromEntries(opened));
}

function put(program, bytes) {
  const at = program.reserve(bytes.length);
  new Uint8Array(program.memory.buffer, at, bytes.length).set(bytes);
}

function taken(program) {
  return new Uint8Array(program.memory.buffer, program.bytes(), program.size()).slice();
}

// The table of a file, which is attribute number `place` if there is a collection.
function open(state, text, place) {
  const { program } = state;
  const encoder = new TextEncoder();
  put(program, encoder.encode(text));
  const table = program.read_table();
  if (table < 0) throw new Error("no table that can be drawn from");
  if (collection !== null) {
    put(program, encoder.encode(collection));
    program.set_attribute(table, place);
  }

  const { domain, labels, law } = JSON.parse(text);
  const isOfItems = domain.kind === "items";
  const INPUT_LABELS = Object.freeze(labels?.inputs ?? null);
  const OUTPUT_LABELS = Object.freeze(labels?.outputs ?? null);
  const places = new Map((INPUT_LABELS ?? []).map((label, i) => [label, i]));
  const outputs = OUTPUT_LABELS === null ? [] : law.outputs.map(Number);

  // A call of the program with another source of bytes, if there is one.
  const called = (fill, rule, call) => {
    state.source = fill ?? fromSystem;
    const outcome = call();
    state.source = fromSystem;
    if (outcome === 1) throw new RangeError(rule);
    if (outcome !== 0) throw state.failure;
  };
  const sampleCode = (x, fill) => {
    if (typeof x !== "number") throw new TypeError("the input must be a number");
    const asks = fill === undefined ? 0 : 1;
    called(fill, "the input must lie in the domain", () => program.sample(table, x, asks));
    return isOfItems ? taken(program) : program.number();
  };
  const codeOf = (x) => {
    if (INPUT_LABELS === null) return x;
    if (typeof x !== "string") throw new TypeError("the input must be a text, one of INPUT_LABELS");
    if (!places.has(x)) throw new RangeError("the input must be one of INPUT_LABELS");
    return isOfItems ? places.get(x) : Number(domain.points[places.get(x)]);
  };
  const sample = (x, fill) => {
    const y = sampleCode(codeOf(x), fill);
    return OUTPUT_LABELS === null ? y : OUTPUT_LABELS[outputs.indexOf(y)];
  };
  const envelope = (report, lastDay, fill) => {
    const y = OUTPUT_LABELS === null ? report : outputs[OUTPUT_LABELS.indexOf(report)];
    const isReport = isOfItems ? y instanceof Uint8Array : typeof y === "number";
    if (!isReport) throw new RangeError("the report must be one that sample gives");
    if (!Number.isInteger(lastDay)) throw new RangeError("the last day must be a whole number of days since 1970-01-01");
    if (isOfItems) put(program, y);
    const rule = "the report must be one that sample gives, and the last day from 0 to 2932896";
    called(fill, rule, () => program.envelope(table, isOfItems ? 0 : y, lastDay));
    return taken(program);
  };
  return Object.freeze({ INPUT_LABELS, OUTPUT_LABELS, sample, sampleCode, envelope });
}
