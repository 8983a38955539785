# SPDX-License-Identifier: MIT
"""The progress bar of the gputap command, on stderr: only on a terminal, and only for operations of
more than half a second."""
import os
import shutil
import sys
import time

WIDEST = 40


class Bar:
    """Call it with what is done and the total; end() removes the bar."""

    def __init__(self, what):
        self.what, self.start, self.last, self.shown = what, time.monotonic(), 0.0, False
        self.on = sys.stderr.isatty() and os.environ.get('TERM') != 'dumb'

    def __call__(self, done, total):
        now = time.monotonic()
        if not self.on or now - self.start < 0.5 or now - self.last < 0.1:
            return
        self.last, self.shown = now, True
        share = min(done / total, 1) if total else 1
        left = round((now - self.start) * (1 - share) / share) if share > 0.001 else 0
        columns = shutil.get_terminal_size().columns
        width = min(columns - 50 if columns > 60 else 10, WIDEST)
        bar = ''.join('#' if i < share * width else '.' for i in range(width))
        sys.stderr.write(f'\r{self.what:.24} [{bar}] {int(share * 100):3}%  {left} s left\x1b[K')
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write('\r\x1b[K')
            sys.stderr.flush()
        self.shown = False


__all__ = ['Bar']
