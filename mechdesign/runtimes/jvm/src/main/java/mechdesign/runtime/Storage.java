package mechdesign.runtime;

import java.io.IOException;

/** Where a device keeps its state. No two processes may use one storage at a time. */
public interface Storage {
  /** The bytes stored last, or null. */
  byte[] load() throws IOException;

  /** Returns once they are there to stay. */
  void store(byte[] content) throws IOException;
}
