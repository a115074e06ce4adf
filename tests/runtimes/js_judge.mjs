// Says for each of many texts of the JavaScript runtime whether it answers all shared vectors: node js_judge.mjs REPLAY VECTORS MUTANTS
// A text that does not end is ended.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const PATIENCE = 6000; // milliseconds: all vectors take a tenth of it

async function judged(text) {
  const { names, program, vectors } = workerData;
  const { replay } = await import(pathToFileURL(program));
  const runtime = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
  const read = (name) => readFileSync(join(vectors, name), "utf8");
  const { tables, devices, collection } = names;
  const found = new Map(tables.map((name) => [name, runtime.readTable(read(`${name}.json`))]));
  const write = (table, subject) => ({ table, write: runtime.envelopeWriter(table, subject) });
  const of = (hash) => [...found.values()].find(({ TABLE }) => TABLE === hash);
  for (const [name, table] of found) {
    if (table.INPUT_LABELS === null && table.inputCode(table.LOWER) !== table.LOWER) return false;
    replay(write(table), read(`${name}_envelopes.txt`));
    replay(table, read(`${name}.txt`));
    const labels = table.INPUT_LABELS ?? [];
    if (labels.some((label, i) => table.inputCode(label) !== (table.POINTS?.[i] ?? i))) return false;
    if ((table.OUTPUT_LABELS ?? []).some((label, i) => table.outputLabel(table.OUTPUTS[i]) !== label)) return false;
  }
  for (const name of devices) {
    const { table, again, sha256 } = JSON.parse(read(`${name}.json`));
    replay(runtime.readDevice(read(`${name}.json`), [...found.values()]), read(`${name}.txt`));
    replay(write(of(again ?? table), { subject: "device", sha256 }), read(`${name}_envelopes.txt`));
  }
  const { attributes, sha256 } = JSON.parse(read(collection));
  attributes.forEach(({ table }, attribute) => {
    const subject = { subject: "attribute", attribute, sha256 };
    replay(write(of(table.sha256), subject), read(`collection_${attribute}_envelopes.txt`));
  });
  return true;
}

if (isMainThread) {
  const [program, vectors, path] = process.argv.slice(2);
  const { names, texts } = JSON.parse(readFileSync(path, "utf8"));
  const hired = () => new Worker(new URL(import.meta.url), { workerData: { program, vectors, names } });
  let worker = hired();
  const said = [];
  for (const text of texts) {
    const answer = await new Promise((resolve) => {
      const late = setTimeout(() => resolve(null), PATIENCE);
      worker.once("message", (passed) => (clearTimeout(late), resolve(passed)));
      worker.postMessage(text);
    });
    if (answer === null) {
      await worker.terminate();
      worker = hired();
    }
    said.push(answer === true);
  }
  await worker.terminate();
  console.log(JSON.stringify(said));
} else {
  parentPort.on("message", (text) => {
    judged(text).then(
      (passed) => parentPort.postMessage(passed),
      () => parentPort.postMessage(false),
    );
  });
}
