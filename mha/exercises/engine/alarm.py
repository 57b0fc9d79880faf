"""Ends a call that takes too long, whatever the code that runs does with exceptions."""
import contextlib
import signal
import sys
import threading
import time

SOON = 1e-4                                                     # seconds to the next ring, after the first


class TooLong(Exception):
    """What a call that was ended raises outside: a type of its own, since an answer may raise a TimeoutError itself."""


class Ring(BaseException):
    """What it raises inside: no Exception, so that `except Exception` lets it pass."""


class Alarm:
    """`with Alarm(10):` raises TooLong after 10 seconds, those not counted in which others had the core.

    A bare `except:` catches one ring and meets the next: once it has rung, it rings again after SOON, and at the next
    line that is run, where the `except` itself is no longer inside its `try`.

    It rings in the main thread, where the system has timers for processes (Linux, macOS). In another thread, and on
    Windows, nothing is ended: there a loop without end is stopped by hand, by interrupting the kernel. A single long
    call of torch is ended when it comes back.
    """

    def __init__(self, seconds):
        self.seconds, self.rang, self.active = seconds, False, False

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return
        self.caller, self.tracer = sys._getframe(1), sys.gettrace()
        self.before = signal.signal(signal.SIGALRM, self.ring)
        self.active, self.due = True, clock() + self.seconds
        self.others = signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, kind, failure, where):
        if not self.active:
            return
        self.active = False                                     # first: a ring from here on is not heard
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        signal.setitimer(signal.ITIMER_REAL, *self.others)      # of whoever has set one before
        if self.rang:
            sys.settrace(self.tracer)
            raise TooLong(f"more than {self.seconds} seconds") from None

    def ring(self, number, frame):
        """The handler of the signal."""
        if not self.active or frame.f_code is Alarm.__exit__.__code__:
            return
        left = self.due - clock()
        if left > 0 and not self.rang:
            signal.setitimer(signal.ITIMER_REAL, max(left, SOON))
            return
        self.rang = True
        sys.settrace(self.ring_again)
        while frame and frame is not self.caller:
            frame.f_trace = self.ring_again
            frame = frame.f_back
        signal.setitimer(signal.ITIMER_REAL, SOON)
        raise Ring

    def ring_again(self, frame, event, _):
        """A trace function, which Python calls before each line."""
        if not self.active or frame.f_globals is globals():
            return None
        if event == "line":
            signal.setitimer(signal.ITIMER_REAL, SOON)
            raise Ring
        return self.ring_again


def clock(waited=None):
    """Seconds that count against a limit: not those in which a process waited for a core that others had."""
    return time.monotonic() - (waited_for_core() if waited is None else waited)


def waited_for_core(pid="self"):
    """Seconds in which a process could have run and had no core; 0 where the system does not tell."""
    with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/schedstat", "rb", 0) as told:
        return int(told.read().split()[1]) / 1e9
    return 0.0
