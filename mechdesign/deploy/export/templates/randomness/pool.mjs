const POOL = 4096;
const pool = new Uint8Array(POOL);
let pooled = 0; // the last so many bytes are not used yet

function take(bytes) {
  for (let i = 0; i < bytes.length; i++) {
    if (pooled === 0) {
      osRandom(pool);
      pooled = POOL;
    }
    bytes[i] = pool[POOL - pooled];
    pool[POOL - pooled--] = 0;
  }
}

function osRandom(bytes) {
  const system = globalThis.crypto;
  if (typeof system?.getRandomValues !== "function") {
    const rule = "no secure randomness: crypto.getRandomValues is missing (browsers and Node 19 or later have it)";
    throw new NoRandomness(rule);
  }
  try {
    system.getRandomValues(bytes);
  } catch (error) {
    throw new NoRandomness("no secure randomness: crypto.getRandomValues failed", { cause: error });
  }
}
