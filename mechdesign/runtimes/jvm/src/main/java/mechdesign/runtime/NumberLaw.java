package mechdesign.runtime;

import java.util.function.DoubleUnaryOperator;
import java.util.function.IntPredicate;

/** The kinds of tables whose inputs are numbers. */
final class NumberLaw extends Law {
  private interface Row {
    double draw(long start, RandomBytes from);
  }

  NumberLaw(Json table) {
    super(table);
    String shape = table.object("domain").text("kind");
    rule =
        switch (shape + " " + table.text("kind")) {
          case "interval window" -> window();
          case "interval unbiased" -> unbiased();
          case "finite finite" -> finite();
          case "interval pieces", "circle pieces" -> pieces(shape.equals("circle"));
          case "interval additive" -> additive();
          default -> throw new FileRefused("be of a kind that this runtime knows");
        };
    reportBytes = outputs == null ? 8 : bytesOf(outputs.length);
  }

  private Rule window() {
    double[] thresholds = law.numbers("thresholds");
    long[] starts = law.wholes("starts");
    outputs = law.increasing("outputs");
    FileRefused.unless(starts.length == thresholds.length + 1, "starts");
    Row rows = rows(starts);
    return (x, from) -> {
      int row = last(starts.length, i -> thresholds[i - 1] < x);
      return rows.draw(starts[row], from);
    };
  }

  private Rule unbiased() {
    long[] means = law.wholes("means"), starts = law.wholes("starts");
    double offset = law.number("offset");
    int shift = (int) law.whole("shift", -bits, 1000 - bits);
    double scale = Math.scalb(1.0, shift + bits);
    outputs = law.increasing("outputs");
    FileRefused.unless(starts.length == means.length && means.length > 1, "starts");
    Row rows = rows(starts);
    int most = 0;
    for (int i = 1; i < means.length; i++) {
      FileRefused.unless(means[i] > means[i - 1], "means");
      most = Math.max(most, bytesBelow(Math.subtractExact(means[i], means[i - 1])));
    }
    allotted += 8 + most;
    return (x, from) -> {
      long mean = from.whole((x - offset) * scale);
      int row = last(means.length - 1, i -> means[i] <= mean);
      if (from.below(means[row + 1] - means[row]) < mean - means[row]) row++;
      return rows.draw(starts[row], from);
    };
  }

  private Rule finite() {
    outputs = law.increasing("outputs");
    long[][] reached = law.rows("rows").map(row -> row(row, outputs.length)).toArray(long[][]::new);
    FileRefused.unless(reached.length == points.length, "rows");
    return (x, from) -> {
      long[] sums = reached[(int) x];
      long count = from.draw(bits);
      return outputs[last(outputs.length, j -> sums[j] <= count)];
    };
  }

  private Rule pieces(boolean isCircle) {
    long cells = law.whole("cells", 2, 1L << 40), inside = law.whole("inside", 1, cells - 1);
    long first = law.whole("first", -1L << 51, 1L << 51), weight = law.whole("weight", 1, all - 1);
    long outside = cells - inside;
    double step = law.number("step"), anchor = law.number("anchor"), scale = law.number("scale");
    DoubleUnaryOperator clamp = clamp();
    allotted += Math.max(bytesBelow(inside), bytesBelow(outside));
    return (x, from) -> {
      double place = (x - anchor) * scale;
      long turned = isCircle ? Math.floorMod((long) Math.floor(place), cells) : 0;
      long start = isCircle ? turned : (long) Math.min(Math.max(place, 0), outside);
      boolean isNear = from.draw(bits) < weight;
      long cell = isNear ? from.below(inside) : inside + from.below(outside);
      return clamp.applyAsDouble((first + (start + cell) % cells + 0.5) * step);
    };
  }

  private Rule additive() {
    long[] weights = law.wholes("weights"), reached = row(weights, weights.length);
    // noise ends within a block with a chance of at least 2^-16: nobody draws for ever
    long tail = law.whole("tail", 1, all - (all >> 16));
    int shift = (int) law.whole("shift", -1000, 1000);
    double offset = law.number("offset"), further = (double) tail / all;
    double scale = Math.scalb(1.0, shift), step = Math.scalb(1.0, -shift);
    DoubleUnaryOperator clamp = clamp();
    double attempts = 1 + Math.ceil(repeats((double) weights[0] / all * (1 - further) / 2));
    double blocksDrawn = 1 + Math.ceil(repeats(further));
    allotted = (int) (8 + attempts * (1 + 2 * allotted) + blocksDrawn * allotted);
    return (x, from) -> {
      long place = from.whole((x - offset) * scale);
      while (true) {
        boolean isNegative = from.draw(1) == 1;
        long blocks = 0;
        while (from.draw(bits) < tail) blocks++;
        long count = from.draw(bits);
        long noise = blocks * weights.length + last(weights.length, j -> reached[j] <= count);
        if (noise == 0 && isNegative) continue;
        return clamp.applyAsDouble(offset + (isNegative ? place - noise : place + noise) * step);
      }
    };
  }

  /** Rows that begin at one of these starts: each is filled from its base up to its caps. */
  private Row rows(long[] starts) {
    long[] reached = sums(law.wholes("base"), outputs.length);
    long[] most = sums(law.wholes("caps"), outputs.length);
    long extra = all - reached[outputs.length], room = most[outputs.length] - all;
    FileRefused.unless(extra >= 0 && room >= 0, "sum of counts");
    for (int i = 0; i < outputs.length; i++) {
      most[i + 1] -= reached[i + 1];
      FileRefused.unless(most[i] <= most[i + 1], "caps");
    }
    for (long start : starts) FileRefused.unless(0 <= start && start <= room, "starts");
    return (start, from) -> {
      long count = from.draw(bits);
      return outputs[
          last(
              outputs.length,
              j -> reached[j] + Math.min(Math.max(most[j] - start, 0), extra) <= count)];
    };
  }

  /** Moves an output to where outputs are clamped, if they are. */
  private DoubleUnaryOperator clamp() {
    if (!law.has("clamp")) return y -> y;
    double[] ends = law.increasing("clamp");
    FileRefused.unless(ends.length == 2, "clamp");
    return y -> Math.min(Math.max(y, ends[0]), ends[1]);
  }

  /** The last of so many places for which it holds, as it does for 0. */
  private static int last(int places, IntPredicate holds) {
    int low = 0, high = places;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (holds.test(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** All but 2^-64 of the numbers below this one are found in so many bytes. */
  private static int bytesBelow(long size) {
    int digits = bitLength(size - 1);
    double refused = 1 - size / Math.scalb(1.0, digits);
    return bytesFor(digits) * (refused == 0 ? 1 : (int) Math.ceil(repeats(refused)));
  }

  /** So many repeats of this chance in a row have a probability of 2^-64. */
  private static double repeats(double chance) {
    return -64 * Math.log(2) / Math.log(chance);
  }
}
