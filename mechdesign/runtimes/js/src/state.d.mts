export type Reason =
  "missing" | "damaged" | "other" | "rolled-back" | "past" | "ahead" | "exhausted" | "present" | "busy";

/** The state of a device does not allow what was asked: nothing was stored, and nothing is reported. */
export class StateRefused extends Error {
  constructor(reason: Reason);
  readonly reason: Reason;
}
