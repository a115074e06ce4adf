// Tables whose reports are numbers: for the law of each kind how a report is drawn, its outputs where they are listed, and
// how many random bytes a report needs but for a chance of 2^-64.

import { below, bytesBelow, bytesFor, countWhile, draw, repeatsBelow, sumsOf, whole } from "./bits.mjs";
import { counts, double, need, size } from "./reading.mjs";

export const NUMBERS = {
  window(law, { bits }) {
    const { outputs, starts, choose } = filled(law, bits);
    const thresholds = law.thresholds.map(double);
    need(starts.length === thresholds.length + 1, "there must be one start more than thresholds");
    const report = (x, fill) => {
      const row = countWhile(thresholds, (threshold) => threshold < x);
      return choose(starts[row], draw(bits, fill));
    };
    return { report, outputs, enough: bytesFor(bits) };
  },

  unbiased(law, { bits, domain }) {
    const { outputs, starts, choose } = filled(law, bits);
    const means = counts(law.means, -(2 ** 62));
    const gaps = means.slice(1).map((mean, i) => mean - means[i]);
    const isRising = gaps.length > 0 && gaps.every((gap) => gap > 0n);
    need(isRising && starts.length === means.length, "there must be a start for each of the rising means");
    const scaled = line(domain, double(law.offset), powerOfTwo(size(law.shift, -1000, 1000) + bits));
    const report = (x, fill) => {
      const place = whole(scaled(x), fill);
      const last = countWhile(means, (mean) => mean <= place) - 1;
      let row = Math.min(Math.max(last, 0), gaps.length - 1);
      if (below(gaps[row], fill) < place - means[row]) row += 1;
      return choose(starts[row], draw(bits, fill));
    };
    const enough = gaps.reduce((most, gap) => Math.max(most, bytesBelow(gap)), 0);
    return { report, outputs, enough: bytesFor(bits) + 8 + enough };
  },

  finite(law, { bits, domain }) {
    const outputs = law.outputs.map(double);
    const rows = law.rows.map((row) => sumsOf(counts(row, 1)));
    const isWhole = (sums) => sums.length === outputs.length + 1 && sums.at(-1) === 1n << BigInt(bits);
    need(rows.length === domain.points.length && rows.every(isWhole), "there must be a row for each point");
    const report = (x, fill) => outputs[pick(rows[domain.places.get(x)], draw(bits, fill))];
    return { report, outputs, enough: bytesFor(bits) };
  },

  pieces(law, { bits, domain }) {
    const cells = BigInt(size(law.cells, 2, 2 ** 40));
    const inside = BigInt(size(law.inside, 1, law.cells - 1));
    const [weight] = counts([law.weight], 1);
    const first = size(law.first, -(2 ** 51), 2 ** 51);
    const step = double(law.step);
    need(step > 0 && step < 2 ** 500, "the step must lie between 0 and 2^500");
    const scaled = line(domain, double(law.anchor), double(law.scale));
    const within = clamp(law.clamp);
    const start = (x) => {
      const cell = scaled(x);
      if (domain.isCircle) return ((BigInt(Math.floor(cell)) % cells) + cells) % cells;
      return BigInt(Math.floor(Math.min(Math.max(cell, 0), Number(cells - inside))));
    };
    const report = (x, fill) => {
      const cell = draw(bits, fill) < weight ? below(inside, fill) : inside + below(cells - inside, fill);
      return within((first + Number((start(x) + cell) % cells) + 0.5) * step);
    };
    const enough = bytesFor(bits) + Math.max(bytesBelow(inside), bytesBelow(cells - inside));
    return { report, outputs: null, enough };
  },

  additive(law, { bits, domain }) {
    const sums = sumsOf(counts(law.weights, 1));
    const block = BigInt(law.weights.length);
    const total = 1n << BigInt(bits);
    const [tail] = counts([law.tail], 1);
    need(sums.at(-1) === total, "the weights must sum to 2^bits");
    need(total - tail >= total >> 16n, "noise must end within a block with a chance of at least 2^-16");
    const offset = double(law.offset);
    const shift = size(law.shift, -1000, 1000);
    const scaled = line(domain, offset, powerOfTwo(shift));
    const step = powerOfTwo(-shift);
    const within = clamp(law.clamp);
    const report = (x, fill) => {
      const input = whole(scaled(x), fill);
      for (;;) {
        const isNegative = draw(1, fill) === 1n;
        let blocks = 0n;
        while (draw(bits, fill) < tail) blocks += 1n;
        const noise = blocks * block + BigInt(pick(sums, draw(bits, fill)));
        if (noise === 0n && isNegative) continue;
        return within(offset + Number(isNegative ? input - noise : input + noise) * step);
      }
    };
    const further = Number(tail) / Number(total);
    const minusZero = ((Number(sums[1]) / Number(total)) * (1 - further)) / 2;
    const [runs, attempts] = [further, minusZero].map((chance) => 1 + Math.ceil(repeatsBelow(chance)));
    return { report, outputs: null, enough: 8 + attempts * (1 + 2 * bytesFor(bits)) + runs * bytesFor(bits) };
  },
};

// Rows that differ in where they begin to be filled, from the base of an output up to its cap.
function filled(law, bits) {
  const outputs = law.outputs.map(double);
  const [base, caps, starts] = [counts(law.base, 1), counts(law.caps, 1), counts(law.starts, 0)];
  const lengths = [outputs, base, caps].map((list) => list.length);
  need(outputs.length > 0 && new Set(lengths).size === 1, "there must be a base and a cap for each output");
  const reached = sumsOf(base);
  const gained = sumsOf(caps.map((cap, i) => cap - base[i]));
  const extra = (1n << BigInt(bits)) - reached.at(-1);
  const choose = (start, count) => {
    let low = 0;
    let high = outputs.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      let more = gained[middle] - start;
      if (more < 0n) more = 0n;
      if (more > extra) more = extra;
      if (reached[middle] + more <= count) low = middle;
      else high = middle;
    }
    return outputs[low];
  };
  return { outputs, starts, choose };
}

// The last place whose sum is at most a count.
function pick(sums, count) {
  return countWhile(sums, (sum) => sum <= count) - 1;
}

function clamp(ends) {
  if (ends === null) return (y) => y;
  const [low, high] = ends.map(double);
  need(ends.length === 2 && low < high, "a clamp must have two ends");
  return (y) => Math.min(Math.max(y, low), high);
}

// Where an input lies on a grid: `whole` takes numbers below 2^62.
function line({ lower, upper }, offset, scale) {
  const place = (x) => (x - offset) * scale;
  need(Math.max(...[lower, upper].map(place).map(Math.abs)) < 2 ** 62, "inputs must lie on the grid");
  return place;
}

// By products, which are exact: `**` need not be.
function powerOfTwo(exponent) {
  let power = 1;
  for (let i = Math.abs(exponent); i > 0; i--) power *= exponent > 0 ? 2 : 0.5;
  return power;
}
