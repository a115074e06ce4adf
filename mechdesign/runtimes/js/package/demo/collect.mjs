// Serves the page and keeps envelopes, one a line in envelopes.txt in the current folder: node demo/collect.mjs [PORT]
// For trying out on this machine. No addresses are kept: beside reports they would say who sent which. Which envelopes
// count is decided by mechdesign collect-reports.
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import * as survey from "../index.mjs";

// an envelope of each table: others have the same length, say the same of what they are, and have the same hash
const KNOWN = Object.entries(survey.envelopes).map(([name, write]) => {
  const { INPUT_LABELS, LOWER, sample } = survey[name];
  return Buffer.from(write(sample(INPUT_LABELS?.[0] ?? LOWER), 0));
});
const SAME = [
  [0, 8],
  [12, 44],
];
const MOST = Math.max(...KNOWN.map((one) => one.length));
const ROOT = new URL("../", import.meta.url);
const PAGES = /^\/(demo\/(index\.html|page\.mjs)|(index|data|browser)\.mjs|src\/\w+\.mjs)$/;

function isKnown(content) {
  return KNOWN.some(
    (one) =>
      one.length === content.length &&
      SAME.every(([first, end]) => one.subarray(first, end).equals(content.subarray(first, end))),
  );
}

async function received(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    parts.push(part);
    if ((length += part.length) > MOST) break;
  }
  return Buffer.concat(parts);
}

async function answer(request, response) {
  if (request.method === "POST" && request.url === "/envelopes") {
    const content = await received(request);
    const takes = isKnown(content);
    if (takes) appendFileSync("envelopes.txt", content.toString("base64") + "\n");
    return response.writeHead(takes ? 204 : 400).end();
  }
  const path = request.url === "/" ? "/demo/index.html" : request.url;
  if (request.method !== "GET" || !PAGES.test(path)) return response.writeHead(404).end();
  const type = path.endsWith(".html") ? "text/html; charset=utf-8" : "text/javascript";
  const page = readFileSync(new URL("." + path, ROOT));
  return response.writeHead(200, { "Content-Type": type }).end(page);
}

// a page that is not there, or a body that breaks off, is the end of its request and not of the collector
const server = createServer((request, response) =>
  answer(request, response).catch((error) => response.writeHead(error.code === "ENOENT" ? 404 : 400).end()),
);
server.listen(Number(process.argv[2] ?? 8722), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/demo/index.html`);
});
