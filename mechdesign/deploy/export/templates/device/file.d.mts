// The types of @device@_file.mjs.
import type { Storage } from "./@device@.mjs";
export function fileStorage(path: string): Storage & { close(): void };
