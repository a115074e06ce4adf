// Serves the page and keeps reports, a file for each table in the current folder: node demo/collect.mjs [PORT]
// For trying out on this machine. No addresses are kept: beside reports they would say who sent which.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const ACCEPTED = {
@accepted@};
const ROOT = new URL("../", import.meta.url);
const PAGES = /^\/(demo\/index\.html|index\.mjs|sampler_[0-9a-f]{8}\.mjs)$/;
const MOST = @most@;

for (const table of Object.keys(ACCEPTED)) if (!existsSync(`${table}.csv`)) writeFileSync(`${table}.csv`, `${table}\n`);

function isReport(table, report) {
  if (!Object.hasOwn(ACCEPTED, table)) return false;
  const { bytes } = ACCEPTED[table] ?? {};
  if (bytes !== undefined) return typeof report === "string" && report.length === 2 * bytes && /^[0-9a-f]+$/.test(report);
  return ACCEPTED[table] === null ? Number.isFinite(report) : ACCEPTED[table].includes(report);
}

function collected(body) {
  try {
    const { table, report } = JSON.parse(body);
    if (!isReport(table, report)) return false;
    const text = String(report);
    appendFileSync(`${table}.csv`, (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text) + "\n");
    return true;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

const server = createServer(async (request, response) => {
  if (request.method === "POST" && request.url === "/reports") {
    let body = "";
    for await (const part of request) if ((body += part).length > MOST) break;
    response.writeHead(body.length <= MOST && collected(body) ? 204 : 400).end();
    return;
  }
  const path = request.url === "/" ? "/demo/index.html" : request.url;
  if (request.method !== "GET" || !PAGES.test(path)) return response.writeHead(404).end();
  const type = path.endsWith(".html") ? "text/html; charset=utf-8" : "text/javascript";
  response.writeHead(200, { "Content-Type": type }).end(readFileSync(new URL("." + path, ROOT)));
});
server.listen(Number(process.argv[2] ?? 8722), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/demo/index.html`);
});
