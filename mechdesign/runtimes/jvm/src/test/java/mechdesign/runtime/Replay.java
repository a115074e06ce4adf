package mechdesign.runtime;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Replays test vectors (FORMAT.md) of a table: {@code Replay TABLE.json VECTORS.txt}. */
public final class Replay {
  /** The fields of a line that are what a vector says. */
  interface Case {
    boolean passes(String[] fields) throws IOException;
  }

  private Replay() {}

  public static void main(String[] paths) throws IOException {
    try {
      System.out.println("PASS " + table(table(Path.of(paths[0])), lines(Path.of(paths[1]))));
    } catch (AssertionError error) {
      System.out.println(error.getMessage());
      System.exit(1);
    }
  }

  static String text(Path path) throws IOException {
    return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
  }

  static Table table(Path path) throws IOException {
    return Table.read(text(path));
  }

  static List<String[]> lines(Path path) throws IOException {
    List<String[]> found = new ArrayList<>();
    for (String line : text(path).split("\n")) {
      if (!line.isEmpty() && !line.startsWith("#")) found.add(line.split(" "));
    }
    return found;
  }

  static int passed(int cases) {
    if (cases == 0) throw new AssertionError("FAIL no cases");
    return cases;
  }

  static int each(List<String[]> lines, Case read) throws IOException {
    int cases = 0;
    for (String[] fields : lines) {
      cases++;
      if (!read.passes(fields)) throw new AssertionError("FAIL case " + cases);
    }
    return passed(cases);
  }

  /** Reports of a table, bit for bit, after as many bytes; and what is no input. */
  static int table(Table table, List<String[]> lines) throws IOException {
    return each(
        lines,
        fields -> {
          RandomBytes from = RandomBytes.of(bytes(fields[1]));
          try {
            Object y = table.law.draw(input(table, fields[0]), from);
            return digits(y).equals(fields[3]) && from.used() == Integer.parseInt(fields[2]);
          } catch (IllegalArgumentException refused) {
            return fields[3].equals("error");
          }
        });
  }

  /** Envelopes of reports; and what none can be made of. */
  @SuppressWarnings("unchecked")
  static <Y> int envelopes(Sampler<?, Y> sampler, List<String[]> lines) throws IOException {
    return each(
        lines,
        fields -> {
          Object report = report(sampler, fields[0]);
          RandomBytes nonce = RandomBytes.of(bytes(fields[2]));
          try {
            long day = Long.parseLong(fields[1]);
            return digits(sampler.envelope((Y) report, day, nonce)).equals(fields[3]);
          } catch (IllegalArgumentException refused) {
            return fields[3].equals("error");
          }
        });
  }

  private static Object report(Sampler<?, ?> sampler, String digits) {
    Table table = sampler.table;
    if (table.law.items > 0) return bytes(digits);
    if (table.outputLabels == null) return number(digits);
    String label = new String(bytes(digits), StandardCharsets.UTF_8);
    int place = table.outputLabels.indexOf(label);
    return place < 0 ? label : sampler.value.apply(table.law.outputs[place]);
  }

  static Sampler<?, ?> codes(Table table) {
    return table.law.items > 0 ? Sampler.items(table) : Sampler.numbers(table);
  }

  /** With the labels themselves, where there are labels. */
  static Sampler<?, ?> typed(Table table) {
    Sampler<?, ?> found = codes(table);
    if (table.inputLabels != null) found = found.inputTexts();
    return table.outputLabels != null ? found.outputTexts() : found;
  }

  static double input(Table table, String field) {
    return table.law.items > 0 ? Integer.parseInt(field) : number(field);
  }

  static double number(String digits) {
    return Double.longBitsToDouble(Long.parseUnsignedLong(digits, 16));
  }

  static byte[] bytes(String digits) {
    byte[] found = new byte[digits.length() / 2];
    for (int i = 0; i < found.length; i++) {
      found[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
    }
    return found;
  }

  static String digits(Object report) {
    if (report instanceof Double) {
      return String.format("%016x", Double.doubleToRawLongBits((Double) report));
    }
    StringBuilder found = new StringBuilder();
    for (byte one : (byte[]) report) found.append(String.format("%02x", one));
    return found.toString();
  }
}
