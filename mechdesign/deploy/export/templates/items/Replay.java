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
        int[] position = {0};
        @name@.Source source = bytes -> {
            for (int i = 0; i < bytes.length; i++) {
                int at = 2 * position[0]++;
                bytes[i] = (byte) Integer.parseInt(fields[1].substring(at, at + 2), 16);
            }
        };
        try {
            StringBuilder found = new StringBuilder();
            byte[] report = @name@.@core@(Integer.parseInt(fields[0]), source);
            for (byte part : report) found.append(String.format("%02x", part));
            return found.toString().equals(fields[3]) && position[0] == Integer.parseInt(fields[2]);
        } catch (IllegalArgumentException error) {
            return fields[3].equals("error");
        }
    }

    // @include replay/Main.java
}
