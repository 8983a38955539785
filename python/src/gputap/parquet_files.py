# SPDX-License-Identifier: MIT
"""Writes the Parquet files of a unit of an export: distributes the rows of a stream over files, and
bounds the memory of what is not written yet.

    stream of batches ─► by file: pending batches ─► row groups ─► .part-0.parquet.part ─► rename

A file is whole or absent. Its metadata says which session it is from and what that session lacks.

Columns of texts are plain strings in the file (no ARROW:schema), in dictionary-encoded pages. Each
row group has only the texts that occur in it: a stream's dictionary contains all texts so far, and
pyarrow would write it whole, or give up the encoding when it exceeds a limit."""
import contextlib
import ctypes
import errno
import fcntl
import json
import os

import gputap
from gputap.parquet_plan import need_pyarrow

GROUP_ROWS = 131072
TEXT_ROWS = 4096  # rows of a batch of a table with texts that are not in a dictionary
PENDING_BYTES = 32 << 20  # rows of all files of a unit that are not written yet
DICTIONARY_BYTES = 8 << 20  # of a row group's column; longer row groups are divided
SMALL_DICTIONARY_BYTES = 16 << 10  # not worth the search for the used texts

COUNTS = ('seen', 'recorded', 'lost', 'evicted', 'open_ranges', 'uncounted', 'untraced',
          'bad_bytes')


class Busy(Exception):
    """Another process writes the same file."""


# Row groups -------------------------------------------------------------------

def _writer_options(pa, schema):
    """Return the options of a writer of batches with this schema."""
    texts = [f.name for f in schema
             if pa.types.is_dictionary(f.type) or pa.types.is_string(f.type)]
    encodings = {f.name: 'DELTA_BINARY_PACKED' for f in schema if pa.types.is_integer(f.type)}
    return {'compression': 'zstd', 'compression_level': 1, 'use_dictionary': texts,
            'column_encoding': encodings, 'write_statistics': True, 'store_schema': False,
            'max_rows_per_page': GROUP_ROWS, 'write_batch_size': 16384,
            'dictionary_pagesize_limit': 2 * DICTIONARY_BYTES}


def _used_texts(pa, column):
    """Return the array with a dictionary of only the texts that occur in it."""
    import pyarrow.compute as pc
    used = pc.unique(column.indices).drop_null()
    indices = pc.index_in(column.indices, value_set=used).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(used))


def row_groups(pa, batch):
    """Yield the batch as row groups whose dictionaries are of bounded size."""
    columns, dictionary_bytes = batch.columns, 0
    for i, column in enumerate(columns):
        if not pa.types.is_dictionary(column.type):
            continue
        if column.dictionary.nbytes > SMALL_DICTIONARY_BYTES:
            columns[i] = column = _used_texts(pa, column)
        dictionary_bytes = max(dictionary_bytes, column.dictionary.nbytes)
    if dictionary_bytes > DICTIONARY_BYTES and batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from row_groups(pa, batch.slice(0, half))
        yield from row_groups(pa, batch.slice(half))
    else:
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


# Files ------------------------------------------------------------------------

def metadata_of(plan, file, rows=None):
    """Return the metadata of a file. rows None: only what identifies the file."""
    found = {'version': gputap.__version__, 'dataset': plan.digest, 'table': file.table,
             'uuid': file.session.uuid, 'session': file.session.number,
             'part': f'{file.part}/{file.parts}', 'where': plan.where or ''}
    if rows is not None:
        health = plan.capture.health_of(file.session.number)
        found.update({name: getattr(health, name) for name in COUNTS})
        units = {c.name: c.unit for c in plan.capture.tables[file.table].columns if c.unit}
        found.update(end=file.session.end, rows=rows, units=json.dumps(units))
    return {f'gputap.{name}': str(value) for name, value in found.items()}


def is_written(plan, folder, file):
    """Return true if the file is there already, with the same content as this export's."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    try:
        metadata = pq.read_metadata(os.path.join(folder, file.path)).metadata or {}
    except (OSError, pa.ArrowException):
        return False
    return all(metadata.get(name.encode()) == value.encode()
               for name, value in metadata_of(plan, file).items())


def _temporary(path):
    """Return the name of a file until it is whole; readers ignore names that begin with a dot."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f'.{name}.part')


class Output:
    """A file that is being written, under a temporary name. Close it with finish() or drop()."""

    def __init__(self, plan, folder, file, schema, options):
        import pyarrow as pa
        import pyarrow.parquet as pq
        self.path = os.path.join(folder, file.path)
        self.temporary = _temporary(self.path)
        self.plan, self.file, self.rows, self.stream, self.writer = plan, file, 0, None, None
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.lock = self._take_lock()
        try:
            self.stream = pa.OSFile(self.temporary, 'wb')
            self.writer = pq.ParquetWriter(self.stream, schema, **options)
        except BaseException:
            self.drop()
            raise

    def _take_lock(self):
        """Open the temporary file, which a killed export may have left, and lock it."""
        while True:
            lock = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_ino == os.stat(self.temporary).st_ino:
                    return lock
            except BlockingIOError:
                os.close(lock)
                raise Busy(f'{self.path}: another export is writing it') from None
            except FileNotFoundError:
                pass
            except OSError as e:
                if e.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                    return lock  # a file system without locks
                os.close(lock)
                raise
            os.close(lock)

    def write(self, batch):
        for group in row_groups(_pyarrow(), batch):
            self.writer.write_batch(group, GROUP_ROWS)
        self.rows += batch.num_rows

    def finish(self):
        """Complete the file and give it its name. Return its size."""
        try:
            self.writer.add_key_value_metadata(metadata_of(self.plan, self.file, self.rows))
            self.writer.close()
            self.stream.close()
            size = os.stat(self.temporary).st_size
            os.rename(self.temporary, self.path)
        except BaseException:
            self.drop()
            raise
        os.close(self.lock)
        return size

    def drop(self):
        """Remove the unfinished file."""
        for close in (self.writer, self.stream):
            try:
                if close is not None:
                    close.close()
            except Exception:  # the first error is reported
                pass
        try:
            os.unlink(self.temporary)
        except FileNotFoundError:
            pass
        os.close(self.lock)


def _pyarrow():
    import pyarrow
    return pyarrow


def remove_unfinished(plan, unit, folder):
    """Remove the temporary files of a process that was killed while it wrote a unit. Those of
    another export, which are locked, stay."""
    for file in plan.keys_of(unit)[2]:
        temporary = _temporary(os.path.join(folder, file.path))
        with contextlib.suppress(OSError):
            lock = os.open(temporary, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(temporary)
            finally:
                os.close(lock)


# Units ------------------------------------------------------------------------

class Spread:
    """Distributes the rows of a unit over its files."""

    def __init__(self, plan, unit, folder, force):
        self.pa, self.plan, self.folder = need_pyarrow(), plan, folder
        self.column, self.keys, self.files = plan.keys_of(unit)
        self.wanted = {i for i, f in enumerate(self.files)
                       if force or not is_written(plan, folder, f)}
        self.pending = {i: [] for i in self.wanted}
        self.outputs, self.rows, self.bytes = {}, dict.fromkeys(self.wanted, 0), 0
        self.schema = self.options = None
        self.done_files = self.done_bytes = 0

    def begin(self, schema):
        """schema: of the batches' columns that are written."""
        self.schema, self.options = schema, _writer_options(self.pa, schema)

    def add(self, batch, values):
        """Add the rows of a batch. values: column `self.column` of the batch, or None."""
        if values is None:
            self._add_to(0, batch)
            return
        import pyarrow.compute as pc
        for value in pc.unique(values).to_pylist():
            target = self.keys.get(value, 0)
            if target in self.wanted:
                mine = pc.equal(values, value)
                self._add_to(target, batch.filter(mine))
        while self.bytes > PENDING_BYTES:
            self._flush(max(self.pending, key=lambda i: sum(b.nbytes for b in self.pending[i])))

    def _add_to(self, target, batch):
        self.pending[target].append(batch)
        self.rows[target] += batch.num_rows
        self.bytes += batch.nbytes
        if self.rows[target] >= GROUP_ROWS or self.bytes > PENDING_BYTES:
            self._flush(target, self.bytes > PENDING_BYTES)

    def _flush(self, target, is_all=True):
        """Write pending rows of a file; unless @is_all, only whole row groups."""
        batches = self.pending[target]
        self.bytes -= sum(b.nbytes for b in batches)
        self.pending[target], self.rows[target] = [], 0
        if len(batches) > 1:
            table = self.pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
            batches = table.to_batches()
        while batches:
            batch = batches.pop(0)
            for at in range(0, batch.num_rows, GROUP_ROWS):
                group = batch.slice(at, GROUP_ROWS)
                if is_all or group.num_rows == GROUP_ROWS:
                    self._output(target).write(group)
                else:
                    self.pending[target].append(group)
                    self.rows[target] += group.num_rows
                    self.bytes += group.nbytes

    def _output(self, target):
        if target not in self.outputs:
            self.outputs[target] = Output(self.plan, self.folder, self.files[target],
                                          self.schema, self.options)
        return self.outputs[target]

    def finish(self):
        """Write what is pending and complete all files, one by one."""
        for target in sorted(self.wanted):
            if self.pending[target]:
                self._flush(target)
            output = self._output(target)
            del self.outputs[target]
            self.done_bytes += output.finish()
            self.done_files += 1

    def drop(self):
        for output in self.outputs.values():
            output.drop()
        self.outputs.clear()


def write_unit(plan, unit, folder, force=False, each=lambda rows: None):
    """Write the files of a unit. each: called with the number of rows of every batch.
    Return (files written, files that were there already, rows, bytes)."""
    spread = Spread(plan, unit, folder, force)
    there = len(spread.files) - len(spread.wanted)
    if not spread.wanted:
        return 0, there, 0, 0
    rows = 0
    try:
        for item in _batches(plan, unit, spread):
            count = item[0].num_rows
            spread.add(*item)
            del item  # so that the next batch takes the same memory
            rows += count
            each(count)
        spread.finish()
    except BaseException:
        spread.drop()
        raise
    finally:
        _return_memory(spread.pa)
    return spread.done_files, there, rows, spread.done_bytes


def _return_memory(pa):
    """Return memory that this unit needed and the next may not: that of pyarrow, and that of the
    library's sorts."""
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


def _batches(plan, unit, spread):
    """Yield the batches of a unit and, in each, the values that choose the rows' file."""
    pa, table, names = spread.pa, plan.capture.tables[unit.table], plan.wanted[unit.table]
    read = names if spread.column in (None, *names) else [*names, spread.column]
    if unit.session is not None:
        table = table.of_sessions(unit.session.number)
    if unit.parts > 1:
        table = table.partitions(unit.parts)[unit.part]
    table = table.select(*read)
    is_text = any(c.type in ('string', 'list<int32>') for c in table.columns)
    reader = table.batches_of(TEXT_ROWS if is_text else GROUP_ROWS).reader()
    spread.begin(pa.schema([reader.schema.field(n) for n in names]))
    with contextlib.suppress(StopIteration):
        while True:
            batch = reader.read_next_batch()
            values = batch.column(read.index(spread.column)) if spread.column else None
            yield batch.select(names) if read != names else batch, values
            del batch, values
