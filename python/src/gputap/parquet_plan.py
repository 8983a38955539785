# SPDX-License-Identifier: MIT
"""Plans an export to Parquet: the captures' sessions, the units of work that processes and array
jobs share, and the files of each unit.

    unit = a table of one session, or a part of it      calls, activities, memory
           a table of all sessions, which is read once  the other tables

The plan depends only on the captures and the options, never on the number of processes, so that a
second run and the tasks of an array job find the same units."""
import hashlib
import json
import os

import gputap
from gputap.capture import need

# Tables of which each session is read separately. Others need the records of all sessions (idle,
# waits, ranges), or are small.
BY_SESSION = ('calls', 'activities', 'memory')
# Rows of a part. Readers such as Spark also read a file per task.
PART_ROWS = 4_000_000
PARTS_MOST = 64  # files of a table of one session
# The dependencies of this many records are written. More only if the table is named, because they
# take some 400 bytes of memory per record.
DEPENDENCIES_MOST = 250_000
RECORD_BYTES = 64  # at least one record is assumed for this many bytes of an unfinished capture
# The name that Hive gives to the partition in which a column is null; DuckDB, Spark, polars and
# pyarrow read it as null.
NULL = '__HIVE_DEFAULT_PARTITION__'
UNKNOWN_HOST = 'unknown'
NAME_BYTES = 200
# Characters that Hive and Spark write as %XX in the name of a partition.
_ESCAPED = {*map(chr, range(0x20)), *'\x7f"#%\'*/:=?\\{}[]^'}


def encode(value):
    """Return the name of the partition in which a column has this value. A name that is too long
    for a file system is cut."""
    if value is None:
        return NULL
    name, room = '', NAME_BYTES
    for c in str(value):
        c = f'%{ord(c):02X}' if c in _ESCAPED else c
        room -= len(c.encode(errors='replace'))
        if room < 0:
            break
        name += c
    return name


class Session:
    """A session: what its files are named after, and how much there is to write."""

    def __init__(self, row, processes, recorded, threads):
        self.number, self.uuid, self.bytes = row['session'], row['uuid'], row['bytes']
        self.host = row['host'] if row['host'] not in (None, NULL) else UNKNOWN_HOST
        self.rank, self.end = row['rank'], row['end']
        self.ranks = {p['process']: p['rank'] for p in processes}
        self.calls, self.activities = recorded.get('call', 0), recorded.get('activity', 0)
        self.records = max(self.calls + self.activities, self.bytes // RECORD_BYTES)
        self.threads = threads

    def describe(self):
        return {'session': self.number, 'uuid': self.uuid, 'host': self.host, 'rank': self.rank,
                'bytes': self.bytes, 'end': self.end}


def _by_session(table, *columns):
    """Return {session: [row, ..]} of a small table."""
    found = {}
    for batch in table.select('session', *columns).reader():
        for row in batch.to_pylist():
            found.setdefault(row['session'], []).append(row)
    return found


def read_sessions(capture):
    """Return the sessions of a capture, by number."""
    processes = _by_session(capture.processes, 'process', 'rank')
    threads = _by_session(capture.threads)
    counts = _by_session(capture.counts, 'kind', 'recorded')
    columns = ('uuid', 'host', 'rank', 'bytes', 'end')
    found = []
    for number, rows in sorted(_by_session(capture.sessions, *columns).items()):
        recorded = {}
        for row in counts.get(number, ()):
            recorded[row['kind']] = recorded.get(row['kind'], 0) + row['recorded']
        found.append(Session(rows[0], processes.get(number, ()), recorded,
                             len(threads.get(number, ()))))
    return found


class Unit:
    """A table of a session (None: of all sessions), or part `part` of `parts` of it. weight: its
    share of the work; rows: the expected number of rows, 0 if not known."""

    def __init__(self, table, session, part, parts, weight, rows):
        self.table, self.session, self.part, self.parts = table, session, part, parts
        self.weight, self.rows = weight, rows


class File:
    """A file of a unit. Its session and rank are those of the rows."""

    def __init__(self, unit, session, ranks):
        """ranks: a list of the rank, or an empty one in a dataset without ranks."""
        self.table, self.session, self.ranks = unit.table, session, ranks
        self.part, self.parts = unit.part, unit.parts

    @property
    def path(self):
        """Path in the dataset's folder."""
        part = f'-{self.part}' if self.parts > 1 else ''
        return os.path.join(f'table={self.table}',
                            f'host={encode(self.session.host)}',
                            *(f'rank={encode(rank)}' for rank in self.ranks),
                            f'part-{self.session.number}{part}.parquet')


class Plan:
    """Everything that is to be written. `digest` identifies the captures and the options."""

    def __init__(self, capture, where, tables, columns, arguments):
        self.capture = capture if where is None else capture.where(where)
        self.sessions = read_sessions(capture)
        self.where, self.arguments = where, arguments
        self.has_ranks = any(rank is not None for s in self.sessions
                             for rank in (s.rank, *s.ranks.values()))
        self.left_out = []  # names of tables that take too much memory
        self.wanted = self._choose(tables, columns or {})
        self.columns = columns
        self.bad_bytes = 0  # damage that the processes of the export have found
        identity = json.dumps(self.describe(), sort_keys=True)
        self.digest = hashlib.sha256(identity.encode()).hexdigest()
        self.units = [unit for table in self.wanted for unit in self._units_of(table)]

    def _choose(self, tables, columns):
        """Return {table: names of the columns of its files}, without those that are the names of
        folders."""
        found = {}
        for name in [*(tables or self.capture.tables), *columns]:
            if name not in self.capture.tables:
                raise ValueError(f'no table {name!r}: {", ".join(self.capture.tables)}')
        records = sum(s.records for s in self.sessions)
        for name in tables or self.capture.tables:
            if name == 'dependencies' and not tables and name not in columns and \
                    records > DEPENDENCIES_MOST:
                self.left_out.append(name)
                continue
            table = self.capture.tables[name]
            names = columns.get(name) or [c.name for c in table.columns]
            if name == 'calls' and self.arguments and 'arguments' not in names:
                names = [*names, 'arguments']
            table.select(*names)  # raises if there is no such column
            names = [n for n in names if n != 'host' and not (n == 'rank' and self.has_ranks)]
            if not names:
                raise ValueError(f'table {name}: no column is left for the files')
            found[name] = names
        return found

    def describe(self):
        """Return what a folder must have been written from, so that this export continues it."""
        return {'gputap': gputap.__version__, 'where': self.where, 'arguments': self.arguments,
                'columns': self.columns, 'sessions': [s.describe() for s in self.sessions]}

    def _units_of(self, table):
        records = sum(s.records for s in self.sessions)
        if table not in BY_SESSION:
            heavy = table in ('idle', 'waits', 'ranges', 'dependencies')
            return [Unit(table, None, 0, 1, 1 + (records // 3 if heavy else 0), 0)]
        return [unit for s in self.sessions for unit in self._parts_of(table, s)]

    def _parts_of(self, table, s):
        rows = {'calls': s.calls, 'activities': s.activities}.get(table, 0)
        weight = 1 + s.records // 4 + rows * (3 if table == 'activities' else 1)
        most = min(s.threads, PARTS_MOST // max(1, len(set(s.ranks.values()))))
        parts = max(1, min(most, rows // PART_ROWS))
        return [Unit(table, s, i, parts, weight // parts, rows // parts) for i in range(parts)]

    def share(self, part):
        """Return the units of share @part, (i, n), by size. Each unit is in one share."""
        units = sorted(self.units, key=lambda u: -u.weight)
        if part is None:
            return units
        number, count = part
        loads, mine = [0] * count, []
        for unit in units:
            least = loads.index(min(loads))
            loads[least] += unit.weight
            if least == number - 1:
                mine.append(unit)
        return mine

    def keys_of(self, unit):
        """Return (column, keys, files) of a unit: files[keys[v]] is the file of the rows in which
        the column has the value v. column None: all rows are in files[0]."""
        sessions = [unit.session] if unit.session else self.sessions
        names = [c.name for c in self.capture.tables[unit.table].columns]
        column = 'process' if 'process' in names else 'session' if 'session' in names else None
        own = 'rank' in names  # must come back as it is; otherwise the session's rank helps out
        files, keys, numbers = [], {}, {}
        for s in sessions if column else sessions[:1]:
            ranks = s.ranks if column == 'process' and s.ranks else {s.number: s.rank}
            for value, rank in ranks.items():
                rank = s.rank if rank is None and not own else rank
                if (s.number, rank) not in numbers:
                    numbers[s.number, rank] = len(files)
                    files.append(File(unit, s, [rank] if self.has_ranks else []))
                keys[value] = numbers[s.number, rank]
        return (column if len(files) > 1 else None), keys, files


def need_pyarrow():
    """Import pyarrow with what an export needs."""
    pyarrow = need('pyarrow', 'Parquet')
    parquet = need('pyarrow.parquet', 'Parquet')
    if not hasattr(parquet.ParquetWriter, 'add_key_value_metadata'):
        raise ImportError(f'Parquet needs pyarrow 16 or later, not {pyarrow.__version__}: '
                          'pip install -U pyarrow', name='pyarrow')
    return pyarrow


__all__ = ['File', 'Plan', 'Session', 'Unit', 'encode', 'need_pyarrow']
