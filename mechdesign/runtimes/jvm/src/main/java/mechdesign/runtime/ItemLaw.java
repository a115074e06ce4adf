package mechdesign.runtime;

/**
 * The kinds of tables whose inputs are items, whole numbers from 0, and whose reports are bytes.
 */
final class ItemLaw extends Law {
  /** Writes the report for an item to bytes that are 0. */
  private interface Writer {
    void write(int item, byte[] report, RandomBytes from);
  }

  private interface Choice {
    long draw(long mine, RandomBytes from);
  }

  ItemLaw(Json table) {
    super(table);
    reportBytes = bytesFor(items);
    Writer writer =
        switch (table.text("kind")) {
          case "response" -> response();
          case "unary" -> coins(items, 0);
          case "hashing" -> hashing();
          case "subset" -> subset();
          case "hadamard" -> hadamard();
          case "sketch" -> sketch();
          default -> throw new FileRefused("be of a kind that this runtime knows");
        };
    rule =
        (x, from) -> {
          byte[] report = new byte[reportBytes];
          writer.write((int) x, report, from);
          return report;
        };
  }

  private Writer response() {
    Choice choice = choice(items);
    reportBytes = bytesOf(items);
    return (item, report, from) -> write(report, 0, reportBytes, choice.draw(item, from));
  }

  private Writer hashing() {
    long hashes = law.whole("hashes", 2, 1L << 31);
    Choice choice = choice(hashes);
    reportBytes = 8 + bytesOf(hashes);
    return (item, report, from) -> {
      long seed = from.draw(64);
      write(report, 0, 8, seed);
      long mine = Long.remainderUnsigned(hash(item, seed), hashes);
      write(report, 8, reportBytes - 8, choice.draw(mine, from));
    };
  }

  private Writer subset() {
    int size = (int) law.whole("subset", 1, items - 1);
    long own = own(2);
    return (item, report, from) -> {
      boolean holds = from.draw(bits) < own;
      int[] others = new int[items - 1];
      for (int i = 0; i < items - 1; i++) others[i] = (item + 1 + i) % items;
      for (int i = 0; i < size; i++) {
        int chosen = i + (int) from.below(items - 1 - i), other = others[chosen];
        others[chosen] = others[i];
        others[i] = other;
      }
      if (holds) others[size - 1] = item;
      for (int i = 0; i < size; i++) set(report, 0, others[i]);
    };
  }

  private Writer hadamard() {
    long blocks = law.whole("blocks", 1, 2 * items - 1);
    FileRefused.unless(Long.bitCount(blocks) == 1, "blocks");
    int places = bitLength((items + blocks - 1) / blocks);
    Choice choice = choice(2 * blocks);
    reportBytes = bytesOf(blocks << places);
    return (item, report, from) -> {
      long row = item / blocks + 1, group = choice.draw(2 * (item % blocks), from);
      long place = from.draw(places);
      if (Long.bitCount(place & row) % 2 != group % 2) place ^= row & -row;
      write(report, 0, reportBytes, group / 2 << places | place);
    };
  }

  private Writer sketch() {
    long functions = law.whole("functions", 2, 1024), buckets = law.whole("buckets", 2, 16384);
    FileRefused.unless(Long.bitCount(functions) == 1, "functions");
    int head = bytesOf(functions);
    Writer coins = coins((int) buckets, head);
    reportBytes = head + bytesFor((int) buckets);
    return (item, report, from) -> {
      long function = from.draw(Long.numberOfTrailingZeros(functions));
      write(report, 0, head, function);
      coins.write((int) Long.remainderUnsigned(hash(item, function), buckets), report, from);
    };
  }

  /**
   * One of several groups by one draw: own counts of all are for mine, other for each other one.
   */
  private Choice choice(long groups) {
    long own = own(groups), other = law.whole("other", 1, all);
    return (mine, from) -> {
      long count = from.draw(bits);
      return count < own ? mine : (mine + 1 + (count - own) / other) % groups;
    };
  }

  /** The counts for one's own of so many groups: with those for each other one they are all. */
  private long own(long groups) {
    long own = law.whole("own", 1, all), other = law.whole("other", 1, all);
    FileRefused.unless(all - own == Math.multiplyExact(groups - 1, other), "sum of own and other");
    return own;
  }

  /** Bits from a byte on that are 1 with own counts of all (mine) or other counts. */
  private Writer coins(int width, int start) {
    long own = ones("own_bit"), other = ones("other_bit");
    return (mine, report, from) -> {
      for (int i = 0; i < width; i++) {
        if (from.draw(bits) < (i == mine ? own : other)) set(report, start, i);
      }
    };
  }

  private long ones(String key) {
    return all - row(law.wholes(key), 2)[1];
  }

  private static void set(byte[] report, int start, int bit) {
    report[start + bit / 8] |= (byte) (1 << bit % 8);
  }

  /** XXH64 of the item as eight bytes, little-endian. */
  private static long hash(long item, long seed) {
    long prime1 = 0x9E3779B185EBCA87L, prime2 = 0xC2B2AE3D27D4EB4FL;
    long state = Long.rotateLeft(item * prime2, 31) * prime1 ^ seed + 0x27D4EB2F165667CDL;
    state = Long.rotateLeft(state, 27) * prime1 + 0x85EBCA77C2B2AE63L;
    state = (state ^ state >>> 33) * prime2;
    state = (state ^ state >>> 29) * 0x165667B19E3779F9L;
    return state ^ state >>> 32;
  }
}
