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
    assertTrue(Vectors.folder(VECTORS) > 4000);
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
    assertThrows(NoRandomness.class, () -> law.draw(1, none));
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

  /** Counts that do not add up would give reports of another law, or none: each field's check. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "response; \"bits\":32; \"bits\":0",
        "response; \"bits\":32; \"bits\":4294967328",
        "response; \"own\":1512633486; \"own\":1512633487",
        "response; \"other\":556466762; \"other\":-1",
        "hashing; \"hashes\":3; \"hashes\":0",
        "subset; \"own\":2474403178; \"own\":2474403177",
        "subset; \"subset\":3; \"subset\":9",
        "sketch; \"functions\":4; \"functions\":3",
        "sketch; \"buckets\":11; \"buckets\":0",
        "sketch; [1621524826,2673442470]; [1621524826,2673442471]",
        "sketch; [1621524826,2673442470]; [4294967296]",
        "sketch; [1621524826,2673442470]; [1621524826,null]",
        "sketch; \"count\":5; \"count\":4294967301",
        "finite; 5189199575106475; 5189199575106476",
        "finite; [\"-1.5\"; [null",
        "finite; [\"-1.5\"; [\"0\"",
        "finite; [5189199575106475,1908999839817259,1908999839817258]; null",
        "labels; \"inputs\":[\"; \"inputs\":[null,\"",
        "window; 644245094; 1751239733",
        "window; 1167493156; 1",
        "window; 1542498480; 1542498481",
        "window; [0,435503842; [-1,435503842",
        "window; 0.27500000000000002220446049250313080847263336181640625; NaN",
        "window; \"lower\":\"0\"; \"lower\":\"-1d\"",
        "unbiased; -576536897967832796; 576460752303437652",
        "unbiased; -576536897967832796; -9223372036854775808",
        "unbiased; \"shift\":43; \"shift\":4294967339",
        "pieces; \"cells\":4294967296; \"cells\":0",
        "additive; \"tail\":24110; \"tail\":65536",
        "additive; [807,; [807,0,",
        "additive; [807,; [806,",
        "clamped_noise; \"clamp\"; \"clasp\"",
        "clamped_noise; [\"-1\",\"1\"]; [\"-1\"]"
      })
  void aForgedTableIsRefused(String name, String part, String forged) throws IOException {
    String text = Files.readString(VECTORS.resolve(name + ".json"));
    assertTrue(text.contains(part));
    assertThrows(FileRefused.class, () -> Table.read(text.replace(part, forged)));
  }

  @Test
  void noiseThatHardlyEverEndsIsRefused() throws IOException {
    String text = Files.readString(VECTORS.resolve("additive.json"));
    String wide =
        text.replace("\"bits\":16", "\"bits\":32")
            .replaceAll("\"weights\":\\[[0-9,]*\\]", "\"weights\":[4294967296]");
    Table.read(wide.replace("\"tail\":24110", "\"tail\":4294901760"));
    String longer = wide.replace("\"tail\":24110", "\"tail\":4294901761");
    assertThrows(FileRefused.class, () -> Table.read(longer));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "\"values\":2; \"values\":4097",
        "\"values\":2; \"values\":4294967298",
        "\"reports\":4; \"reports\":0",
        "\"reports\":4; \"reports\":10001",
        "\"again\"; \"later\"",
        "null; \"822d9868830f20cf5705aafcd724e071b633b857eb301e75b913aba7b13cc76e\""
      })
  void aForgedDeviceIsRefused(String part, String forged) throws IOException {
    Sampler<Integer, byte[]> sampler = Sampler.items(table("response"));
    String text = Files.readString(VECTORS.resolve("response_device.json"));
    assertTrue(text.contains(part));
    String other = text.replace(part, forged);
    assertThrows(FileRefused.class, () -> Device.read(other, sampler, sampler));
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
                    while (device.report(storage, 0.5, 1, 0) != null) made.incrementAndGet();
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
