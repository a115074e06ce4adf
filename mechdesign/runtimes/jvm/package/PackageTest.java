package mechdesign.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The classes of this package reproduce the vectors of its tables, in the runtime's own numbers and
 * through their labels.
 */
class PackageTest {
  static Json json(String path) throws IOException {
    return Json.read(Replay.text(Path.of(path)), json -> json);
  }

  static List<String[]> lines(String name) throws IOException {
    return Replay.lines(Path.of("src", "test", "resources", name + ".txt"));
  }

  /**
   * The samplers by the names of their tables: a field of a class of Java, or an object of Kotlin.
   */
  static TreeMap<String, Sampler<?, ?>> samplers() throws Exception {
    Json manifest = json("mechdesign-package.json");
    TreeMap<String, Sampler<?, ?>> found = new TreeMap<>();
    try (DirectoryStream<Path> tables = Files.newDirectoryStream(Path.of("tables"))) {
      for (Path path : tables) {
        String name = path.getFileName().toString().replace(".json", "");
        found.put(name, sampler(manifest, name));
      }
    }
    assertTrue(found.size() > 0);
    return found;
  }

  private static Sampler<?, ?> sampler(Json manifest, String name) throws Exception {
    StringBuilder camel = new StringBuilder(manifest.text("name")).append('.');
    for (String word : name.split("_")) {
      if (!word.isEmpty())
        camel.append(word.substring(0, 1).toUpperCase()).append(word.substring(1));
    }
    String field = manifest.text("language").equals("kotlin") ? "INSTANCE" : "SAMPLER";
    return (Sampler<?, ?>) Class.forName(camel.toString()).getField(field).get(null);
  }

  @Test
  void samplersAreOfTheTablesThatTheManifestNamesAndReproduceTheirVectors() throws Exception {
    Json tables = json("mechdesign-package.json").object("tables");
    for (var entry : samplers().entrySet()) {
      Table table = entry.getValue().table;
      assertEquals(tables.text(entry.getKey()), table.sha256);
      assertTrue(Replay.table(table, lines(entry.getKey() + "_vectors")) > 0);
    }
  }

  @Test
  void envelopesReproduceTheirVectors() throws Exception {
    for (var entry : samplers().entrySet()) {
      assertTrue(Replay.envelopes(entry.getValue(), lines(entry.getKey() + "_envelopes")) > 0);
    }
  }

  @Test
  void withoutRandomnessThereIsNoReport() throws Exception {
    for (var entry : samplers().entrySet()) {
      Table table = entry.getValue().table;
      double x = Replay.input(table, lines(entry.getKey() + "_vectors").get(0)[0]);
      RandomBytes none = RandomBytes.of(new byte[0]);
      assertThrows(NoRandomness.class, () -> table.law.draw(x, none));
    }
  }
}
