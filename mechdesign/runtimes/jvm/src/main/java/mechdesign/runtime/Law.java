package mechdesign.runtime;

import java.util.Arrays;

/** What a table draws from: the numbers of its kind, and the sampling rule of FORMAT.md. */
abstract class Law {
  /** Draws a report for an input, or its place among points: a Double, or bytes. */
  interface Rule {
    Object draw(double x, RandomBytes from);
  }

  final Json law;
  final int bits;

  /** So many counts are one. */
  final long all;

  /** How many items there are, where reports are bytes; else 0. */
  final int items;

  /** What may go in, where it is listed; else null. */
  final double[] points;

  /** Between these go in numbers, items, or the places of points. */
  final double lower, upper;

  /** What may come out, where it is listed; else null. */
  double[] outputs;

  /** How many bytes a report has for a collector. */
  int reportBytes;

  /** So many bytes are set apart for a report: more are needed with a probability of 2^-64. */
  int allotted;

  Rule rule;

  Law(Json table) {
    Json domain = table.object("domain");
    String shape = domain.text("kind");
    boolean isCircle = shape.equals("circle"), hasEnds = isCircle || shape.equals("interval");
    law = table.object("law");
    bits = (int) table.whole("bits", 16, 62);
    FileRefused.unless(Arrays.asList(16, 32, 53, 62).contains(bits), "bits");
    all = 1L << bits;
    allotted = bytesFor(bits);
    items = shape.equals("items") ? (int) domain.whole("count", 2, 1 << 16) : 0;
    points = shape.equals("finite") ? domain.increasing("points") : null;
    lower = shape.equals("interval") ? domain.number("lower") : 0;
    int listed = points == null ? items : points.length;
    upper = hasEnds ? domain.number(isCircle ? "period" : "upper") : listed - 1;
  }

  static Law of(Json table) {
    boolean hasItems = table.object("domain").text("kind").equals("items");
    return hasItems ? new ItemLaw(table) : new NumberLaw(table);
  }

  /** Draws a report; what is no input is an IllegalArgumentException. */
  final Object draw(double x, RandomBytes from) {
    double given = points == null ? x : place(points, x);
    boolean isInput = lower <= given && given <= upper && (items == 0 || given == Math.rint(given));
    if (!isInput) throw new IllegalArgumentException("the input must lie in the domain");
    return rule.draw(given, from);
  }

  /** The place of a number among others that increase; below 0 if it is none. */
  static int place(double[] numbers, double one) {
    return Arrays.binarySearch(numbers, one + 0.0); // minus zero is zero
  }

  /** How much comes before each of so many counts from 1 on, and at last all. */
  static long[] sums(long[] counts, int size) {
    FileRefused.unless(counts.length == size, "number of counts");
    long[] found = new long[size + 1];
    for (int i = 0; i < size; i++) {
      FileRefused.unless(counts[i] > 0, "count");
      found[i + 1] = Math.addExact(found[i], counts[i]);
    }
    return found;
  }

  /** The same of counts that are one together. */
  final long[] row(long[] counts, int size) {
    long[] found = sums(counts, size);
    FileRefused.unless(found[size] == all, "sum of counts");
    return found;
  }

  static int bitLength(long number) {
    return 64 - Long.numberOfLeadingZeros(number);
  }

  static int bytesFor(int bits) {
    return (bits + 7) / 8;
  }

  /** The least number of bytes, at least 1, that holds the numbers below size. */
  static int bytesOf(long size) {
    return Math.max(1, bytesFor(bitLength(size - 1)));
  }

  /** Little-endian. */
  static void write(byte[] report, int start, int count, long number) {
    for (int i = 0; i < count; i++) report[start + i] = (byte) (number >>> 8 * i);
  }
}
