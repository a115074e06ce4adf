package mechdesign.runtime;

import java.io.IOException;
import java.util.List;

/** Replays the vectors of a device. */
final class DeviceReplay {
  private DeviceReplay() {}

  /** Reports of a device, and the states that it stores; and why it refuses. */
  static int device(String json, Table once, Table last, List<String[]> lines) throws IOException {
    Sampler<?, ?> first = Replay.codes(once);
    Device<?, ?> device = Device.read(json, first, Replay.codes(last));
    return Replay.each(lines, fields -> step(device, fields));
  }

  @SuppressWarnings("unchecked")
  private static <X> boolean step(Device<X, ?> device, String[] fields) throws IOException {
    String[] stored = {"-"};
    Storage storage =
        new Storage() {
          @Override
          public byte[] load() {
            return fields[1].equals("-") ? null : Replay.bytes(fields[1]);
          }

          @Override
          public void store(byte[] content) {
            stored[0] = Replay.digits(content);
          }
        };
    int period = Integer.parseInt(fields[2]);
    int least = Integer.parseInt(fields[3]);
    String said = "done";
    try {
      if (fields[0].equals("create")) {
        device.create(storage, period, Integer.parseInt(fields[4]), least);
      } else {
        RandomBytes from = RandomBytes.of(Replay.bytes(fields[6]));
        boolean isNumber = fields[5].length() == 16;
        Object x = isNumber ? (Object) Replay.number(fields[5]) : Integer.valueOf(fields[5]);
        said = Replay.digits(device.report(storage, (X) x, period, least, from));
        if (from.used() != Integer.parseInt(fields[7])) return false;
      }
    } catch (StateRefused refused) {
      said = refused.reason;
    } catch (IllegalArgumentException refused) {
      said = "input";
    }
    return said.equals(fields[8]) && stored[0].equals(fields[9]);
  }
}
