// Checks the sampler against its test vectors: node @stem@_replay.mjs @stem@_vectors.txt
// Without a file it reads standard input.
import { readFileSync } from "node:fs";
import { @core@ } from "./@stem@.mjs";

function replay(line) {
  const [item, stream, used, expected] = line.split(" ");
  let position = 0;
  const fill = (bytes) => {
    for (let i = 0; i < bytes.length; i++, position++) {
      if (2 * position >= stream.length) throw new Error("no bytes left");
      bytes[i] = parseInt(stream.slice(2 * position, 2 * position + 2), 16);
    }
  };
  let report;
  try {
    report = @core@(Number(item), fill);
  } catch (error) {
    return error instanceof RangeError && expected === "error";
  }
  return Buffer.from(report).toString("hex") === expected && position === Number(used);
}

const [, , path] = process.argv;
if (path === undefined) console.error("reading test vectors from standard input");
const lines = readFileSync(path ?? 0, "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
const failed = lines.findIndex((line) => !replay(line));
if (failed >= 0 || lines.length === 0) {
  console.log(lines.length ? `FAIL case ${failed + 1}` : "FAIL no cases");
  process.exit(1);
}
console.log(`PASS ${lines.length}`);
