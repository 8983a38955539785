# SPDX-License-Identifier: MIT
"""Writes captures as a dataset of Parquet files, with pyarrow: `gputap export job/*.gputap -o
job.parquet/`.

    job.parquet/_gputap.json                                        the captures and options
    job.parquet/table=calls/host=node1/rank=3/part-7.parquet        session 7
    job.parquet/table=calls/host=node1/rank=4/part-8-0.parquet      a large session: part 0

All captures are opened together, so that they have one clock, and ids are unique in the dataset.

host and rank are columns of the dataset, but not of the files: DuckDB, polars and Spark let the
folder's value replace a column of the same name, and pyarrow refuses the dataset if their types
differ. So the values of sessions.host, sessions.rank, processes.rank and waits.rank are names of
folders, and each row is in the folder of its value. Rows of the other tables are in the folder of
their process's rank, or if that is not known, of their session's.
Without a rank, the folder is rank=__HIVE_DEFAULT_PARTITION__, which all readers take for null. A
text such as `none` would make texts of all ranks: `where rank = 3` is then an error in DuckDB,
polars and pyarrow. pyarrow refuses a dataset in which all ranks are null, so a dataset without any
rank has no such folders, and the column `rank` is in the files. A host that is not known is
`unknown`.
Readers guess the types of these columns: a host that is named 007 becomes the number 7 unless the
reader is told otherwise (DuckDB: hive_types = {'host': varchar}).

Files: zstd level 1, row groups of 131,072 rows in the order of threads, delta-encoded integers,
dictionary-encoded texts (plain strings for the reader), statistics. Each file's metadata
(gputap.seen, gputap.lost, ..) says what its session lacks; these numbers are of the whole session,
not of the file's rows."""
from __future__ import annotations

import argparse
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import warnings
from typing import Any

import gputap
from gputap import parquet_jobs
from gputap.capture import IncompleteWarning
from gputap.capture import open as open_captures
from gputap.parquet_plan import Plan, need_pyarrow
from gputap.progress import Bar

INDEX = '_gputap.json'
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, KEPT_BYTES = -1, -3, 64 << 20  # of mallopt()


class FolderError(OSError):
    """The folder holds something else than this export's files."""


class Exported:
    """Result of an export: files written, files that were there already, rows and bytes written.
    problems: list of the captures' gaps, as text. left_out: tables that were not written, because
    they need much memory and were not named. is_damaged: a capture has no end or could not be
    read completely; the readable part was written."""

    def __init__(self) -> None:
        self.written = self.already_there = self.rows = self.bytes = 0
        self.problems: list[str] = []
        self.left_out: list[str] = []
        self.is_damaged = False

    def _add(self, result):
        written, there, rows, size = result
        self.written += written
        self.already_there += there
        self.rows += rows
        self.bytes += size

    def __repr__(self):
        return (f'<{self.written:,} files written, {self.already_there:,} already there: '
                f'{self.rows:,} rows, {self.bytes:,} bytes>')


def export(paths: list[str], folder: str, where: str | None = None,
           tables: list[str] | None = None, jobs: int | None = None,
           part: tuple[int, int] | None = None, columns: dict[str, list[str]] | None = None,
           arguments: bool = False, force: bool = False, progress: Any = None) -> Exported:
    """Write captures as Parquet files into a folder; returns an Exported.

    paths, where: as for gputap.open()
    tables:    names of the tables to write; None: all
    jobs:      number of processes; None: one for each processor, at most 8, and one for small
               captures
    part:      (i, n), from (1, n) to (n, n): write only this share of the files, for array jobs.
               All shares together are the whole dataset; their order does not matter
    columns:   {table: names of its columns}; None: all but those on request
    arguments: also write the arguments of calls, as text
    force:     replace what is in the folder; without it, files that are already there are kept,
               so that a second run completes an interrupted one
    progress:  called with (done, total)

    A file is whole or absent. Raises OSError if the folder cannot be written or holds another
    dataset, and ValueError for wrong arguments."""
    need_pyarrow()
    if part is not None and not 1 <= part[0] <= part[1]:
        raise ValueError(f'part {part[0]} of {part[1]}: parts are numbered from 1')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', IncompleteWarning)
        capture = open_captures(paths)
    with capture:
        plan = Plan(capture, where, tables, columns, arguments)
        _prepare(plan, os.fspath(folder), force, part, capture.paths)
        units, done = plan.share(part), Exported()
        done.left_out = plan.left_out
        processes = parquet_jobs.choose(jobs, units)
        for result in parquet_jobs.run(plan, units, folder, force, processes, progress):
            done._add(result)
        health = capture.health
        health.bad_bytes = max(health.bad_bytes, plan.bad_bytes)
        done.problems = health.problems()
        done.is_damaged = bool(health.unfinished or health.bad_bytes)
    return done


# The folder -------------------------------------------------------------------

def _read_index(folder):
    """Return what the dataset in the folder was written from; None: there is none, or it cannot
    be read."""
    try:
        with open(os.path.join(folder, INDEX), encoding='utf-8') as f:
            found = json.load(f)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write_index(folder, index):
    file, temporary = tempfile.mkstemp(prefix='._gputap', dir=folder)
    try:
        with open(file, 'w', encoding='utf-8') as f:
            json.dump(index, f, indent=1)
            f.write('\n')
        os.chmod(temporary, 0o666 & ~_umask())
        os.rename(temporary, os.path.join(folder, INDEX))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _difference(index, wanted):
    """Return how two datasets differ, as the end of a sentence; None: they are the same."""
    if index == wanted:
        return None
    if index is None:
        return 'was not written by gputap export'
    if index.get('gputap') != wanted['gputap']:
        return f'was written by another version of gputap ({index.get("gputap")})'
    if index.get('sessions') != wanted['sessions']:
        return 'was written from other captures, or these have changed since'
    return 'was written with other options (--where, columns or arguments)'


def _prepare(plan, folder, force, part, paths):
    """Make the folder, or check that it holds this export's dataset."""
    for path in paths:
        with contextlib.suppress(OSError):
            if os.path.samefile(path, folder):
                raise ValueError(f'{folder} is one of the captures')
    wanted = json.loads(json.dumps(plan.describe()))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        if not force:
            raise FolderError(f'{folder} exists: -f replaces it')
        os.unlink(folder)
    os.makedirs(folder, exist_ok=True)
    if not any(not name.startswith('.') for name in os.listdir(folder)):
        _write_index(folder, wanted)  # other shares may be doing the same
        return
    difference = _difference(_read_index(folder), wanted)
    if difference is None:
        return
    if not force:
        raise FolderError(f'{folder} {difference}: -f replaces it')
    if part is not None:
        raise FolderError(f'{folder} {difference}: remove it; a share does not replace it, '
                          'because another share may be writing there')
    _remove_dataset(folder)
    _write_index(folder, wanted)


def _remove_dataset(folder):
    """Remove the files of another dataset, and nothing else."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, INDEX))
    for ranks in [], ['rank=*']:
        for name in 'part-*.parquet', '.part-*.parquet.part':
            pattern = os.path.join(glob.escape(folder), 'table=*', 'host=*', *ranks, name)
            for file in glob.iglob(pattern):
                os.unlink(file)


# The command ------------------------------------------------------------------

def _parse_part(text):
    match = re.fullmatch(r'(\d{1,9})/(\d{1,9})', text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not a share such as 3/16")
    return int(match[1]), int(match[2])


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(_fail(message, 2))


def _parse(argv):
    parser = _Parser(prog='gputap export', description='Write captures as Parquet.')
    parser.add_argument('captures', nargs='+')
    parser.add_argument('-o', '--output', required=True, metavar='FOLDER')
    parser.add_argument('-f', '--force', action='store_true')
    parser.add_argument('-w', '--where', metavar='EXPR')
    parser.add_argument('-j', '--jobs', type=int, metavar='N')
    parser.add_argument('--part', type=_parse_part, metavar='I/N')
    parser.add_argument('--incomplete', action='store_true', help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _prepare_process():
    """Set up a process that does nothing but exporting."""
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # numpy would start threads
    # keep the memory of batches; returning it to the kernel after each costs a tenth of the time
    libc = ctypes.CDLL(None)
    for option in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
        libc.mallopt(option, KEPT_BYTES)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number, frame):
    raise KeyboardInterrupt


def _fail(text, status=1):
    print(f'gputap export: {text}', file=sys.stderr)
    return status


def _reason(error):
    """Return the sentence of an error of a file system or of a capture."""
    if error.errno and error.strerror:
        text = os.strerror(error.errno) if not isinstance(error, gputap.Error) else str(error)
        return f'{error.filename}: {text}' if error.filename else text
    return str(error)


def _run(options, bar):
    continues = 'the same command continues'
    try:
        done = export(options.captures, options.output, where=options.where, jobs=options.jobs,
                      part=options.part, force=options.force, progress=bar)
    except KeyboardInterrupt:
        return None, f'interrupted; {continues}'
    except parquet_jobs.Killed as e:
        return None, f'{e}; {continues}'
    except (FolderError, ImportError) as e:
        return None, str(e)
    except MemoryError:
        return None, f'out of memory; {continues}'
    except gputap.Error as e:
        return None, f'cannot read the captures: {e}'
    except OSError as e:
        return None, f'cannot write {options.output}: {_reason(e)}'
    except RuntimeError as e:
        return None, f'cannot write {options.output}: {e}'
    finally:
        bar.end()
    return done, None


def main(argv=None):
    """Run `gputap export` for Parquet. Return the exit status."""
    options = _parse(sys.argv[1:] if argv is None else argv)
    _prepare_process()
    try:
        done, error = _run(options, Bar('Parquet'))
    except ValueError as e:
        return _fail(e, 2)
    if error:
        return _fail(error)
    if done.already_there:
        print(f'gputap: {done.already_there:,} files of {options.output} were already there; '
              f'{done.written:,} were written', file=sys.stderr)
    if done.left_out:
        print(f'gputap: without the table {", ".join(done.left_out)}, which takes much memory for '
              "so many records; name it in to_parquet(tables=...) to write it", file=sys.stderr)
    if done.problems:
        print(f'gputap: the captures are incomplete: {", ".join(done.problems)}', file=sys.stderr)
    return 1 if done.is_damaged or options.incomplete else 0


if __name__ == '__main__':
    sys.exit(main())

__all__ = ['Exported', 'FolderError', 'export', 'main']
