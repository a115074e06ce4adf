// Envelopes for reports of the table with SHA-256
//
//     @sha@
//
// written by mechdesign: bytes that a collector reads (mechdesign collect-reports), in the one form that its file format
// has. The nonce, by which an envelope counts once, is that of java.security.SecureRandom, asked for each envelope.
package @package@;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;

public final class @Name@Envelope {
    /** The letters mdre, version 1, and of what the hash is: of @of@. */
    private static final byte[] HEAD = {@head@};
    private static final String HASH = "@hash@";
    private static final int LAST_DAY = 2932896;
    private static final int SIZE = @size@;
// @if listed
@OUTPUTS@
// @end

    private @Name@Envelope() {}

    /**
     * The envelope of a report that sample gave. It counts until the end (UTC) of the day lastDay, in days since
     * 1970-01-01: LocalDate.of(2099, 12, 31).toEpochDay(). An IllegalArgumentException if either cannot be.
     */
    public static byte[] of(@given@ report, long lastDay) {
        return of(report, lastDay, @Name@Envelope::system);
    }

    /** The same with another source of bytes, for tests only. */
    public static byte[] of(@given@ report, long lastDay, @sampler@.Source source) {
        if (lastDay < 0 || lastDay > LAST_DAY) {
            throw new IllegalArgumentException("the last day must be days since 1970-01-01, at most 2932896");
        }
// @if labels
        long written = report == null ? -1 : @sampler@.OUTPUT_LABELS.indexOf(report);
        if (written < 0) throw new IllegalArgumentException("the report must be one that sample gives");
// @end
// @if listed
        long written = java.util.Arrays.binarySearch(OUTPUTS, report);
        if (written < 0) throw new IllegalArgumentException("the report must be one that sample gives");
// @end
// @if double
        if (!Double.isFinite(report)) throw new IllegalArgumentException("the report must be one that sample gives");
        long written = Double.doubleToRawLongBits(report + 0.0);
// @end
// @if bytes
        if (report == null || report.length != SIZE) {
            throw new IllegalArgumentException("the report must be one that sample gives");
        }
// @end
        byte[] nonce = new byte[16];
        source.fill(nonce);
        ByteBuffer content = ByteBuffer.allocate(60 + SIZE).order(ByteOrder.LITTLE_ENDIAN);
        content.put(HEAD).putInt((int) lastDay);
        for (int i = 0; i < 64; i += 2) content.put((byte) Integer.parseInt(HASH.substring(i, i + 2), 16));
        content.put(nonce);
// @if bytes
        content.put(report);
// @else
        for (int i = 0; i < SIZE; i++) content.put((byte) (written >>> 8 * i));
// @end
        return content.array();
    }

    private static void system(byte[] bytes) {
        try {
            new SecureRandom().nextBytes(bytes);
        } catch (RuntimeException | InternalError failure) {
            throw new @sampler@.NoRandomness(failure);
        }
    }
// @if listed

    private static double[] doubles(String... texts) {
        return java.util.Arrays.stream(String.join(" ", texts).split(" ")).mapToDouble(Double::parseDouble).toArray();
    }
// @end
}
