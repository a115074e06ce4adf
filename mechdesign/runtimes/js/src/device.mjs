// A device that remembers what a table drew for some values, and makes so many reports in a period: FORMAT.md, "Devices that
// remember". A storage has two functions: load() gives the bytes stored last (a Uint8Array) or null, and store(bytes)
// returns once they are there to stay. No two pages or processes may use one storage at a time.

import { hash, need, read, size } from "./reading.mjs";
import { MOST, StateRefused, stateFormat } from "./state.mjs";

const AHEAD = 100;

/** The device of a file, given as its text or its bytes, that draws from two of these tables, or from one. */
export function readDevice(content, tables) {
  return read(content, (file) => {
    need(file.format === "mechdesign device" && file.version === 1, "it must be a device of version 1");
    const find = (sha256) => tables.find((table) => table.TABLE === sha256);
    const first = find(file.table);
    const again = file.again === null ? null : find(file.again);
    need(first !== undefined && again !== undefined, "its tables must be there");
    need(again === null || first.OUTPUTS?.every(again.isInput), "what is drawn must be an input of the second table");
    need(again === null || file.values > 0, "what draws again needs a value to remember");
    return device(hash(file.sha256), size(file.values, 0, 4096), size(file.reports, 1, 10000), first, again);
  });
}

function device(sha256, values, reports, first, again) {
  const reporting = again ?? first;
  const outputs = again === null && first.OUTPUT_LABELS !== null ? first.OUTPUTS : null;
  const key = sha256.match(/../g).map((digits) => Number.parseInt(digits, 16));
  const { readState, writeState } = stateFormat({ key, values, reports, table: first, outputs });

  const known = (storage, least) => {
    requireWhole(least, MOST);
    return readState(storage.load(), least);
  };

  const create = (storage, period, allowance = 0, least = 0) => {
    requireWhole(period, MOST);
    requireWhole(allowance, reports);
    requireWhole(least, MOST - 1);
    let state = null;
    try {
      state = known(storage, least);
    } catch (error) {
      if (!(error instanceof StateRefused) || error.reason === "other") throw error;
    }
    if (state !== null && period <= state.period + AHEAD) throw new StateRefused("present");
    if (state?.serial === MOST) throw new StateRefused("exhausted");
    const { serial, entries } = state ?? { serial: least, entries: [] };
    storage.store(writeState({ serial: serial + 1, period, made: reports - allowance, entries }));
  };

  const reportCode = (storage, x, period, least = 0, fill = undefined) => {
    requireWhole(period, MOST);
    const { serial, period: last, made, entries } = known(storage, least);
    if (period < last) throw new StateRefused("past");
    if (period > last + AHEAD) throw new StateRefused("ahead");
    const before = period > last ? 0 : made;
    if (before === reports || serial === MOST) throw new StateRefused("exhausted");
    let y = first.sampleCode(x, fill); // also where it is not used: random bytes do not tell a new value from an old one
    if (values > 0) {
      const entry = entries.find(([held]) => held === x);
      if (entry !== undefined) y = entry[1];
      else if (entries.length < values)
        entries.push([x + 0, y]); // minus zero is zero
      else y = entries.at(-1)[1]; // a value for which there is no room is taken for the last one
    }
    if (again !== null) y = again.sampleCode(y, fill);
    storage.store(writeState({ serial: serial + 1, period, made: before + 1, entries }));
    return y;
  };

  const report = (storage, x, ...more) => reporting.outputLabel(reportCode(storage, first.inputCode(x), ...more));
  const serial = (storage, least = 0) => known(storage, least).serial;
  return Object.freeze({ DEVICE: sha256, VALUES: values, REPORTS: reports, create, report, reportCode, serial });
}

function requireWhole(number, most) {
  if (!Number.isInteger(number)) throw new TypeError("periods, allowances and serials must be whole numbers");
  if (number < 0 || number > most) throw new RangeError(`the number must lie between 0 and ${most}`);
}
