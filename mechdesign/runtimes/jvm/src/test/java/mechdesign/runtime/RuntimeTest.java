package mechdesign.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuntimeTest {
  /** A storage that may be full. */
  private static final class Memory implements Storage {
    private byte[] kept;
    private boolean isFull;

    @Override
    public byte[] load() {
      return kept;
    }

    @Override
    public void store(byte[] content) throws IOException {
      if (isFull) throw new IOException("full");
      LockSupport.parkNanos(1_000_000); // a disk takes a while
      kept = content.clone();
    }
  }

  private static final Path VECTORS = Path.of("..", "vectors");

  private static Table table(String name) throws IOException {
    return Replay.table(VECTORS.resolve(name + ".json"));
  }

  @Test
  void allSharedVectorsAreReproduced() throws IOException {
    assertTrue(Replay.folder(VECTORS) > 4000);
  }

  @Test
  void labelsGoInAndComeOut() throws IOException {
    Table table = table("labels");
    Sampler<String, String> sampler = Sampler.numbers(table).inputTexts().outputTexts();
    for (String label : table.inputLabels) {
      assertTrue(table.outputLabels.contains(sampler.sample(label)));
    }
    assertThrows(IllegalArgumentException.class, () -> sampler.sample("none"));
    assertThrows(IllegalArgumentException.class, () -> sampler.sample(null));
    assertThrows(IllegalArgumentException.class, () -> sampler.envelope(null, 1));
  }

  @Test
  void valuesAreTakenForLabelsOnlyInTheirOrder() throws IOException {
    Sampler<Double, Double> codes = Sampler.numbers(table("labels"));
    List<String> others = codes.table.inputLabels.subList(1, 6);
    assertThrows(IllegalArgumentException.class, () -> codes.inputs(others));
    assertThrows(IllegalArgumentException.class, () -> Sampler.items(codes.table));
    Sampler<Double, Double> plain = Sampler.numbers(table("window"));
    assertThrows(IllegalArgumentException.class, plain::inputTexts);
  }

  @ParameterizedTest
  @ValueSource(strings = {"window", "unbiased", "finite", "pieces_53", "circle", "additive"})
  void aReportTakesAsManyBytesWhateverTheInputAndErasesThem(String name) throws IOException {
    Table table = table(name);
    double[] inputs = table.law.points;
    RandomBytes system = RandomBytes.system();
    for (int i = 0; i < 300; i++) {
      double last = name.equals("pieces_53") ? 10 : 1;
      double x = inputs == null ? Math.min(i / 300.0, last) : inputs[i % inputs.length];
      int before = system.used();
      table.report(x);
      int taken = system.used() - before;
      assertTrue(taken == table.law.allotted || system.used() == table.law.allotted, name);
      byte[] used = Arrays.copyOf(system.block, system.used());
      assertArrayEquals(new byte[used.length], used);
    }
  }

  @Test
  void withoutRandomnessThereIsNoReportAndNoEnvelope() throws IOException {
    RandomBytes none = RandomBytes.of(new byte[3]);
    Law law = table("finite_pairs").law;
    assertThrows(NoRandomness.class, () -> law.rule.draw(1, none));
    Sampler<Integer, byte[]> sampler = Sampler.items(table("unary"));
    byte[] report = sampler.sample(1);
    assertThrows(NoRandomness.class, () -> sampler.envelope(report, 1, none));
    byte[] first = sampler.envelope(report, 1);
    assertNotEquals(Arrays.toString(first), Arrays.toString(sampler.envelope(report, 1)));
  }

  @Test
  void numbersBelowASizeAreDrawnAgainUntilTheyAre() {
    assertEquals(256, RandomBytes.of(new byte[] {2, 1, 1, 1, 0, 1}).below(257));
    assertEquals(1, RandomBytes.of(new byte[] {3, 1}).below(3));
    assertEquals(0, RandomBytes.of(new byte[0]).below(1));
  }

  @ParameterizedTest
  @CsvSource({
    "0.5,127,1",
    "0.5,128,0",
    "-0.5,127,-1",
    "-0.5,128,0",
    "-2,0,-2",
    "3.25,63,4",
    "3.25,64,3"
  })
  void aNumberIsRoundedUpBelowItsFraction(double z, int highest, long expected) {
    RandomBytes from = RandomBytes.of(new byte[] {0, 0, 0, (byte) highest, 0, 0, 0, 0});
    assertEquals(expected, from.whole(z));
  }

  @Test
  void theNegativeZeroIsReportedAsZero() throws IOException {
    for (String name : new String[] {"finite", "additive"}) {
      Sampler<Double, Double> sampler = Sampler.numbers(table(name));
      byte[] zero = sampler.envelope(0.0, 1, RandomBytes.of(new byte[16]));
      assertArrayEquals(zero, sampler.envelope(-0.0, 1, RandomBytes.of(new byte[16])));
    }
  }

  @Test
  void labelsOfItemsAreTheirNumbers() throws IOException {
    Table table = table("response");
    Sampler<String, byte[]> sampler = Sampler.items(table).inputTexts();
    for (int i = 0; i < table.inputLabels.size(); i++) {
      assertEquals(i, sampler.code.apply(table.inputLabels.get(i)));
    }
    assertThrows(IllegalArgumentException.class, () -> sampler.envelope(new byte[2], 1));
  }

  @Test
  void threadsShareNoBytes() throws Exception {
    Set<Long> drawn = Collections.synchronizedSet(new HashSet<>());
    Runnable draw =
        () -> {
          for (int i = 0; i < 1000; i++) drawn.add(RandomBytes.system().draw(64));
        };
    Thread[] threads = {new Thread(draw), new Thread(draw), new Thread(draw)};
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    assertEquals(3000, drawn.size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"a\":1}x",
        "{\"a\":1.5}",
        "{\"a\":true}",
        "{\"a\":\"\\x\"}",
        "{\"format\":\"mechdesign table\",\"version\":3}",
        "{\"format\":\"mechdesign table\",\"version\":\"2\"}"
      })
  void whatIsNoTableIsRefused(String text) {
    assertThrows(FileRefused.class, () -> Table.read(text));
  }

  @Test
  void aTableOfWhichAPartIsMissingOrAnotherIsRefused() throws IOException {
    String text = Files.readString(VECTORS.resolve("window.json"));
    for (String key : new String[] {"bits", "law", "domain", "kind", "starts", "caps", "sha256"}) {
      String without = text.replace("\"" + key + "\":", "\"other\":");
      assertThrows(FileRefused.class, () -> Table.read(without), key);
    }
    String other = text.replace("\"window\"", "\"door\"");
    assertThrows(FileRefused.class, () -> Table.read(other));
    assertThrows(FileRefused.class, () -> Table.read("[".repeat(1_000_000)));
    assertThrows(FileRefused.class, () -> Table.resource("/missing.json"));
  }

  private static void assertRefused(String reason, Executable call) {
    assertEquals(reason, assertThrows(StateRefused.class, call).reason);
  }

  @Test
  void aStateInAFileIsCreatedSpentCountedAndUsedByOne(@TempDir Path folder) throws IOException {
    Sampler<String, String> once = Sampler.numbers(table("labels")).inputTexts().outputTexts();
    Sampler<Double, String> again = Sampler.numbers(table("labels_again")).outputTexts();
    String file = Files.readString(VECTORS.resolve("labels_device.json"));
    Device<String, String> device = Device.read(file, once, again);
    String x = once.table.inputLabels.get(2);
    Path path = folder.resolve("state");
    FileStorage closed;
    try (FileStorage storage = new FileStorage(path)) {
      closed = storage;
      assertRefused("missing", () -> device.report(storage, x, 20, 0));
      device.create(storage, 20, 1, 0);
      assertRefused("present", () -> device.create(storage, 20, 1, 0));
      assertThrows(IllegalArgumentException.class, () -> device.create(storage, -1, 0, 0));
      assertThrows(IllegalArgumentException.class, () -> device.create(storage, 20, 4, 0));
      int most = Integer.MAX_VALUE;
      assertThrows(IllegalArgumentException.class, () -> device.create(storage, 20, 0, most));
      assertTrue(again.table.outputLabels.contains(device.report(storage, x, 20, 0)));
      assertRefused("exhausted", () -> device.report(storage, x, 20, 0));
      assertRefused("ahead", () -> device.report(storage, x, 121, 0));
      assertRefused("busy", () -> new FileStorage(path));
      assertThrows(IllegalArgumentException.class, () -> device.report(storage, "none", 21, 0));
    }
    assertRefused("busy", closed::load);
    assertEquals("rw-------", permissions(path));
    try (FileStorage storage = new FileStorage(path)) {
      assertEquals(2, device.serial(storage, 0));
      assertRefused("rolled-back", () -> device.serial(storage, 3));
    }
    assertThrows(FileRefused.class, () -> Device.read(file, once, once));
  }

  @Test
  void theFirstOutputIsRememberedLikeEveryOther() throws IOException {
    Sampler<Double, Double> sampler = Sampler.numbers(table("labels_out"));
    String file = Files.readString(VECTORS.resolve("labels_out_device.json"));
    Device<Double, Double> device = Device.read(file, sampler, sampler);
    Memory storage = new Memory();
    device.create(storage, 1, 2, 0);
    double first = device.report(storage, 1.0, 1, 0, RandomBytes.of(new byte[8]));
    assertEquals(sampler.table.law.outputs[0], first);
    assertEquals(first, device.report(storage, 1.0, 1, 0));
  }

  @Test
  void aNumberHasAsManyBytesAsItNeedsAndAtLeastOne() {
    long[] sizes = {1, 2, 256, 257, 65536, 65537, 1L << 32, (1L << 32) + 1};
    int[] expected = {1, 1, 1, 2, 2, 3, 4, 5};
    for (int i = 0; i < sizes.length; i++) assertEquals(expected[i], Law.bytesOf(sizes[i]));
  }

  private static String permissions(Path path) throws IOException {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(path));
  }

  @Test
  void threadsTogetherMakeNoMoreReportsThanAPeriodHas() throws Exception {
    Sampler<Double, Double> sampler = Sampler.numbers(table("additive"));
    String file = Files.readString(VECTORS.resolve("additive_device.json"));
    Device<Double, Double> device = Device.read(file, sampler, sampler);
    Memory storage = new Memory();
    device.create(storage, 1, 3, 0);
    AtomicInteger made = new AtomicInteger();
    Runnable ask =
        () -> {
          StateRefused refused =
              assertThrows(
                  StateRefused.class,
                  () -> {
                    while (Double.isFinite(device.report(storage, 0.5, 1, 0))) made.incrementAndGet();
                  });
          assertEquals("exhausted", refused.reason);
        };
    Thread[] threads = {new Thread(ask), new Thread(ask), new Thread(ask)};
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    assertEquals(3, made.get());
    assertEquals(4, device.serial(storage, 0));
  }

  @Test
  void aReportThatIsNotStoredIsNotGiven() throws IOException {
    Sampler<Double, Double> sampler = Sampler.numbers(table("additive"));
    String file = Files.readString(VECTORS.resolve("additive_device.json"));
    Device<Double, Double> device = Device.read(file, sampler, sampler);
    Memory storage = new Memory();
    device.create(storage, 1, 3, 0);
    storage.isFull = true;
    assertThrows(IOException.class, () -> device.report(storage, 0.5, 1, 0));
    assertEquals(1, device.serial(storage, 0));
  }
}
