import type { Storage } from "./index.mjs";

/** What call gives, after the state that it stored is in the site's database; pages of the site wait for each other. */
export function withState<T>(call: (storage: Storage) => T | Promise<T>, name: string): Promise<T>;

/** A state in the local storage of a browser: weaker than withState. */
export function webStorage(
  key: string,
  place?: { getItem(key: string): string | null; setItem(key: string, value: string): void },
): Storage;
