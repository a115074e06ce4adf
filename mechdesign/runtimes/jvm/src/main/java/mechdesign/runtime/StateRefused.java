package mechdesign.runtime;

/** The state does not allow what was asked: nothing was stored, and nothing is reported. */
public final class StateRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** missing, damaged, other, rolled-back, past, ahead, exhausted, present or busy. */
  public final String reason;

  StateRefused(String reason) {
    super(reason);
    this.reason = reason;
  }
}
