// Replays the vectors: each sampler returns the same double, bit for bit, after as many bytes, and refuses what is no input.
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
        double of(double x, Consumer<byte[]> fill);
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

    private static boolean replay(String line, Draw draw) {
        String[] fields = line.split(" ");
        double x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[0], 16));
        int[] position = {0};
        Consumer<byte[]> fill = bytes -> {
            for (int i = 0; i < bytes.length; i++) {
                int at = 2 * position[0]++;
                bytes[i] = (byte) Integer.parseInt(fields[1].substring(at, at + 2), 16);
            }
        };
        try {
            String y = String.format("%016x", Double.doubleToRawLongBits(draw.of(x, fill)));
            return y.equals(fields[3]) && position[0] == Integer.parseInt(fields[2]);
        } catch (IllegalArgumentException error) {
            return fields[3].equals("error");
        }
    }
}
