/** There is no secure randomness, and so no report. */
export class NoRandomness extends Error {}
/** Overwrites all it is given with random bytes: for tests only. */
export type Fill = (bytes: Uint8Array) => void;

@types@
export interface Samplers {
@members@}

/** The samplers, by the names of their tables. */
export function load(url?: URL): Promise<Samplers>;

/** Envelopes for reports, by the names of their tables. */
export * as envelopes from "./envelopes.mjs";
