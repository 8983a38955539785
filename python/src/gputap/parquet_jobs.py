# SPDX-License-Identifier: MIT
"""Processes that write the units of an export to Parquet.

Workers are forked after the captures have been opened: all of them read the same state of a session
that is still running, and share the memory of the captures' indexes. Each takes the next unit when
it has finished one, largest first.

    parent ── number of a unit ──► worker        over a pipe for each worker
           ◄── ('rows', n), ('done', result), ('failed', error) ──

A worker that is told to end (SIGTERM) removes the file that it is writing, also when the parent
dies."""
import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import warnings
from multiprocessing import connection

from gputap.parquet_files import remove_unfinished, write_unit

SMALL = 2_000_000  # weight of an export that one process writes
PR_SET_PDEATHSIG = 1
ENDING_SECONDS = 10


class Killed(Exception):
    """A worker ended without an answer."""


class Progress:
    """Sums up the work of all units, and reports it."""

    def __init__(self, units, report):
        self.total, self.finished, self.report = sum(u.weight for u in units), 0, report
        self.rows = {}

    def add(self, unit, rows):
        self.rows[unit] = self.rows.get(unit, 0) + rows
        self._show()

    def end(self, unit):
        self.rows.pop(unit, None)
        self.finished += unit.weight
        self._show()

    def _show(self):
        if self.report:
            open_units = sum(min(rows / u.rows, 1) * u.weight
                             for u, rows in self.rows.items() if u.rows)
            self.report(int(self.finished + open_units), self.total)


def processors():
    """Return the number of available processors, at most 8."""
    return min(len(os.sched_getaffinity(0)), 8)


def choose(jobs, units):
    """Return the number of processes."""
    if multiprocessing.current_process().daemon:
        return 1  # such a process may not have children
    if jobs is None:
        jobs = 1 if sum(u.weight for u in units) < SMALL else processors()
    return max(1, min(jobs, len(units)))


def run(plan, units, folder, force, jobs, report):
    """Write the units. Yield (written, already there, rows, bytes) of each."""
    progress = Progress(units, report)
    if jobs > 1:
        yield from _run_workers(plan, units, folder, force, jobs, progress)
        return
    for unit in units:
        yield write_unit(plan, unit, folder, force, lambda n, unit=unit: progress.add(unit, n))
        progress.end(unit)


# Workers ----------------------------------------------------------------------

HELD = {signal.SIGINT, signal.SIGTERM}  # until a new worker handles them


def _end(number, frame):
    raise SystemExit(0)


def _work(pipe, plan, units, folder, force, parent):
    """Body of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    sys.unraisablehook = lambda _: None  # _end() while an object is being destroyed
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    import pyarrow
    pyarrow.set_cpu_count(1)
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        try:
            result = write_unit(plan, units[number], folder, force,
                                lambda n: pipe.send(('rows', n)))
        except BrokenPipeError:
            return
        except Exception as e:
            pipe.send(('failed', e if isinstance(e, OSError) else RuntimeError(str(e))))
            return
        bad = plan.capture.health.bad_bytes
        pipe.send(('done', (result, bad)))


class _Worker:
    def __init__(self, context, *arguments):
        self.pipe, other = context.Pipe()
        self.unit = None
        self.process = context.Process(target=_work, args=(other, *arguments), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
        try:
            with warnings.catch_warnings():  # of fork() in a program with threads
                warnings.simplefilter('ignore', DeprecationWarning)
                self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        other.close()

    def give(self, number, unit):
        self.unit = unit
        self.pipe.send(number)


def _run_workers(plan, units, folder, force, jobs, progress):
    context = multiprocessing.get_context('fork')
    workers, waiting = [], list(enumerate(units))[::-1]
    try:
        for _ in range(jobs):
            workers.append(_Worker(context, plan, units, folder, force, os.getpid()))
            workers[-1].give(*waiting.pop())
        while any(w.unit for w in workers):
            yield from _collect(plan, workers, waiting, progress)
    finally:
        for w in workers:
            w.process.terminate()
            w.pipe.close()
        for w in workers:
            w.process.join(ENDING_SECONDS)
            w.process.kill()  # if the signal came at a bad moment
            w.process.join()
            if w.unit:  # if the worker was killed, or told to end while it removed the file
                remove_unfinished(plan, w.unit, folder)


def _collect(plan, workers, waiting, progress):
    """Handle the messages that have come in."""
    by_pipe = {w.pipe: w for w in workers if w.unit}
    for pipe in connection.wait(by_pipe):
        worker = by_pipe[pipe]
        try:
            kind, value = pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            raise Killed(_why(worker.process.exitcode)) from None
        if kind == 'failed':
            raise value
        if kind == 'rows':
            progress.add(worker.unit, value)
            continue
        result, bad_bytes = value
        plan.bad_bytes = max(plan.bad_bytes, bad_bytes)
        progress.end(worker.unit)
        worker.unit = None
        if waiting:
            worker.give(*waiting.pop())
        yield result


def _why(code):
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f'a process of the export was killed by {signal.Signals(-code).name}'
    return f'a process of the export ended with status {code}'


__all__ = ['Killed', 'choose', 'processors', 'run']
