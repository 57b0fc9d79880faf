"""What ends a cell that runs too long, and a notebook whose grader was killed."""
import _thread
import multiprocessing
import os
import signal
import threading
import time

from mha.exercises.engine.alarm import clock


class Watch(threading.Thread):
    """Interrupts a cell that runs longer, as a learner would who presses the button, and each second until it ends.

    One thread for all cells: where one has used up the memory, no other thread would begin. And where whoever grades
    was killed, it ends this process and what that began.
    """

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.seconds, self.late, self.due = seconds, False, None
        self.start()

    def begin(self):
        """A cell begins."""
        self.late, self.due = False, [clock() + self.seconds]
        signal.signal(signal.SIGINT, self.interrupt)        # the cell before may have set another

    def end(self):
        self.due = None

    def interrupt(self, *_):
        if self.due:
            raise KeyboardInterrupt

    def run(self):
        while True:
            time.sleep(0.1)
            if is_left():
                os.killpg(0, signal.SIGKILL)
            due = self.due
            if due is None or clock() < due[0]:
                continue
            self.late, due[0] = True, due[0] + 1
            if hasattr(signal, "pthread_kill"):             # which also ends a sleep
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                _thread.interrupt_main()


def is_left():
    """Whether the process that grades is no more. No open file is asked, since a cell may have closed them all."""
    grader = multiprocessing.parent_process()
    if grader and hasattr(os, "killpg"):
        try:
            os.kill(grader.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:                             # it has another owner, so it is there
            pass
    return False
