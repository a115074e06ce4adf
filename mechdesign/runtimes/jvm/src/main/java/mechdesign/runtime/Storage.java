package mechdesign.runtime;

import java.io.IOException;

/**
 * Where a device keeps its state. Threads may share one object of this type: a device synchronizes
 * on it from load to store. No two such objects, nor processes, may keep one state at a time.
 */
public interface Storage {
  /** The bytes stored last, or null. */
  byte[] load() throws IOException;

  /** Returns once they are there to stay. */
  void store(byte[] content) throws IOException;
}
