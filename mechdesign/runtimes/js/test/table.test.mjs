// What goes into a table and comes out of it, and which files are none.
import assert from "node:assert/strict";
import test from "node:test";
import { readDevice } from "../src/device.mjs";
import { FileRefused, envelopeWriter, readTable } from "../src/index.mjs";
import { devices, tables, text } from "./shared.mjs";

// The same bytes each time.
function fixed() {
  let state = 1;
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (state = (state * 69069 + 1) % 2 ** 32) >>> 24;
  };
}

test("a file is read from its bytes as from its text", () => {
  const table = readTable(new TextEncoder().encode(text("labels.json")));
  assert.deepEqual(table.INPUT_LABELS, tables.get("labels").INPUT_LABELS);
  assert.equal(table.TABLE, tables.get("labels").TABLE);
});

test("labels go in and come out where the table has them, and codes beside them", () => {
  for (const [name, table] of tables) {
    const inputs = table.INPUT_LABELS ?? table.POINTS ?? [table.LOWER, table.UPPER];
    inputs.forEach((x, i) => {
      const code = table.INPUT_LABELS === null ? x : (table.POINTS?.[i] ?? i);
      const report = table.sample(x, fixed());
      const plain = table.sampleCode(code, fixed());
      if (table.OUTPUT_LABELS === null) assert.deepEqual(report, plain, name);
      else assert.equal(table.OUTPUT_LABELS.indexOf(report), table.OUTPUTS.indexOf(plain), name);
      assert.equal(table.inputCode(x), code);
    });
  }
});

test("reports of a table of items are bytes of one length", () => {
  for (const table of tables.values()) {
    if (table.ITEMS === 0) continue;
    const report = table.sampleCode(table.ITEMS - 1);
    assert.ok(report instanceof Uint8Array);
    assert.equal(report.length, table.REPORT_BYTES);
  }
});

test("what is no input is refused, and not told", () => {
  for (const [name, table] of tables) {
    const secret = table.INPUT_LABELS === null ? 31415.926 : "my secret";
    const refused = (x, kind) =>
      assert.throws(
        () => table.sample(x, fixed()),
        (error) => error instanceof kind && !error.message.includes(String(secret)),
        name,
      );
    refused(secret, RangeError);
    refused(table.INPUT_LABELS === null ? "my secret" : 31415.926, TypeError);
    for (const x of [null, undefined, {}, [], true, 1n]) refused(x, TypeError);
    for (const x of [NaN, Infinity, -Infinity, 31415.926])
      assert.throws(() => table.sampleCode(x, fixed()), RangeError);
    assert.ok(!table.isInput(31415.926) && table.isInput(table.LOWER) && table.isInput(table.UPPER));
  }
});

test("labels are found by what they are, not by names that objects have", () => {
  for (const x of ["toString", "__proto__", "constructor"]) {
    assert.throws(() => tables.get("labels").sample(x, fixed()), RangeError);
  }
});

test("tables and devices cannot be changed", () => {
  const table = tables.get("labels");
  assert.ok(Object.isFrozen(table) && Object.isFrozen(table.INPUT_LABELS) && Object.isFrozen(table.POINTS));
  assert.ok(Object.isFrozen(devices.get("labels_device")));
});

test("a file that nothing can be drawn from is refused", () => {
  const whole = text("finite.json");
  const wrong = [
    ['"points":["-1.5",', '"points":["0x1",'],
    ["", "x"],
    [whole, ""],
    [whole, "[]"],
    [whole, "null"],
    ['"format":"mechdesign table"', '"format":"mechdesign device"'],
    ['"version":2', '"version":3'],
    ['"kind":"finite","labels"', '"kind":"toString","labels"'],
    ['"kind":"finite","labels"', '"kind":"window","labels"'],
    ['"kind":"finite","labels"', '"kind":"unary","labels"'],
    ['"bits":53', '"bits":54'],
    ['"bits":53', '"bits":32'],
    ['"bits":53', '"bits":5.3'],
    ['"points":["-1.5",', '"points":["minus",'],
    ['"points":["-1.5",', '"points":['],
    ['"outputs":["-1.5",', '"outputs":['],
    ['"rows":[[', '"rows":[[1,'],
    ['"rows":[[', '"rows":[[true],['],
    ['"labels":null', '"labels":{"inputs":["a"],"outputs":null}'],
    ['"labels":null', '"labels":{"inputs":["a","a","b"],"outputs":null}'],
    ['"labels":null', '"labels":{"inputs":["a",1,"b"],"outputs":null}'],
    ['"labels":null', '"labels":{"inputs":null,"outputs":["a"]}'],
    ['"sha256":"', '"sha256":"0'],
  ];
  for (const [old, other] of wrong) {
    assert.ok(whole.includes(old), old);
    assert.throws(() => readTable(whole.replace(old, other)), FileRefused, `${old} -> ${other}`);
  }
  for (const [name, old, other] of [
    ["pieces", '"inside":', '"inside":0,"was":'],
    ["additive", '"tail":', '"tail":99999,"was":'],
    ["additive", '"weights":', '"weights":[],"was":'],
    ["additive", '"weights":[', '"weights":[1,'],
    ["additive", '"weights":[807,', '"weights":[807,-1,1,'],
    ["additive", '"tail":24110', '"tail":-1'],
    ["additive", '"shift":7', '"shift":900'],
    ["additive", '"lower":"0"', '"lower":"2"'],
    ["clamped_noise", '"clamp":["-1","1"]', '"clamp":["-1"]'],
    ["clamped_wave", '"clamp":["0","1"]', '"clamp":["1","0"]'],
    ["clamped_wave", '"clamp":["0","1"]', '"clamp":[]'],
    ["window", '"starts":[', '"starts":[0,'],
    ["window", '"caps":[', '"caps":[1,'],
    ["unbiased", '"means":[', '"means":[1,'],
    ["unbiased", '"shift":43', '"shift":1000'],
    ["unbiased", '"base":[17626', '"base":["0x10"'],
    ["response", '"own":', '"own":1,"was":'],
    ["response", '"other":556466762,"own":1512633486', '"other":-1,"own":4294967301'],
    ["unary", '"own_bit":[32768', '"own_bit":[32769'],
    ["subset", '"own":', '"own":1,"was":'],
    ["hadamard", '"blocks":', '"blocks":0,"was":'],
    ["subset", '"subset":', '"subset":9,"was":'],
    ["sketch", '"buckets":', '"buckets":1,"was":'],
  ]) {
    assert.ok(text(`${name}.json`).includes(old), `${name}: ${old}`);
    assert.throws(() => readTable(text(`${name}.json`).replace(old, other)), FileRefused, `${name}: ${other}`);
  }
});

test("a table whose noise would take for ever is refused", () => {
  const forged = JSON.parse(text("additive.json"));
  const noise = (bits, tail) => {
    const law = `{"clamp":null,"offset":"0","shift":0,"tail":${tail},"weights":[${2n ** BigInt(bits)}]}`;
    return JSON.stringify({ ...forged, bits, law: 0 }).replace('"law":0', `"law":${law}`);
  };
  assert.ok(Number.isInteger(readTable(noise(32, 2 ** 31)).sampleCode(1)));
  assert.equal(readTable(noise(32, 2 ** 32 - 2 ** 16)).ITEMS, 0);
  for (const tail of [2 ** 32 - 2 ** 16 + 1, 2 ** 32]) assert.throws(() => readTable(noise(32, tail)), FileRefused);
});

test("a device without its tables, or of another format, is refused", () => {
  const whole = text("labels_device.json");
  assert.throws(() => readDevice(whole, [tables.get("labels")]), FileRefused);
  assert.throws(() => readDevice(whole, [tables.get("labels_again")]), FileRefused);
  const all = [...tables.values()];
  assert.equal(readDevice(new TextEncoder().encode(whole), all).DEVICE, devices.get("labels_device").DEVICE);
  for (const [old, other] of [
    ['"mechdesign device"', '"mechdesign table"'],
    ['"version":1', '"version":2'],
    ['"values":2', '"values":0'],
    ['"values":2', '"values":4097'],
    ['"reports":3', '"reports":0'],
    ['"reports":3', '"reports":10001'],
    [tables.get("labels_again").TABLE, tables.get("finite").TABLE],
    [tables.get("labels").TABLE, tables.get("response").TABLE],
  ]) {
    assert.ok(whole.includes(old), old);
    assert.throws(() => readDevice(whole.replace(old, other), all), FileRefused, other);
  }
});

test("what can be no subject of envelopes is refused", () => {
  const table = tables.get("finite");
  for (const subject of ["devices", "", null]) assert.throws(() => envelopeWriter(table, { subject }), RangeError);
  for (const attribute of [-1, 0.5, 65536, 70000, "1"]) {
    assert.throws(() => envelopeWriter(table, { subject: "attribute", attribute }), RangeError);
  }
  for (const sha256 of ["", table.TABLE.slice(1), "g".repeat(64), null]) {
    assert.throws(() => envelopeWriter(table, { subject: "device", sha256 }), RangeError);
  }
  const last = envelopeWriter(table, { subject: "attribute", attribute: 65535 })(table.OUTPUTS[0], 1);
  assert.deepEqual([...last.slice(5, 8)], [1, 255, 255]);
});

test("what sample does not give goes in no envelope, and minus zero is zero", () => {
  for (const [name, table] of tables) {
    const write = envelopeWriter(table);
    const nonce = (bytes) => bytes.fill(1);
    for (const report of [undefined, null, {}, "maybe", NaN, -Infinity, new Uint8Array(table.REPORT_BYTES + 1), 1n]) {
      assert.throws(() => write(report, 1, nonce), RangeError, name);
    }
    const report = table.sample(table.INPUT_LABELS?.[0] ?? table.LOWER);
    for (const day of [-1, 2932897, 0.5, NaN, "1", undefined]) assert.throws(() => write(report, day), RangeError);
    assert.equal(write(report, 2932896).length, write.size);
    if (table.REPORT_BYTES === 0 && table.OUTPUTS === null) {
      assert.deepEqual(write(-0, 1, nonce), write(0, 1, nonce));
      assert.equal(write(-0, 1, nonce).at(-1), 0);
    }
  }
});
