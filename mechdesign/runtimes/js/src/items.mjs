// Tables on items, whose reports are bytes: for the law of each kind how the report for an item is written, its length, and
// how many random bytes it takes, whatever the item.

import { below, bitLength, bytesFor, bytesOf, draw, numberAt } from "./bits.mjs";
import { need, size } from "./reading.mjs";

export const ITEMS = {
  response(law, { bits, domain }) {
    const count = BigInt(domain.count);
    const choose = choice(law, bits, count);
    const length = bytesOf(count);
    const report = (item, fill) => written(choose(BigInt(item), fill), length);
    return { report, length, enough: bytesFor(bits) };
  },

  unary(law, { bits, domain }) {
    const report = coins(law, bits, domain.count);
    return { report, length: bytesFor(domain.count), enough: domain.count * bytesFor(bits) };
  },

  hashing(law, { bits }) {
    const hashes = BigInt(size(law.hashes, 2, 2 ** 31));
    const choose = choice(law, bits, hashes);
    const length = 8 + bytesOf(hashes);
    const report = (item, fill) => {
      const seed = draw(64, fill);
      const chosen = choose(hashed(BigInt(item), seed) % hashes, fill);
      return written(seed | (chosen << 64n), length);
    };
    return { report, length, enough: 8 + bytesFor(bits) };
  },

  subset(law, { bits, domain: { count } }) {
    const own = BigInt(law.own);
    const chosen = size(law.subset, 1, count - 1);
    const report = (item, fill) => {
      const holds = draw(bits, fill) < own;
      const others = Array.from({ length: count - 1 }, (_, i) => (item + 1 + i) % count);
      for (let i = 0; i < chosen; i++) {
        const j = i + Number(below(BigInt(count - 1 - i), fill));
        [others[i], others[j]] = [others[j], others[i]];
      }
      if (holds) others[chosen - 1] = item;
      const bytes = new Uint8Array(bytesFor(count));
      for (const member of others.slice(0, chosen)) bytes[member >> 3] |= 1 << (member & 7);
      return bytes;
    };
    let enough = bytesFor(bits); // and more where numbers are refused, whatever the item
    for (let i = 0; i < chosen; i++) enough += bytesFor(bitLength(BigInt(count - 2 - i)));
    return { report, length: bytesFor(count), enough };
  },

  hadamard(law, { bits, domain }) {
    const blocks = size(law.blocks, 1, 2 ** 16);
    const choose = choice(law, bits, BigInt(2 * blocks));
    const placeBits = bitLength(BigInt(Math.ceil(domain.count / blocks)));
    const length = bytesOf(BigInt(blocks) << BigInt(placeBits));
    const report = (item, fill) => {
      const row = BigInt(Math.floor(item / blocks) + 1);
      const group = choose(BigInt(2 * (item % blocks)), fill);
      let place = draw(placeBits, fill);
      if (parity(place & row) !== (group & 1n)) place ^= row & -row;
      return written(((group >> 1n) << BigInt(placeBits)) | place, length);
    };
    return { report, length, enough: bytesFor(bits) + bytesFor(placeBits) };
  },

  sketch(law, { bits }) {
    const functionBits = bitLength(BigInt(size(law.functions, 2, 1024) - 1));
    const buckets = size(law.buckets, 2, 16384);
    const toss = coins(law, bits, buckets);
    const head = bytesOf(BigInt(law.functions));
    const report = (item, fill) => {
      const seed = draw(functionBits, fill);
      const tossed = toss(Number(hashed(BigInt(item), seed) % BigInt(buckets)), fill);
      return Uint8Array.of(...written(seed, head), ...tossed);
    };
    const enough = bytesFor(functionBits) + buckets * bytesFor(bits);
    return { report, length: head + bytesFor(buckets), enough };
  },
};

// One of several groups by one draw: `own` counts of 2^bits are for mine, `other` for each other one.
function choice(law, bits, groups) {
  const [own, other] = [BigInt(law.own), BigInt(law.other)];
  need(own + (groups - 1n) * other === 1n << BigInt(bits), "the counts must sum to 2^bits");
  return (mine, fill) => {
    const count = draw(bits, fill);
    return count < own ? mine : (mine + 1n + (count - own) / other) % groups;
  };
}

// Bits that are 1 by a draw each, mine by other counts than the rest: bit v is bit v % 8 of byte v / 8.
function coins(law, bits, width) {
  const [own, other] = [BigInt(law.own_bit[1]), BigInt(law.other_bit[1])];
  const each = bytesFor(bits);
  return (mine, fill) => {
    const random = new Uint8Array(width * each);
    fill(random);
    const bytes = new Uint8Array(bytesFor(width));
    for (let i = 0; i < width; i++) {
      const isOne = numberAt(random, i * each, bits) < (i === mine ? own : other);
      bytes[i >> 3] |= Number(isOne) << (i & 7);
    }
    return bytes;
  };
}

// XXH64 of the item as eight bytes, little-endian.
function hashed(item, seed) {
  const word = (value) => BigInt.asUintN(64, value);
  const rotated = (value, bits) => word(value << bits) | (value >> (64n - bits));
  let state = word(rotated(word(item * 14029467366897019727n), 31n) * 11400714785074694791n);
  state = word(rotated(state ^ word(seed + 2870177450012600269n), 27n) * 11400714785074694791n + 9650029242287828579n);
  state = word((state ^ (state >> 33n)) * 14029467366897019727n);
  state = word((state ^ (state >> 29n)) * 1609587929392839161n);
  return state ^ (state >> 32n);
}

function parity(number) {
  let odd = 0n;
  for (let rest = number; rest > 0n; rest >>= 1n) odd ^= rest & 1n;
  return odd;
}

function written(number, length) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = Number((number >> BigInt(8 * i)) & 255n);
  return bytes;
}
