package mechdesign.runtime;

import java.util.Arrays;

/** What a table draws from: the numbers of its kind, and the sampling rule of FORMAT.md. */
abstract class Law {
  /** Draws a report for an input, in the numbers of the file: a Double, or bytes. */
  interface Rule {
    Object draw(double x, RandomBytes from);
  }

  final Json law;
  final int bits;

  /** So many counts are one. */
  final long all;

  /** How many items there are, where reports are bytes; else 0. */
  int items;

  /** What may go in and what may come out, where they are listed; else null. */
  double[] points;

  double[] outputs;

  /** How many bytes a report has for a collector. */
  int reportBytes;

  /** So many bytes are set apart for a report: more are needed with a probability of 2^-64. */
  int allotted;

  Rule rule;

  Law(Json table) {
    law = table.object("law");
    bits = (int) table.whole("bits");
    FileRefused.unless(Arrays.asList(16L, 32L, 53L, 62L).contains(table.whole("bits")), "bits");
    all = 1L << bits;
  }

  static Law of(Json table) {
    boolean hasItems = table.object("domain").text("kind").equals("items");
    return hasItems ? new ItemLaw(table) : new NumberLaw(table);
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
  long[] row(long[] counts, int size) {
    long[] found = sums(counts, size);
    FileRefused.unless(found[size] == all, "sum of counts");
    return found;
  }

  /** The least number of bytes, at least 1, that holds the numbers below size. */
  static int bytesOf(long size) {
    return Math.max(1, (71 - Long.numberOfLeadingZeros(size - 1)) / 8);
  }

  /** Little-endian. */
  static void write(byte[] report, int start, int count, long number) {
    for (int i = 0; i < count; i++) report[start + i] = (byte) (number >>> 8 * i);
  }
}
