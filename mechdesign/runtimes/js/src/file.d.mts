import type { Storage } from "./device.mjs";

/** A state in a file: replaced at once, there to stay, and used by one process at a time, until close(). */
export function fileStorage(path: string): Storage & { close(): void };
