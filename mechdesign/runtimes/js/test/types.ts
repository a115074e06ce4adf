// Compiled by `npm run types`, never run: what the types allow, and what they refuse.
import { readDevice } from "../src/device.mjs";
import type { Device } from "../src/device.mjs";
import { envelopeWriter, readTable } from "../src/index.mjs";
import type { Input, Output, Table } from "../src/index.mjs";
import { webStorage, withState } from "../src/browser.mjs";
import { fileStorage } from "../src/file.mjs";

export const smokes = readTable<readonly ["no", "yes"], readonly ["n", "y"], number>("");
export const report: "n" | "y" = smokes.sample("yes");
export const same: Output<typeof smokes> = smokes.outputLabel(smokes.sampleCode(smokes.inputCode("no")));
export const question: Input<typeof smokes> = smokes.INPUT_LABELS[1];
export const envelope: Uint8Array = envelopeWriter(smokes)(report, 20000);
// @ts-expect-error: no label
smokes.sample("maybe");
// @ts-expect-error: a number where there are labels
smokes.sample(1);
// @ts-expect-error: no such label
smokes.INPUT_LABELS[2];
// @ts-expect-error: a day that is a text
envelopeWriter(smokes)(report, "2099-12-31");

export const fruit: Table<null, null, Uint8Array> = readTable(new Uint8Array(3));
export const bits: Uint8Array = fruit.sample(3);
// @ts-expect-error: bytes are no number
export const number: number = fruit.sample(3);

export const device: Device<"no" | "yes", "n" | "y", number> = readDevice("", [smokes, fruit]) as never;
const file = fileStorage("state");
device.create(file, 20, device.REPORTS);
export const said: "n" | "y" = device.report(file, "no", 20, device.serial(file));
export const later: Promise<number> = withState((storage) => device.reportCode(storage, 0, 20), "state");
// @ts-expect-error: a promise, which could tell of a report before it is stored
withState(async (storage) => device.reportCode(storage, 0, 20), "state");
device.serial(webStorage("state"));
// @ts-expect-error: an input of another type
device.report(file, Symbol(), 20);
