export { readDevice } from "./device.mjs";
export { envelopeWriter } from "./envelope.mjs";
export { NoRandomness } from "./randomness.mjs";
export { FileRefused } from "./reading.mjs";
export { StateRefused } from "./state.mjs";
export { readTable } from "./table.mjs";
