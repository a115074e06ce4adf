package mechdesign.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The device of this package reproduces the vectors of its states. */
class DeviceTest {
  @Test
  void theDeviceReproducesItsVectors() throws Exception {
    Json manifest = PackageTest.json("mechdesign-package.json");
    Json device = manifest.object("device");
    TreeMap<String, Sampler<?, ?>> samplers = PackageTest.samplers();
    String once = device.text("table");
    Table first = samplers.get(once).table;
    Table last = device.has("again") ? samplers.get(device.text("again")).table : first;
    String file = new String(Files.readAllBytes(Path.of("device.json")), StandardCharsets.UTF_8);
    List<String[]> lines = PackageTest.lines(once + "_device_vectors");
    assertTrue(DeviceReplay.device(file, first, last, lines) > 0);
  }
}
