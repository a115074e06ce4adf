// A page that asks: a form for each table of the package, or for what its device is asked.
import data from "../data.mjs";
import * as survey from "../index.mjs";

const DAY = 86400000;
// the same day for everybody: one that was counted from today would say when somebody answered
const LAST_DAY = Date.UTC(2099, 11, 31) / DAY;
const REMEMBERS =
  "It remembers your answer, as it is, with what was drawn for it: it is not sent, but whoever can use this browser can " +
  "read it. Who clears the data of this site removes it.";
const WHY = {
  exhausted: "No report is left for today.",
  past: "The clock of this computer was set back.",
  ahead: "The clock of this computer is ahead, or this page was not used for long: only the server knows.",
};

const element = (name, more = {}, ...children) => {
  const made = Object.assign(document.createElement(name), more);
  made.append(...children);
  return made;
};
const shown = (report) =>
  report instanceof Uint8Array
    ? Array.from(report, (byte) => byte.toString(16).padStart(2, "0")).join("")
    : String(report);

function input(table) {
  const listed = table.INPUT_LABELS ?? table.POINTS;
  if (listed !== null)
    return element("select", { name: "x" }, ...listed.map((x) => element("option", { value: x }, x)));
  const step = table.ITEMS > 0 ? "1" : "any";
  return element("input", { name: "x", type: "number", step, min: table.LOWER, max: table.UPPER, required: true });
}

// One report for ever, in one envelope: a second report would spend epsilon again, a second envelope count twice.
function draw(name, x) {
  const key = `${name} ${survey[name].TABLE}`;
  const kept = localStorage.getItem(key);
  if (kept !== null) return JSON.parse(kept);
  const report = survey[name].sample(x);
  const answer = { said: shown(report), envelope: [...survey.envelopes[name](report, LAST_DAY)] };
  localStorage.setItem(key, JSON.stringify(answer));
  return answer;
}

async function drawByDevice(x) {
  const { withState } = await import("../browser.mjs");
  const device = survey[data.device.name];
  const period = Math.floor(Date.now() / DAY);
  await withState((storage) => {
    try {
      device.serial(storage);
    } catch (error) {
      if (error.reason !== "missing") throw error;
      device.create(storage, period, device.REPORTS);
    }
  });
  const report = await withState((storage) => device.report(storage, x, period));
  return { said: shown(report), envelope: survey.envelopes[data.device.reporting](report, LAST_DAY) };
}

function ask(name) {
  const table = survey[name];
  const field = input(table);
  const button = element("button", {}, "Send");
  const output = element("output");
  const form = element("form", {}, element("fieldset", {}, element("legend", {}, name), field, " ", button, output));
  form.dataset.table = name;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const x = table.INPUT_LABELS === null ? Number(field.value) : field.value;
      const { said, envelope } = data.device === null ? draw(name, x) : await drawByDevice(x);
      const answer = await fetch("/envelopes", { method: "POST", body: Uint8Array.from(envelope) });
      output.textContent = answer.ok ? `Sent was: ${said}` : "The collector refused the report.";
    } catch (error) {
      const why = error instanceof RangeError ? "This is no possible answer." : WHY[error.reason];
      output.textContent = why ?? `Nothing was sent: ${error.message}`;
    }
  });
  return form;
}

document.title = data.name;
const asked = data.device === null ? Object.keys(data.tables) : [data.device.once];
document.querySelector("main").append(...asked.map(ask));
if (data.device !== null) {
  const device = survey[data.device.name];
  document.getElementById("reports").textContent = device.REPORTS;
  document.getElementById("memory").textContent = device.VALUES > 0 ? REMEMBERS : "It remembers only how many it sent.";
  document.getElementById("device").hidden = false;
}
if (typeof globalThis.crypto?.getRandomValues !== "function") {
  const trouble = "This browser has no secure randomness (crypto.getRandomValues), so nothing can be sent.";
  document.getElementById("trouble").textContent = trouble;
  for (const button of document.querySelectorAll("button")) button.disabled = true;
}
document.body.dataset.ready = "yes";
