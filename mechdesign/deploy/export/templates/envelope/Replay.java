// Replays the vectors of envelopes: each writer gives the same bytes for the same nonce, and refuses what cannot be.
package @package@;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class EnvelopesTest {
    private interface Write {
        byte[] of(String report, long lastDay, Consumer<byte[]> fill);
    }

@tests@
    private static void replayAll(String name, Write write) throws IOException {
        List<String[]> lines = lines(name);
        assertTrue(lines.size() > 1);
        for (String[] fields : lines) {
            byte[] nonce = bytes(fields[2]);
            Consumer<byte[]> fill = place -> System.arraycopy(nonce, 0, place, 0, place.length);
            long day = Long.parseLong(fields[1]);
            if (fields[3].equals("error")) {
                assertThrows(IllegalArgumentException.class, () -> write.of(fields[0], day, fill));
            } else {
                assertEquals(fields[3], digits(write.of(fields[0], day, fill)));
            }
        }
    }

    private static List<String[]> lines(String name) throws IOException {
        List<String[]> found = new ArrayList<>();
        try (InputStream file = EnvelopesTest.class.getResourceAsStream("/" + name + "_envelopes.txt")) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.US_ASCII).split("\\R")) {
                if (!line.isEmpty() && !line.startsWith("#")) found.add(line.split(" "));
            }
        }
        return found;
    }

    private static String label(String digits) {
        return new String(bytes(digits), StandardCharsets.UTF_8);
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

    private static String digits(byte[] bytes) {
        StringBuilder found = new StringBuilder();
        for (byte one : bytes) found.append(String.format("%02x", one));
        return found.toString();
    }
}
