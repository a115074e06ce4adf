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
    private static byte[] bytesOf(String text) {
        if (text.equals("-")) return null;
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    private static boolean replay(String line) throws IOException {
        String[] fields = line.split(" ");
        String[] stored = {"-"};
        @name@.Storage storage = new @name@.Storage() {
            @Override
            public byte[] load() {
                return bytesOf(fields[1]);
            }

            @Override
            public void store(byte[] content) {
                StringBuilder text = new StringBuilder();
                for (byte b : content) text.append(String.format("%02x", b));
                stored[0] = text.toString();
            }
        };
        int period = Integer.parseInt(fields[2]), least = Integer.parseInt(fields[3]);
        byte[] stream = bytesOf(fields[6]);
        int[] position = {0};
        String said = "done";
        try {
            if (fields[0].equals("create")) {
                @name@.create(storage, period, Integer.parseInt(fields[4]), least);
            } else {
// @if items
                int x = Integer.parseInt(fields[5]);
                byte[] y = @name@.@core@(storage, x, period, least, bytes -> {
                    for (int i = 0; i < bytes.length; i++) bytes[i] = stream[position[0]++];
                });
                StringBuilder text = new StringBuilder();
                for (byte b : y) text.append(String.format("%02x", b));
                said = text.toString();
// @else
                double x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[5], 16));
                double y = @name@.@core@(storage, x, period, least, bytes -> {
                    for (int i = 0; i < bytes.length; i++) bytes[i] = stream[position[0]++];
                });
                said = String.format("%016x", Double.doubleToRawLongBits(y));
// @end
                if (position[0] != Integer.parseInt(fields[7])) return false;
            }
        } catch (@name@.StateRefused refused) {
            said = refused.reason;
        } catch (IllegalArgumentException error) {
            said = "input";
        }
        return said.equals(fields[8]) && stored[0].equals(fields[9]);
    }

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
