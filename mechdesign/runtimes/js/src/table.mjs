// A table: what its file holds, and reports drawn from it.

import { ITEMS } from "./items.mjs";
import { NUMBERS } from "./numbers.mjs";
import { allotted, take } from "./randomness.mjs";
import { double, hash, need, read, size } from "./reading.mjs";

/**
 * The table of a file, given as its text or its bytes; `Table` in index.d.mts says what it has. A `FileRefused` if it is
 * none to draw from. Whether its law is private is not decided here: `mechdesign verify` does that before it is shipped.
 */
export function readTable(content) {
  return read(content, (file) => {
    need(file.format === "mechdesign table" && file.version === 2, "it must be a table of version 2");
    const { bits, kind } = file;
    need([16, 32, 53, 62].includes(bits), "bits must be 16, 32, 53 or 62");
    const isItems = Object.hasOwn(ITEMS, kind);
    need(isItems || Object.hasOwn(NUMBERS, kind), "the kind must be one of the format");
    const domain = (isItems ? items : kind === "finite" ? points : interval)(file.domain);
    return table(file, domain, (isItems ? ITEMS : NUMBERS)[kind](file.law, { bits, domain }));
  });
}

function table(file, domain, law) {
  const inputLabels = labels(file.labels?.inputs, domain.codes);
  const outputLabels = labels(file.labels?.outputs, law.outputs);
  const codes = inputLabels && new Map(inputLabels.map((label, i) => [label, domain.codes[i]]));
  const said = outputLabels && new Map(outputLabels.map((label, i) => [law.outputs[i], label]));
  const randomBytes = domain.count ? law.enough : Math.min(law.enough, 4096);
  const source = domain.count ? () => take : () => allotted(randomBytes);

  const inputCode = (x) => {
    if (codes === null) return x;
    if (typeof x !== "string") throw new TypeError("the input must be a text, one of INPUT_LABELS");
    if (!codes.has(x)) throw new RangeError("the input must be one of INPUT_LABELS");
    return codes.get(x);
  };
  const outputLabel = (y) => (said === null ? y : said.get(y));
  const sampleCode = (x, fill = source()) => {
    if (typeof x !== "number") throw new TypeError("the input must be a number");
    if (!domain.has(x)) throw new RangeError(domain.rule);
    return law.report(x, fill);
  };

  return Object.freeze({
    TABLE: hash(file.sha256),
    LOWER: domain.lower,
    UPPER: domain.upper,
    POINTS: domain.points ?? null,
    ITEMS: domain.count ?? 0,
    OUTPUTS: law.outputs && Object.freeze(law.outputs),
    INPUT_LABELS: inputLabels,
    OUTPUT_LABELS: outputLabels,
    REPORT_BYTES: law.length ?? 0,
    RANDOM_BYTES: randomBytes,
    isInput: domain.has,
    inputCode,
    outputLabel,
    sampleCode,
    sample: (x, fill = source()) => outputLabel(sampleCode(inputCode(x), fill)),
  });
}

function items(file) {
  need(file.kind === "items", "the domain must be items");
  const count = size(file.count, 2, 65536);
  const has = (item) => Number.isInteger(item) && item >= 0 && item < count;
  const codes = Array.from({ length: count }, (_, item) => item);
  return { count, codes, lower: 0, upper: count - 1, has, rule: "the item must be one of 0 to ITEMS - 1" };
}

function points(file) {
  need(file.kind === "finite" && file.points.length > 0, "the domain must have points");
  const found = Object.freeze(file.points.map(double));
  const places = new Map(found.map((point, place) => [point, place]));
  const rule = "the input must be one of POINTS";
  return { points: found, codes: found, places, lower: found[0], upper: found.at(-1), has: (x) => places.has(x), rule };
}

function interval(file) {
  const isCircle = file.kind === "circle";
  need(isCircle || file.kind === "interval", "the domain must be an interval or a circle");
  const [lower, upper] = isCircle ? [0, double(file.period)] : [double(file.lower), double(file.upper)];
  return { isCircle, lower, upper, has: (x) => lower <= x && x <= upper, rule: "the input must lie in the domain" };
}

// One text for each input or output, in their order.
function labels(texts, numbers) {
  if ((texts ?? null) === null) return null;
  need(
    texts.length === numbers.length && new Set(texts).size === texts.length,
    "there must be a label for each number",
  );
  need(
    texts.every((text) => typeof text === "string"),
    "labels must be texts",
  );
  return Object.freeze(texts);
}
