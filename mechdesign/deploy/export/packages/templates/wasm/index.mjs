// The samplers of @package@, in WebAssembly: load() gives them. Random bytes are read in blocks, and erased as they are used.

// Envelopes for reports, by the names of their tables.
export * as envelopes from "./envelopes.mjs";

// There is no secure randomness, and so no report.
export class NoRandomness extends Error {
  name = "NoRandomness";
}

// @include randomness/pool.mjs

async function bytesOf(url) {
  if (url.protocol === "file:") return (await import("node:fs")).readFileSync(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`samplers.wasm cannot be loaded: status ${answer.status}`);
  return answer.arrayBuffer();
}

// The samplers, by the names of their tables.
export async function load(url = new URL("./samplers.wasm", import.meta.url)) {
  let source = take;
  let failure = null;
  let memory = null;
  const random = (at, count) => {
    try {
      source(new Uint8Array(memory.buffer, at, count));
      return 0;
    } catch (error) {
      failure = error;
      return 1;
    }
  };
  const { instance } = await WebAssembly.instantiate(await bytesOf(url), { env: { random } });
  memory = instance.exports.memory;

  const drawn = (name, x, fill, size) => {
    if (typeof x !== "number") throw new TypeError("the input must be a number");
    source = fill ?? take;
    failure = null;
    const outcome = instance.exports[`${fill === undefined ? "sample" : "test"}_${name}`](x);
    source = take;
    if (outcome === 1) throw new RangeError("the input must lie in the domain");
    if (outcome !== 0) throw failure;
    if (size === 0) return instance.exports.report();
    return new Uint8Array(memory.buffer, instance.exports.bytes(), size).slice();
  };

  // where reports are bytes, size is how many
  const sampler = (name, inputs, outputs, points, reports, size) => {
    const labels = {};
    const places = new Map((inputs ?? []).map((label, place) => [label, place]));
    if (inputs !== null) labels.INPUT_LABELS = Object.freeze(inputs);
    if (outputs !== null) labels.OUTPUT_LABELS = Object.freeze(outputs);
    return Object.freeze({
      ...labels,
      sampleCode: (x, fill) => drawn(name, x, fill, size),
      sample: (x, fill) => {
        let code = x;
        if (inputs !== null) {
          if (typeof x !== "string") throw new TypeError("the input must be a text, one of INPUT_LABELS");
          const place = places.get(x);
          if (place === undefined) throw new RangeError("the input must be one of INPUT_LABELS");
          code = points[place];
        }
        const y = drawn(name, code, fill, size);
        return outputs === null ? y : outputs[reports.indexOf(y)];
      },
    });
  };

  return Object.freeze({
@samplers@  });
}
