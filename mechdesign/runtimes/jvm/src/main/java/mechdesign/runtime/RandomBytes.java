package mechdesign.runtime;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * Random bytes, each used once and erased as it is used, and the numbers that rules draw from them
 * (FORMAT.md, "Bits"). Those of the system are read in blocks, one for each thread.
 */
final class RandomBytes {
  private static final int BLOCK = 4096;
  private static final ThreadLocal<RandomBytes> SYSTEM =
      ThreadLocal.withInitial(() -> new RandomBytes(new byte[BLOCK]));
  private static SecureRandom random;

  final byte[] block;
  private int next, end, allotted;

  private RandomBytes(byte[] block) {
    this.block = block;
  }

  static RandomBytes system() {
    return SYSTEM.get();
  }

  /** These and no more, for test vectors. */
  static RandomBytes of(byte[] bytes) {
    RandomBytes given = new RandomBytes(bytes.clone());
    given.end = bytes.length;
    return given;
  }

  /** How many of those that were given are used. */
  int used() {
    return next;
  }

  /** Sets bytes apart for a report before its input is looked at: so many, at most a block. */
  void allot(int count) {
    int most = Math.min(count, BLOCK);
    require(most);
    allotted = next + most;
  }

  /** Erases what was set apart and not used. */
  void release() {
    if (next >= allotted) return;
    Arrays.fill(block, next, allotted, (byte) 0);
    next = allotted;
  }

  private void require(int count) {
    if (end - next >= count) return;
    if (SYSTEM.get() != this) throw new NoRandomness(null);
    next = end = allotted = 0;
    try {
      fill(block);
    } catch (RuntimeException | InternalError failure) {
      throw new NoRandomness(failure);
    }
    end = BLOCK;
  }

  private static synchronized void fill(byte[] block) {
    if (random == null) random = new SecureRandom();
    random.nextBytes(block);
  }

  /** The low bits of as few whole bytes as hold them, little-endian. */
  long draw(int bits) {
    int count = Law.bytesFor(bits);
    require(count);
    long number = 0;
    for (int i = next + count - 1; i >= next; i--) {
      number = number << 8 | (block[i] & 0xff);
      block[i] = 0;
    }
    next += count;
    return bits < 64 ? number & ((1L << bits) - 1) : number;
  }

  /** A uniform integer from 0 to size - 1. */
  long below(long size) {
    int bits = Law.bitLength(size - 1);
    while (true) {
      long number = draw(bits);
      if (number < size) return number;
    }
  }

  /** An integer next to z with mean exactly z. */
  long whole(double z) {
    double size = Math.abs(z);
    long number = (long) size;
    if (happens(size - number)) number++;
    return z < 0 ? -number : number;
  }

  /** True with exactly this probability: its binary digits are compared with random ones. */
  private boolean happens(double probability) {
    for (double rest = probability; rest > 0; ) {
      rest *= 0x1p32;
      long digits = (long) rest, number = draw(32);
      if (number != digits) return number < digits;
      rest -= digits;
    }
    return false;
  }
}
