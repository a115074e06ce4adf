// How random bytes become numbers. fill(bytes) overwrites a Uint8Array with the next random bytes. Counts have up to 62
// bits, so they are BigInts: every random decision compares them exactly.

/** The low bits of as few whole bytes as hold them, little-endian. */
export function draw(bits, fill) {
  const bytes = new Uint8Array(bytesFor(bits));
  if (bits > 0) fill(bytes);
  return numberAt(bytes, 0, bits);
}

/** The low bits of the bytes from a place on. */
export function numberAt(bytes, place, bits) {
  let number = 0n;
  for (let i = place + bytesFor(bits) - 1; i >= place; i--) number = (number << 8n) | BigInt(bytes[i]);
  return BigInt.asUintN(bits, number);
}

/** A uniform number from 0 to size - 1. */
export function below(size, fill) {
  const bits = bitLength(size - 1n);
  for (;;) {
    const number = draw(bits, fill);
    if (number < size) return number;
  }
}

/** A whole number next to z with mean exactly z. */
export function whole(z, fill) {
  const size = Math.abs(z);
  const floor = Math.floor(size);
  const number = BigInt(floor) + (happens(size - floor, fill) ? 1n : 0n);
  return z >= 0 ? number : -number;
}

// True with exactly this probability: its binary digits are compared with random ones.
function happens(probability, fill) {
  for (let rest = probability; rest > 0;) {
    rest *= 2 ** 32;
    const digits = Math.floor(rest);
    const number = Number(draw(32, fill));
    if (number !== digits) return number < digits;
    rest -= digits;
  }
  return false;
}

/** How many of the values, which do not decrease, satisfy a condition that holds up to some place. */
export function countWhile(values, condition) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(values[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The sums of the first 0, 1, 2, ... counts. */
export function sumsOf(counts) {
  let sum = 0n;
  return [sum, ...counts.map((count) => (sum += count))];
}

export function bitLength(number) {
  return number > 0n ? number.toString(2).length : 0;
}

export function bytesFor(bits) {
  return (bits + 7) >> 3;
}

/** So many bytes hold the numbers below a size. */
export function bytesOf(size) {
  return Math.max(1, bytesFor(bitLength(size - 1n)));
}

/** So many random bytes give a number below a size but for a chance of 2^-64. */
export function bytesBelow(size) {
  const bits = bitLength(size - 1n);
  const refused = 1 - Number(size) / 2 ** bits;
  return bytesFor(bits) * (refused === 0 ? 1 : Math.ceil(repeatsBelow(refused)));
}

/** So many repeats of a chance in a row have a chance of 2^-64. */
export function repeatsBelow(chance) {
  return (64 * Math.LN2) / -Math.log(chance);
}
