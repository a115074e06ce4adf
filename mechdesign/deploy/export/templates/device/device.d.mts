// The types of @device@.mjs.
export interface Storage {
  load(): Uint8Array | null;
  store(content: Uint8Array): void;
}
export type Reason =
  | "missing" | "damaged" | "other" | "rolled-back" | "past" | "ahead" | "exhausted" | "present" | "busy";
export class StateRefused extends Error {
  constructor(reason: Reason);
  readonly reason: Reason;
}
export const DEVICE: string;
export const VALUES: number;
export const REPORTS: number;
export function create(storage: Storage, period: number, allowance?: number, least?: number): void;
export function report(
  storage: Storage, x: @taken@, period: number, least?: number, fill?: (bytes: Uint8Array) => void,
): @given@;
// @if labels
export function reportCode(
  storage: Storage, x: number, period: number, least?: number, fill?: (bytes: Uint8Array) => void,
): @code_out@;
// @end
export function serial(storage: Storage, least?: number): number;
export function webStorage(
  key?: string, place?: { getItem(key: string): string | null; setItem(key: string, value: string): void },
): Storage;
