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

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) System.err.println("reading test vectors from standard input");
        byte[] text = arguments.length == 0 ? System.in.readAllBytes() : Files.readAllBytes(Path.of(arguments[0]));
        int cases = 0;
        for (String line : new String(text, StandardCharsets.US_ASCII).split("\\R")) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            cases++;
            if (!replay(line)) {
                System.out.println("FAIL case " + cases);
                System.exit(1);
            }
        }
        System.out.println(cases == 0 ? "FAIL no cases" : "PASS " + cases);
        System.exit(cases == 0 ? 1 : 0);
    }
}
