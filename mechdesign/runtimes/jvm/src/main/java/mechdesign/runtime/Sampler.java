package mechdesign.runtime;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Draws reports from a table: X goes in, Y comes out. Randomness is that of {@link
 * java.security.SecureRandom}; without it there is {@link NoRandomness} and no report. A second
 * report of the same answer spends epsilon again: keep the first.
 */
public class Sampler<X, Y> {
  private static final int LAST_DAY = 2932896;

  /** What is drawn from. */
  public final Table table;

  final Function<X, Double> code;
  final Function<Object, Y> value;
  private final Function<Y, Object> report;
  private final byte[] head;

  private Sampler(
      Table table,
      Function<X, Double> code,
      Function<Object, Y> value,
      Function<Y, Object> report,
      byte[] head) {
    this.table = table;
    this.code = code;
    this.value = value;
    this.report = report;
    this.head = head;
  }

  /** The same sampler, for classes that give it a name. */
  protected Sampler(Sampler<X, Y> same) {
    this(same.table, same.code, same.value, same.report, same.head);
  }

  /** Of a table of numbers, in those of its file: where there are labels, these are codes. */
  public static Sampler<Double, Double> numbers(Table table) {
    require(table.law.items == 0, "the inputs of the table must be numbers");
    return new Sampler<>(table, x -> x, y -> (Double) y, y -> y, head(0, 0, table.sha256));
  }

  /** Of a table of items: whole numbers from 0 go in, bytes come out. */
  public static Sampler<Integer, byte[]> items(Table table) {
    require(table.law.items > 0, "the inputs of the table must be items");
    return new Sampler<>(table, x -> (double) x, y -> (byte[]) y, y -> y, head(0, 0, table.sha256));
  }

  /** With these inputs instead of numbers: in their order, they are written as the labels are. */
  public <L> Sampler<L, Y> inputs(List<L> values) {
    Function<L, Double> codes = codes(values, table.inputLabels, table.law.points);
    return new Sampler<>(table, codes, value, report, head);
  }

  /** With these outputs instead of numbers: in their order, they are written as the labels are. */
  public <L> Sampler<X, L> outputs(List<L> values) {
    Function<L, Double> codes = codes(values, table.outputLabels, table.law.outputs);
    Function<Object, L> named = y -> values.get(table.place((Double) y));
    return new Sampler<>(table, code, named, codes::apply, head);
  }

  /** With the labels themselves for inputs. */
  public Sampler<String, Y> inputTexts() {
    return inputs(table.inputLabels);
  }

  /** With the labels themselves for outputs. */
  public Sampler<X, String> outputTexts() {
    return outputs(table.outputLabels);
  }

  /** With envelopes of an attribute of the collection with this hash, by its number from 0. */
  public Sampler<X, Y> ofCollection(String sha256, int attribute) {
    return new Sampler<>(table, code, value, report, head(1, attribute, sha256));
  }

  /** With envelopes of the device whose file has this hash. */
  public Sampler<X, Y> ofDevice(String sha256) {
    return new Sampler<>(table, code, value, report, head(2, 0, sha256));
  }

  /** A report for x; what is no input is an IllegalArgumentException. */
  public Y sample(X x) {
    return value.apply(table.report(code.apply(x)));
  }

  /**
   * What a collector reads of a report that sample gave. It counts until the end (UTC) of the day
   * lastDay, in days since 1970-01-01: {@code LocalDate.of(2099, 12, 31).toEpochDay()}. An
   * IllegalArgumentException if either cannot be. Make one of a report, and send it again if
   * sending failed: it counts once.
   */
  public byte[] envelope(Y report, long lastDay) {
    return envelope(report, lastDay, RandomBytes.system());
  }

  byte[] envelope(Y given, long lastDay, RandomBytes from) {
    boolean isDay = 0 <= lastDay && lastDay <= LAST_DAY;
    require(isDay, "the last day must be days since 1970-01-01, at most " + LAST_DAY);
    byte[] written = given == null ? null : table.written(report.apply(given));
    require(written != null, "the report must be one that the table gives");
    ByteBuffer bytes = ByteBuffer.allocate(60 + written.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(head, 0, 8).putInt((int) lastDay).put(head, 8, 32);
    bytes.putLong(from.draw(64)).putLong(from.draw(64)).put(written);
    return bytes.array();
  }

  private static byte[] head(int of, int number, String sha256) {
    ByteBuffer bytes = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(new byte[] {'m', 'd', 'r', 'e', 1, (byte) of}).putShort((short) number);
    return bytes.put(hash(sha256)).array();
  }

  static byte[] hash(String sha256) {
    byte[] led = new BigInteger("1" + sha256, 16).toByteArray(); // so that zeros count
    return Arrays.copyOfRange(led, 1, led.length);
  }

  /** The numbers of values, which are written as labels are; items where there are none. */
  private static <L> Function<L, Double> codes(
      List<L> values, List<String> labels, double[] numbers) {
    require(labels != null, "the table must have labels here");
    Object[] texts = values.stream().map(Object::toString).toArray();
    boolean areLabels = Arrays.equals(texts, labels.toArray());
    require(areLabels, "the values must be written as the labels of the table");
    Map<L, Double> found = new HashMap<>();
    for (int i = 0; i < texts.length; i++) {
      found.put(values.get(i), numbers == null ? i : numbers[i]);
    }
    return value -> {
      Double code = found.get(value);
      require(code != null, "the value must be one of the labels");
      return code;
    };
  }

  private static void require(boolean isRight, String rule) {
    if (!isRight) throw new IllegalArgumentException(rule);
  }
}
