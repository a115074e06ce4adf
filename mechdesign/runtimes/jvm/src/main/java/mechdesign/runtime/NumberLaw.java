package mechdesign.runtime;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntPredicate;
import java.util.function.LongBinaryOperator;

/** The kinds of tables whose inputs are numbers. */
final class NumberLaw extends Law {
  private final double lower, upper;

  NumberLaw(Json table) {
    super(table);
    Json domain = table.object("domain");
    String shape = domain.text("kind"), kind = table.text("kind");
    boolean isCircle = shape.equals("circle"), isFinite = kind.equals("finite");
    points = isFinite ? domain.increasing("points") : null;
    lower = isFinite || isCircle ? 0 : domain.number("lower");
    upper = points != null ? 0 : domain.number(isCircle ? "period" : "upper");
    allotted = (bits + 7) / 8;
    rule =
        switch (kind) {
          case "window" -> window();
          case "unbiased" -> unbiased();
          case "finite" -> finite();
          case "pieces" -> pieces(isCircle);
          case "additive" -> additive();
          default -> throw new FileRefused("be of a kind that this runtime knows");
        };
    reportBytes = outputs == null ? 8 : bytesOf(outputs.length);
  }

  private Rule window() {
    double[] thresholds = law.numbers("thresholds");
    long[] starts = law.wholes("starts");
    outputs = law.increasing("outputs");
    FileRefused.unless(starts.length == thresholds.length + 1, "starts");
    LongBinaryOperator filled = filled(starts);
    return (x, from) -> {
      requireInside(x);
      int row = last(starts.length, i -> thresholds[i - 1] < x);
      return outputs[(int) filled.applyAsLong(starts[row], from.draw(bits))];
    };
  }

  private Rule unbiased() {
    long[] means = law.wholes("means"), starts = law.wholes("starts");
    double offset = law.number("offset");
    int shift = (int) law.whole("shift", -bits, 1000 - bits);
    double scale = Math.scalb(1.0, shift + bits);
    outputs = law.increasing("outputs");
    FileRefused.unless(starts.length == means.length && means.length > 1, "starts");
    LongBinaryOperator filled = filled(starts);
    int most = 0;
    for (int i = 1; i < means.length; i++) {
      FileRefused.unless(means[i] > means[i - 1], "means");
      most = Math.max(most, bytesBelow(Math.subtractExact(means[i], means[i - 1])));
    }
    allotted += 8 + most;
    return (x, from) -> {
      requireInside(x);
      long mean = from.whole((x - offset) * scale);
      int row = last(means.length - 1, i -> means[i] <= mean);
      if (from.below(means[row + 1] - means[row]) < mean - means[row]) row++;
      return outputs[(int) filled.applyAsLong(starts[row], from.draw(bits))];
    };
  }

  private Rule finite() {
    outputs = law.increasing("outputs");
    long[][] reached = law.rows("rows");
    FileRefused.unless(reached.length == points.length, "rows");
    Arrays.setAll(reached, i -> row(reached[i], outputs.length));
    return (x, from) -> {
      int row = Arrays.binarySearch(points, x + 0.0); // minus zero is zero
      if (row < 0) throw new IllegalArgumentException("the input must be a point of the domain");
      long count = from.draw(bits);
      return outputs[last(outputs.length, j -> reached[row][j] <= count)];
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
      requireInside(x);
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
      requireInside(x);
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

  private void requireInside(double x) {
    boolean isInside = lower <= x && x <= upper;
    if (!isInside) throw new IllegalArgumentException("the input must lie in the domain");
  }

  /**
   * Given one of these starts of rows and a count: the place of the output whose cumulative counts
   * enclose it.
   */
  private LongBinaryOperator filled(long[] starts) {
    long[] base = law.wholes("base"), caps = law.wholes("caps");
    long[] reached = sums(base, outputs.length), most = sums(caps, outputs.length);
    long extra = all - reached[base.length];
    long room = most[base.length] - reached[base.length];
    FileRefused.unless(0 <= extra && extra <= room, "sum of counts");
    for (int i = 0; i < base.length; i++) FileRefused.unless(base[i] <= caps[i], "caps");
    for (long start : starts) FileRefused.unless(0 <= start && start <= room - extra, "starts");
    return (start, count) ->
        last(
            outputs.length,
            j -> reached[j] + Math.min(Math.max(most[j] - reached[j] - start, 0), extra) <= count);
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
    int digits = 64 - Long.numberOfLeadingZeros(size - 1);
    double refused = 1 - size / Math.scalb(1.0, digits);
    return (digits + 7) / 8 * (refused == 0 ? 1 : (int) Math.ceil(repeats(refused)));
  }

  /** So many repeats of this chance in a row have a probability of 2^-64. */
  private static double repeats(double chance) {
    return -64 * Math.log(2) / Math.log(chance);
  }
}
