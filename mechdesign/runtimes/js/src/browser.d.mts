import type { Storage } from "./device.mjs";

/** What call gives, after the state that it stored is in the site's database; pages of the site wait for each other. A
 * call that gives a promise is refused: it could tell what was drawn before it is stored. */
export function withState<T>(
  call: (storage: Storage) => T extends PromiseLike<unknown> ? never : T,
  name: string,
): Promise<T>;

/** A state in the local storage of a browser: weaker than withState. */
export function webStorage(
  key: string,
  place?: { getItem(key: string): string | null; setItem(key: string, value: string): void },
): Storage;
