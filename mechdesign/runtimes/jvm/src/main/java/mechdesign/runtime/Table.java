package mechdesign.runtime;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A table of mechdesign: how values are reported under local differential privacy, with a law that
 * is exact. A {@link Sampler} draws from it. What its file promises is decided before it is shipped
 * ({@code mechdesign verify}), not here.
 */
public final class Table {
  /** The hash that the file says. */
  public final String sha256;

  /** The labels in their order, or null. */
  public final List<String> inputLabels, outputLabels;

  final Law law;

  private Table(Json file) {
    FileRefused.unless(file.text("format").equals("mechdesign table"), "format");
    file.whole("version", 2, 2);
    sha256 = file.hash("sha256");
    law = Law.of(file);
    boolean hasPoints = law.points != null;
    inputLabels = labels(file, "inputs", hasPoints ? law.points.length : law.items);
    outputLabels = labels(file, "outputs", law.outputs == null ? 0 : law.outputs.length);
  }

  /** The table of this file's text; what is none is {@link FileRefused}. */
  public static Table read(String json) {
    return Json.read(json, Table::new);
  }

  /** The table in this file of the class path. */
  public static Table resource(String path) {
    return Json.resource(path, Table::new);
  }

  private static List<String> labels(Json file, String side, int count) {
    if (!file.has("labels") || !file.object("labels").has(side)) return null;
    String[] found = file.object("labels").each(side, String.class).toArray(String[]::new);
    FileRefused.unless(found.length == count, "labels");
    return Collections.unmodifiableList(Arrays.asList(found));
  }

  /** A report in the numbers of the file. Each takes as many random bytes, whatever the input. */
  Object report(double x) {
    RandomBytes from = RandomBytes.system();
    from.allot(law.items > 0 ? 0 : law.allotted);
    try {
      return law.draw(x, from);
    } finally {
      from.release();
    }
  }

  /** The place of an output in the list of them; below 0 if it is none. */
  int place(double report) {
    return Law.place(law.outputs, report);
  }

  /** The bytes of a report for a collector; null if the table does not give it. */
  byte[] written(Object report) {
    boolean hasItems = law.items > 0;
    if (hasItems) return ((byte[]) report).length == law.reportBytes ? (byte[]) report : null;
    double y = (Double) report + 0.0;
    long number = law.outputs == null ? Double.doubleToRawLongBits(y) : place(y);
    if (law.outputs == null ? !Double.isFinite(y) : number < 0) return null;
    byte[] bytes = new byte[law.reportBytes];
    Law.write(bytes, 0, bytes.length, number);
    return bytes;
  }
}
