package mechdesign.runtime;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Replays test vectors (FORMAT.md): of a table, {@code Replay TABLE.json VECTORS.txt}, or of all
 * tables, devices and envelopes in a folder, {@code Replay FOLDER}, by the names that the shared
 * vectors have.
 */
public final class Replay {
  /** The fields of a line that are what a vector says. */
  private interface Case {
    boolean passes(String[] fields) throws IOException;
  }

  private Replay() {}

  public static void main(String[] arguments) throws IOException {
    try {
      Path first = Path.of(arguments[0]);
      int cases =
          arguments.length == 1 ? folder(first) : table(table(first), lines(Path.of(arguments[1])));
      System.out.println("PASS " + cases);
    } catch (AssertionError error) {
      System.out.println(error.getMessage());
      System.exit(1);
    }
  }

  /** All files with vectors in a folder; the number of cases. */
  static int folder(Path folder) throws IOException {
    Map<String, Table> tables = new HashMap<>();
    Map<String, Table> byHash = new HashMap<>();
    Map<String, Json> others = new HashMap<>();
    List<Path> paths;
    try (Stream<Path> files = Files.list(folder)) {
      paths = files.sorted().collect(Collectors.toList());
    }
    for (Path path : paths) {
      String name = path.getFileName().toString().replace(".json", "");
      if (!path.toString().endsWith(".json")) continue;
      Json file = Json.read(text(path));
      if (file.text("format").equals("mechdesign table")) {
        tables.put(name, table(path));
        byHash.put(tables.get(name).sha256, tables.get(name));
      } else {
        others.put(name, file);
      }
    }
    int cases = 0;
    for (Path path : paths) {
      String name = path.getFileName().toString().replace(".txt", "");
      if (!path.toString().endsWith(".txt")) continue;
      String exact = name.replaceAll("_envelopes$", "");
      String of = tables.containsKey(exact) ? exact : exact.replaceAll("_\\d+$", "");
      Json other = others.get(of);
      try {
        if (other == null && name.equals(of)) {
          cases += table(tables.get(of), lines(path));
        } else if (other == null) {
          cases += envelopes(typed(tables.get(of)), lines(path));
        } else if (other.text("format").equals("mechdesign collection")) {
          int number = Integer.parseInt(name.split("_")[1]);
          Json attribute = (Json) other.list("attributes").get(number);
          Table table = byHash.get(attribute.object("table").text("sha256"));
          Sampler<?, ?> sampler = typed(table).ofCollection(other.text("sha256"), number);
          cases += envelopes(sampler, lines(path));
        } else {
          Table once = byHash.get(other.text("table"));
          Table last = other.has("again") ? byHash.get(other.text("again")) : once;
          boolean areStates = name.equals(of);
          String device = text(folder.resolve(of + ".json"));
          cases +=
              areStates
                  ? device(device, once, last, lines(path))
                  : envelopes(typed(last).ofDevice(other.text("sha256")), lines(path));
        }
      } catch (AssertionError error) {
        throw new AssertionError(error.getMessage() + " of " + path);
      }
    }
    return passed(cases);
  }

  private static String text(Path path) throws IOException {
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

  private static int passed(int cases) {
    if (cases == 0) throw new AssertionError("FAIL no cases");
    return cases;
  }

  private static int each(List<String[]> lines, Case read) throws IOException {
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
            Object y = table.law.rule.draw(input(table, fields[0]), from);
            return digits(y).equals(fields[3]) && from.used() == Integer.parseInt(fields[2]);
          } catch (IllegalArgumentException refused) {
            return fields[3].equals("error");
          }
        });
  }

  /** Reports of a device, and the states that it stores; and why it refuses. */
  static int device(String json, Table once, Table last, List<String[]> lines) throws IOException {
    Sampler<?, ?> first = codes(once);
    Device<?, ?> device = Device.read(json, first, codes(last));
    return each(lines, fields -> step(device, fields));
  }

  @SuppressWarnings("unchecked")
  private static <X> boolean step(Device<X, ?> device, String[] fields) throws IOException {
    String[] stored = {"-"};
    Storage storage =
        new Storage() {
          @Override
          public byte[] load() {
            return fields[1].equals("-") ? null : bytes(fields[1]);
          }

          @Override
          public void store(byte[] content) {
            stored[0] = digits(content);
          }
        };
    int period = Integer.parseInt(fields[2]);
    int least = Integer.parseInt(fields[3]);
    String said = "done";
    try {
      if (fields[0].equals("create")) {
        device.create(storage, period, Integer.parseInt(fields[4]), least);
      } else {
        RandomBytes from = RandomBytes.of(bytes(fields[6]));
        Object x =
            fields[5].length() == 16 ? (Object) number(fields[5]) : Integer.valueOf(fields[5]);
        said = digits(device.report(storage, (X) x, period, least, from));
        if (from.used() != Integer.parseInt(fields[7])) return false;
      }
    } catch (StateRefused refused) {
      said = refused.reason;
    } catch (IllegalArgumentException refused) {
      said = "input";
    }
    return said.equals(fields[8]) && stored[0].equals(fields[9]);
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

  private static double number(String digits) {
    return Double.longBitsToDouble(Long.parseUnsignedLong(digits, 16));
  }

  private static byte[] bytes(String digits) {
    byte[] found = new byte[digits.length() / 2];
    for (int i = 0; i < found.length; i++) {
      found[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
    }
    return found;
  }

  private static String digits(Object report) {
    if (report instanceof Double) {
      return String.format("%016x", Double.doubleToRawLongBits((Double) report));
    }
    StringBuilder found = new StringBuilder();
    for (byte one : (byte[]) report) found.append(String.format("%02x", one));
    return found.toString();
  }
}
