// The device: its vectors (states that are lost, cut, edited, foreign and rolled back among them), and a state in a file.
package @package@;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class DeviceTest {
    // @include device/Replayed.java

    private static void assertRefused(String reason, Executable call) {
        assertEquals(reason, assertThrows(@name@.StateRefused.class, call).reason);
    }

    @Test
    void @device@ReproducesItsVectors() throws IOException {
        int cases = 0;
        try (InputStream file = DeviceTest.class.getResourceAsStream("/@device@_vectors.txt")) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.US_ASCII).split("\\R")) {
                if (line.isEmpty() || line.startsWith("#")) continue;
                cases++;
                assertTrue(replay(line), "case " + cases);
            }
        }
        assertTrue(cases > 0);
    }

    @Test
    void aStateInAFileIsCreatedSpentCountedAndUsedByOne(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("state");
        try (@name@.FileStorage storage = new @name@.FileStorage(path)) {
            assertRefused("missing", () -> @name@.@core@(storage, @typical@, 20, 0, null));
            @name@.create(storage, 20, 1, 0);
            assertRefused("present", () -> @name@.create(storage, 20, 1, 0));
            @name@.@core@(storage, @typical@, 20, 0, null);
            assertRefused("exhausted", () -> @name@.@core@(storage, @typical@, 20, 0, null));
            assertRefused("busy", () -> new @name@.FileStorage(path));
        }
        try (@name@.FileStorage storage = new @name@.FileStorage(path)) {
            assertEquals(2, @name@.serial(storage, 0));
            assertRefused("rolled-back", () -> @name@.serial(storage, 3));
        }
    }
}
