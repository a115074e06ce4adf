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

// @include randomness/system.mjs
