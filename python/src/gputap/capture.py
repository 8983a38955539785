# SPDX-License-Identifier: MIT
"""Captures as tables, over libgputap-capture. Methods import pyarrow, pandas, polars and DuckDB
when they need them."""
import ctypes
import glob
import importlib
import os
import warnings
from html import escape

from gputap import command
from gputap.library import Error, Health, StreamOptions, check, columns, library, make_capsule
from gputap.library import tables as _tables

_TYPES = {b'b': 'bool', b's': 'int16', b'i': 'int32', b'l': 'int64', b'u': 'string',
          b'+l': 'list<int32>'}


class IncompleteWarning(UserWarning):
    """Captures do not contain everything, so sums over their tables are too small."""


def need(module, why):
    """Import a module that only this feature needs."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        package = module.split('.')[0]
        raise ImportError(f'{why} needs {package}: pip install {package}', name=package) from e


class Column:
    """A column of a table: name, type, unit ('ns', 'bytes', ''), nullable, on_request (only in
    streams that name it), description."""

    def __init__(self, info):
        self.name, self.unit = info.name.decode(), info.unit.decode()
        self.description = info.description.decode()
        self.type = 'dictionary<string>' if info.is_dictionary else _TYPES[info.format]
        self.nullable, self.on_request = info.is_nullable, info.is_on_request

    def __repr__(self):
        unit = f', {self.unit}' if self.unit else ''
        return f'<{self.name}: {self.type}{unit}{", nullable" if self.nullable else ""}>'


class Table:
    """A table of a capture. Anything that reads Arrow's PyCapsule protocol takes it:
    pyarrow.table(t), polars.DataFrame(t), duckdb.sql('select .. from t'). Each use reads the
    capture anew, as a stream of batches of bounded size."""

    def __init__(self, capture, info, names=None, part=(0, 0), sessions=(0, 0), rows=0):
        self._capture, self._info = capture, info
        self._names, self._part, self._sessions, self._rows = names, part, sessions, rows
        self.name, self.description = info.name.decode(), info.description.decode()

    def _with(self, **changes):
        state = {'names': self._names, 'part': self._part, 'sessions': self._sessions,
                 'rows': self._rows, **changes}
        return Table(self._capture, self._info, **state)

    @property
    def columns(self):
        """List of Column: those that are read."""
        found = [Column(c) for c in columns(self.name, self._info.columns)]
        if self._names is None:
            return [c for c in found if not c.on_request]
        by_name = {c.name: c for c in found}
        return [by_name[name] for name in self._names]

    def select(self, *names):
        """Return the table with these columns only, in this order. Other columns cost nothing."""
        known = [Column(c).name for c in columns(self.name, self._info.columns)]
        for name in names:
            if name not in known:
                self._with(names=list(names))._open(None)  # raises, with the nearest name
        return self._with(names=list(names))

    def batches_of(self, rows):
        """Return the table in batches of at most this number of rows; default: 65,536."""
        return self._with(rows=rows)

    def partitions(self, count):
        """Return parts of the table that can be read independently, by threads or tasks. Together
        they contain each row once. Tables other than calls and activities are in the first."""
        return [self._with(part=(i, count)) for i in range(count)]

    def of_sessions(self, first, count=1):
        """Return the rows of these sessions only."""
        return self._with(sessions=(first, count))

    def _open(self, address):
        """Open a stream into the struct at @address; None: only check the options."""
        names = None if self._names is None else (ctypes.c_char_p * len(self._names))(
            *(name.encode() for name in self._names))
        options = StreamOptions(columns=names, column_count=len(self._names or ()),
                                batch_rows=self._rows, partition=self._part[0],
                                partitions=self._part[1], first_session=self._sessions[0],
                                session_count=self._sessions[1])
        room = ctypes.create_string_buffer(64)
        check(library.gputap_capture_stream(self._capture._handle, self.name.encode(),
                                            ctypes.byref(options),
                                            address or ctypes.addressof(room)))

    def __arrow_c_stream__(self, requested_schema=None):
        return make_capsule(self._open)

    def reader(self):
        """Return a pyarrow.RecordBatchReader."""
        return need('pyarrow', 'reader()').RecordBatchReader.from_stream(self)

    def to_arrow(self):
        """Return a pyarrow.Table."""
        return self.reader().read_all()

    def to_pandas(self):
        """Return a pandas.DataFrame. Texts are categories."""
        need('pandas', 'to_pandas()')
        return self.to_arrow().unify_dictionaries().to_pandas()

    def to_polars(self):
        """Return a polars.DataFrame."""
        return need('polars', 'to_polars()').DataFrame(self)

    def __repr__(self):
        names = ', '.join(c.name for c in self.columns)
        return f'<gputap table {self.name}: {self.description}\n columns {names}>'

    def _repr_html_(self):
        rows = ''.join(f'<tr><td>{c.name}</td><td>{escape(c.type)}</td><td>{c.unit}</td>'
                       f'<td>{escape(c.description)}</td></tr>' for c in self.columns)
        return (f'<p>Table <b>{self.name}</b>: {escape(self.description)}</p><table>'
                f'<tr><th>column</th><th>type</th><th>unit</th><th></th></tr>{rows}</table>')


def _expand(paths):
    """Return the files and folders that a user names, with the patterns replaced by their
    matches."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found = []
    for path in paths:
        path = os.fspath(path)
        matches = [] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        found += matches or [path]
    return found


def open(paths, where=None):
    """Open captures together.

    paths: a path, a pattern ('job/*.gputap') or a folder, or a list of these; also sessions that
           are still running, which are read as far as they have been written
    where: expression of `gputap report --where`; only matching records are read
    Warns with IncompleteWarning if the captures do not contain everything."""
    files = _expand(paths)
    array = (ctypes.c_char_p * len(files))(*(os.fsencode(f) for f in files))
    health, handle = Health(), ctypes.c_void_p()
    check(library.gputap_capture_open(array, len(files), ctypes.byref(health),
                                      ctypes.byref(handle)))
    capture = Capture(handle, files)
    problems = health.problems()
    if problems:
        warnings.warn(f'{files[0]}{f" and {len(files) - 1} more" if len(files) > 1 else ""}: '
                      f'{", ".join(problems)}', IncompleteWarning, stacklevel=2)
    return capture if where is None else capture.where(where)


class Capture:
    """Captures that were opened together. Each table is an attribute: calls, activities, ranges,
    idle, .. (list: `tables`)."""

    def __init__(self, handle, paths, expressions=()):
        self._handle, self.paths, self._expressions = handle, paths, expressions
        self.tables = {name: Table(self, info) for name, info in _tables().items()}

    def __getattr__(self, name):
        found = self.__dict__.get('tables', {}).get(name)
        if found is None:
            raise AttributeError(f'gputap.Capture has no table or method {name!r}; tables: '
                                 f'{", ".join(self.__dict__.get("tables", ()))}')
        return found

    def __dir__(self):
        return sorted({*super().__dir__(), *self.tables})

    @property
    def health(self):
        """Counts of everything that is missing: a Health. is_whole is true if nothing is."""
        health = Health()
        check(library.gputap_capture_health(self._handle, ctypes.byref(health)))
        return health

    def where(self, expression):
        """Return the capture with only the records that match: 'range=step#7 and rank=3'."""
        at, handle = ctypes.c_size_t(), ctypes.c_void_p()
        try:
            check(library.gputap_capture_where(self._handle, expression.encode(),
                                               ctypes.byref(at), ctypes.byref(handle)))
        except Error as e:
            before = len(expression.encode()[:at.value].decode(errors='replace'))
            raise ValueError(f'{e}\n  {expression}\n  {" " * before}^') from None
        return Capture(handle, self.paths, (*self._expressions, expression))

    @property
    def expression(self):
        """The expression that selects records, or None."""
        return ' and '.join(f'({e})' for e in self._expressions) or None

    def summary(self, *options):
        """Return the first screen of `gputap report` (shown as such in a notebook); options such
        as '--all' or '-t', 'kernels'."""
        where = ['--where', self.expression] if self._expressions else []
        return command.Text(command.run('report', *self.paths, *where, *options))

    def compare(self, other, *options):
        """Compare with a later run, another Capture: what got slower or faster, beyond noise, as
        `gputap diff` finds. Returns a Comparison."""
        return command.compare(self, other, options)

    def connect(self):
        """Return a DuckDB connection in which each table is a view of its name."""
        from gputap import sql
        return sql.connect(self)

    def sql(self, query):
        """Run a query over the tables with DuckDB. Returns a DuckDB relation: .df(), .fetchall(),
        .pl(), .arrow(). The query may use the views of share/gputap/sql."""
        return self.connect().sql(query)

    def to_parquet(self, folder, **options):
        """Write all tables as Parquet files, as `gputap export -o FOLDER.parquet/`."""
        from gputap import parquet
        return parquet.export(self.paths, folder, where=self.expression, **options)

    def close(self):
        """Close the captures. Streams that are still being read stay valid."""
        handle, self._handle = self._handle, None
        if handle:
            library.gputap_capture_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if self.__dict__.get('_handle'):
            self.close()

    def __repr__(self):
        names = self.paths[0] if len(self.paths) == 1 else f'{len(self.paths)} captures'
        where = f' where {self.expression}' if self._expressions else ''
        return f'<gputap {names}{where}: {", ".join(self.tables)}>'


__all__ = ['Capture', 'Column', 'Error', 'Health', 'IncompleteWarning', 'Table', 'open']
