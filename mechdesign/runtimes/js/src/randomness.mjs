// Random bytes of the system, by the Web Cryptography API of browsers and Node: read in blocks, erased as they are used.

/** There is no secure randomness, and so no report. */
export class NoRandomness extends Error {
  name = "NoRandomness";
}

const POOL = 4096;
const pool = new Uint8Array(POOL);
let unused = 0; // the last so many bytes of the pool

/** Overwrites bytes with random ones, of a block that is read when the last one is used up. */
export function take(bytes) {
  for (let i = 0; i < bytes.length; i++) {
    if (unused === 0) {
      systemRandom(pool);
      unused = POOL;
    }
    bytes[i] = pool[POOL - unused];
    pool[POOL - unused--] = 0;
  }
}

/** The bytes of one report, taken at once whatever is asked of them; where they do not suffice, others are taken. */
export function allotted(size) {
  const own = new Uint8Array(size);
  take(own);
  let used = 0;
  return (bytes) => {
    if (bytes.length > size - used) return take(bytes);
    for (let i = 0; i < bytes.length; i++) {
      bytes[i] = own[used];
      own[used++] = 0;
    }
  };
}

/** Overwrites bytes with random ones that the system is asked for now. */
export function systemRandom(bytes) {
  const system = globalThis.crypto;
  if (typeof system?.getRandomValues !== "function") {
    throw new NoRandomness("crypto.getRandomValues is missing: browsers and Node 19 or later have it");
  }
  try {
    system.getRandomValues(bytes);
  } catch (error) {
    throw new NoRandomness("crypto.getRandomValues failed", { cause: error });
  }
}
