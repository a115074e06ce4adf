export { envelopeWriter } from "./envelope.mjs";
export { NoRandomness } from "./randomness.mjs";
export { FileRefused } from "./reading.mjs";
export { readTable } from "./table.mjs";
