"""``python -m mechdesign`` and the command ``mechdesign``: what Ctrl-C means is said before anything large is read."""

import os
import signal
import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it with exit code 130 at any moment, without a traceback."""
    _at_once()
    from mechdesign.cli import failures
    from mechdesign.cli.app import main as run, read_command

    read_command(sys.argv[1:])
    try:
        _unwinding()
        run()
    except KeyboardInterrupt:
        _at_once()
        failures.leave(failures.STOPPED, as_json=failures.is_json_asked(sys.argv[1:]))
    finally:
        _at_once()


_INTERRUPTED = 130


def _at_once() -> None:
    """While modules are read, and when all is done, nothing is open: leave without unwinding."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))


def _unwinding() -> None:
    """While a command works Ctrl-C unwinds it, so that no part of a file stays."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    import _thread
    import threading

    signal.signal(signal.SIGINT, signal.default_int_handler)
    usual = sys.unraisablehook

    def again(failure: "sys.UnraisableHookArgs") -> None:
        # an interrupt that met a finaliser or a callback would be printed and forgotten: it comes again in a moment
        if failure.exc_type is KeyboardInterrupt:
            moment = threading.Timer(0.02, _thread.interrupt_main)
            moment.daemon = True
            moment.start()
        else:
            usual(failure)

    sys.unraisablehook = again


if __name__ == "__main__":
    main()
