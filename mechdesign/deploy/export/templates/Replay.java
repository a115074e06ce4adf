// Checks the sampler against its test vectors:
// javac @name@.java @name@_Replay.java && java @name@_Replay @stem@_vectors.txt
// Without a file it reads standard input.

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

public final class @name@_Replay {
    private static boolean replay(String line) {
        String[] fields = line.split(" ");
        double x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[0], 16));
        int[] position = {0};
        @name@.Source source = bytes -> {
            for (int i = 0; i < bytes.length; i++) {
                int at = 2 * position[0]++;
                bytes[i] = (byte) Integer.parseInt(fields[1].substring(at, at + 2), 16);
            }
        };
        try {
            String y = String.format("%016x", Double.doubleToRawLongBits(@name@.@core@(x, source)));
            return y.equals(fields[3]) && position[0] == Integer.parseInt(fields[2]);
        } catch (IllegalArgumentException error) {
            return fields[3].equals("error");
        }
    }

    // @include replay/Main.java
}
