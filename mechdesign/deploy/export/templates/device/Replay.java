// Checks the device against its test vectors:
// javac *.java && java @name@_Replay @device@_vectors.txt
// With a state in a file: java @name@_Replay create FILE PERIOD ALLOWANCE, or report FILE PERIOD X (X in codes).

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public final class @name@_Replay {
    // @include device/Replayed.java

    private static String fromFile(String[] said) throws IOException {
        int period = Integer.parseInt(said[2]);
        try (@name@.FileStorage storage = new @name@.FileStorage(Path.of(said[1]))) {
            if (said[0].equals("report")) {
// @if items
                StringBuilder text = new StringBuilder();
                byte[] y = @name@.@core@(storage, Integer.parseInt(said[3]), period, 0, null);
                for (byte b : y) text.append(String.format("%02x", b));
                return text.toString();
// @else
                return "" + @name@.@core@(storage, Double.parseDouble(said[3]), period, 0, null);
// @end
            }
            @name@.create(storage, period, Integer.parseInt(said[3]), 0);
            return "done";
        } catch (@name@.StateRefused refused) {
            return refused.reason;
        }
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 4) {
            System.out.println(fromFile(arguments));
            return;
        }
        int cases = 0;
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
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
