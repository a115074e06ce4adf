// The types of @device@_browser.mjs.
import type { Storage } from "./@device@.mjs";
export function withState<T>(call: (storage: Storage) => T | Promise<T>, name?: string): Promise<T>;
