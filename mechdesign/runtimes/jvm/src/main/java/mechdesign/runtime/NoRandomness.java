package mechdesign.runtime;

/** There is no secure randomness, and so no report. */
public final class NoRandomness extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  NoRandomness(Throwable cause) {
    super("no secure randomness", cause);
  }
}
