package mechdesign.runtime;

/** A file is no table or device that this runtime can draw from. */
public final class FileRefused extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  FileRefused(String rule) {
    super("the file must " + rule);
  }

  static void unless(boolean isRight, String key) {
    if (!isRight) throw new FileRefused("have a right " + key);
  }
}
