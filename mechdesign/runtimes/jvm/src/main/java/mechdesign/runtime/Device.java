package mechdesign.runtime;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * A device that remembers what a table drew for each value, and counts the reports of a period
 * (FORMAT.md, "Devices that remember"). Its state is loaded and stored by a {@link Storage}; a
 * report is given only after the state that counts it was stored. What the state does not allow is
 * {@link StateRefused}.
 *
 * <p>The state holds the person's answers in clear: keep it where only the app reads it, and out of
 * backups.
 */
public final class Device<X, Y> {
  private static final int MOST = Integer.MAX_VALUE;
  private static final int AHEAD = 100;
  private static final byte[] MAGIC = {'m', 'd', 's', 't', 'a', 't', 'e'};
  private static final int HEAD = 56;

  /** The hash that the device file says. */
  public final String sha256;

  /** For how many values it remembers a draw, and how many reports it makes in a period. */
  public final int values, reports;

  private final Sampler<X, ?> once;
  private final Sampler<?, Y> reporting;
  private final boolean drawsAgain, hasItems;
  private final int keyBytes, entryBytes;

  private Device(Json file, Sampler<X, ?> once, Sampler<?, Y> reporting) {
    FileRefused.unless(file.text("format").equals("mechdesign device"), "format");
    file.whole("version", 1, 1);
    sha256 = file.hash("sha256");
    values = (int) file.whole("values", 0, 4096);
    reports = (int) file.whole("reports", 1, 10000);
    drawsAgain = file.has("again");
    boolean isOnce = once.table.sha256.equals(file.text("table"));
    String last = file.text(drawsAgain ? "again" : "table");
    FileRefused.unless(isOnce && reporting.table.sha256.equals(last), "table, of this device");
    this.once = once;
    this.reporting = reporting;
    hasItems = once.table.law.items > 0;
    keyBytes = hasItems ? 4 : 8;
    entryBytes = keyBytes + (hasItems ? once.table.law.reportBytes : 8);
    FileRefused.unless(entryBytes * values <= 1 << 16, "values");
    boolean isLast = reporting.table.law.items == 0 && once.table.law.outputs != null && values > 0;
    FileRefused.unless(!drawsAgain || isLast, "again");
  }

  /**
   * The device of this file's text, which draws once from one table and reports what another one
   * draws of that. The second one is the first one again where the file names no other.
   */
  public static <X, Y> Device<X, Y> read(String json, Sampler<X, ?> once, Sampler<?, Y> reporting) {
    return Json.read(json, file -> new Device<>(file, once, reporting));
  }

  /** The device in this file of the class path. */
  public static <X, Y> Device<X, Y> resource(
      String path, Sampler<X, ?> once, Sampler<?, Y> reporting) {
    return Json.resource(path, file -> new Device<>(file, once, reporting));
  }

  /**
   * Begins without memory where there is no state to keep, with so many reports left in the period:
   * what the server grants, and 0 without its word, as nobody knows what was reported before a
   * state was lost. A state that is there keeps its memory, and goes on to a period that is too far
   * ahead for a report: on the word of another clock than the device's.
   *
   * @param least the last serial known from elsewhere, or 0
   */
  public void create(Storage storage, int period, int allowance, int least) throws IOException {
    require(period, MOST);
    require(allowance, reports);
    require(least, MOST - 1);
    synchronized (storage) {
      begin(storage, period, allowance, least);
    }
  }

  private void begin(Storage storage, int period, int allowance, int least) throws IOException {
    State state = null;
    try {
      state = new State(storage.load(), least);
    } catch (StateRefused refused) {
      if (refused.reason.equals("other")) throw refused;
    }
    if (state != null && period - state.period <= AHEAD) throw new StateRefused("present");
    if (state != null && state.serial == MOST) throw new StateRefused("exhausted");
    if (state == null) state = new State(least);
    state.period = period;
    state.made = reports - allowance;
    storage.store(state.next());
  }

  /** One report for the value held now. */
  public Y report(Storage storage, X x, int period, int least) throws IOException {
    return report(storage, x, period, least, null);
  }

  /** The same from these bytes; null is the system's. */
  Y report(Storage storage, X x, int period, int least, RandomBytes from) throws IOException {
    require(period, MOST);
    synchronized (storage) {
      return reporting.value.apply(counted(storage, x, period, least, from));
    }
  }

  private Object counted(Storage storage, X x, int period, int least, RandomBytes from)
      throws IOException {
    State state = new State(storage.load(), least);
    if (period < state.period) throw new StateRefused("past");
    if (period - state.period > AHEAD) throw new StateRefused("ahead");
    if (period > state.period) state.made = 0;
    if (state.made == reports || state.serial == MOST) throw new StateRefused("exhausted");
    double code = once.code.apply(x);
    Object y = draw(once.table, code, from);
    if (values > 0) y = state.remembered(code, y);
    if (drawsAgain) y = draw(reporting.table, (Double) y, from);
    state.period = period;
    state.made++;
    storage.store(state.next());
    return y;
  }

  private static Object draw(Table table, double x, RandomBytes from) {
    return from == null ? table.report(x) : table.law.draw(x, from);
  }

  /** How many states were stored so far: keep it elsewhere, and give it as least next time. */
  public int serial(Storage storage, int least) throws IOException {
    return new State(storage.load(), least).serial;
  }

  private static void require(int number, int most) {
    boolean isRight = 0 <= number && number <= most;
    if (!isRight) throw new IllegalArgumentException("the number must lie between 0 and " + most);
  }

  /** The bytes of a state, and the counts in them. */
  private final class State {
    private final byte[] content = new byte[HEAD + entryBytes * values + 4];
    private final ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    private int serial, period, made, held;

    /** An empty one. */
    State(int serial) {
      this.serial = serial;
      bytes.put(MAGIC).put((byte) (hasItems ? 2 : 1)).put(Sampler.hash(sha256));
    }

    /** The one that was stored. */
    State(byte[] stored, int least) {
      this(0);
      Device.require(least, MOST);
      if (stored == null || stored.length == 0) throw new StateRefused("missing");
      int end = stored.length - 4;
      boolean isState = stored.length >= HEAD + 4 && starts(stored, MAGIC.length);
      ByteBuffer given = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
      requireSound(isState && checksum(stored) == given.getInt(end));
      if (!starts(stored, 40)) throw new StateRefused("other");
      requireSound(stored.length == content.length);
      System.arraycopy(stored, 0, content, 0, end);
      serial = bytes.getInt(40);
      period = bytes.getInt(44);
      made = bytes.getInt(48);
      held = bytes.getInt(52);
      requireSound(serial >= 1 && period >= 0);
      requireSound(made >= 0 && made <= reports && held >= 0 && held <= values);
      Set<Long> keys = new HashSet<>();
      for (int i = 0; i < held; i++) requireSound(keys.add(key(i)) && isEntry(i));
      for (int i = at(held); i < end; i++) requireSound(content[i] == 0);
      if (serial < least) throw new StateRefused("rolled-back");
    }

    private void requireSound(boolean isSound) {
      if (!isSound) throw new StateRefused("damaged");
    }

    private boolean starts(byte[] stored, int count) {
      return Arrays.equals(Arrays.copyOf(stored, count), Arrays.copyOf(content, count));
    }

    private int at(int entry) {
      return HEAD + entryBytes * entry;
    }

    private long key(int entry) {
      return hasItems ? bytes.getInt(at(entry)) : bytes.getLong(at(entry));
    }

    private boolean isEntry(int entry) {
      if (hasItems) return key(entry) >= 0 && key(entry) < once.table.law.items;
      double x = Double.longBitsToDouble(key(entry));
      double y = bytes.getDouble(at(entry) + keyBytes);
      boolean isListed = once.table.outputLabels != null && !drawsAgain;
      return Double.isFinite(x)
          && Double.isFinite(y)
          && (x != 0 || key(entry) == 0)
          && (!isListed || once.table.place(y) >= 0);
    }

    /**
     * What is remembered for a value: this draw if it is new, or the last one if there is no room.
     */
    Object remembered(double code, Object drawn) {
      long key = hasItems ? (long) code : Double.doubleToRawLongBits(code + 0.0);
      int entry = 0;
      while (entry < held && key(entry) != key) entry++;
      if (entry < held) return drawn(entry);
      if (held == values) return drawn(values - 1);
      int place = at(held++);
      if (hasItems) {
        bytes.putInt(place, (int) key);
        System.arraycopy((byte[]) drawn, 0, content, place + keyBytes, entryBytes - keyBytes);
      } else {
        bytes.putLong(place, key).putDouble(place + keyBytes, (Double) drawn);
      }
      return drawn;
    }

    private Object drawn(int entry) {
      int place = at(entry) + keyBytes;
      return hasItems
          ? (Object) Arrays.copyOfRange(content, place, at(entry + 1))
          : (Object) bytes.getDouble(place);
    }

    /** The bytes of the state that follows. */
    byte[] next() {
      bytes.putInt(40, serial + 1).putInt(44, period).putInt(48, made).putInt(52, held);
      bytes.putInt(content.length - 4, checksum(content));
      return content;
    }

    private int checksum(byte[] stored) {
      CRC32 sum = new CRC32();
      sum.update(stored, 0, stored.length - 4);
      return (int) sum.getValue();
    }
  }
}
