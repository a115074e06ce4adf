package mechdesign.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Replays the vectors of all tables, devices and envelopes in a folder, {@code Vectors FOLDER}, by
 * the names that the shared vectors have.
 */
public final class Vectors {
  private Vectors() {}

  public static void main(String[] paths) throws IOException {
    try {
      System.out.println("PASS " + folder(Path.of(paths[0])));
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
      Json file = Json.read(Replay.text(path), json -> json);
      if (file.text("format").equals("mechdesign table")) {
        tables.put(name, Replay.table(path));
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
          cases += Replay.table(tables.get(of), Replay.lines(path));
        } else if (other == null) {
          cases += Replay.envelopes(Replay.typed(tables.get(of)), Replay.lines(path));
        } else if (other.text("format").equals("mechdesign collection")) {
          int number = Integer.parseInt(name.split("_")[1]);
          Json attribute = other.each("attributes", Json.class).skip(number).findFirst().get();
          Table table = byHash.get(attribute.object("table").text("sha256"));
          Sampler<?, ?> sampler = Replay.typed(table).ofCollection(other.text("sha256"), number);
          cases += Replay.envelopes(sampler, Replay.lines(path));
        } else {
          Table once = byHash.get(other.text("table"));
          Table last = other.has("again") ? byHash.get(other.text("again")) : once;
          boolean areStates = name.equals(of);
          List<String[]> lines = Replay.lines(path);
          String device = Replay.text(folder.resolve(of + ".json"));
          cases +=
              areStates
                  ? DeviceReplay.device(device, once, last, lines)
                  : Replay.envelopes(Replay.typed(last).ofDevice(other.text("sha256")), lines);
        }
      } catch (AssertionError error) {
        throw new AssertionError(error.getMessage() + " of " + path);
      }
    }
    return Replay.passed(cases);
  }
}
