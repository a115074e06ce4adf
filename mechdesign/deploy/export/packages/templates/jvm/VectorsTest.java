// Replays the vectors: each sampler returns the same report, bit for bit, after as many bytes, and refuses what is no input.
package @package@;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class VectorsTest {
    private interface Draw {
        String of(String x, Consumer<byte[]> fill);
    }

@tests@
    private static void replayAll(String name, Draw draw) throws IOException {
        int cases = 0;
        try (InputStream file = VectorsTest.class.getResourceAsStream("/" + name + "_vectors.txt")) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.US_ASCII).split("\\R")) {
                if (line.isEmpty() || line.startsWith("#")) continue;
                cases++;
                assertTrue(replay(line, draw), "case " + cases);
            }
        }
        assertTrue(cases > 0);
    }

    private static double number(String input) {
        return Double.longBitsToDouble(Long.parseUnsignedLong(input, 16));
    }

    private static String digits(double y) {
        return String.format("%016x", Double.doubleToRawLongBits(y));
    }

    private static String digits(byte[] y) {
        StringBuilder found = new StringBuilder();
        for (byte one : y) found.append(String.format("%02x", one));
        return found.toString();
    }

    private static boolean replay(String line, Draw draw) {
        String[] fields = line.split(" ");
        int[] position = {0};
        Consumer<byte[]> fill = bytes -> {
            for (int i = 0; i < bytes.length; i++) {
                int at = 2 * position[0]++;
                bytes[i] = (byte) Integer.parseInt(fields[1].substring(at, at + 2), 16);
            }
        };
        try {
            return draw.of(fields[0], fill).equals(fields[3]) && position[0] == Integer.parseInt(fields[2]);
        } catch (IllegalArgumentException error) {
            return fields[3].equals("error");
        }
    }
}
