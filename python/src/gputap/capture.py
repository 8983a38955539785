# SPDX-License-Identifier: MIT
"""Captures as tables, over libgputap-capture. Methods import pyarrow, pandas, polars and DuckDB
when they need them."""
from __future__ import annotations

import ctypes
import functools
import glob
import importlib
import os
import warnings
from html import escape
from typing import Any, Iterable, List, Optional, Tuple, Union

from gputap import command
from gputap.library import ColumnInfo, Error, Health, StreamOptions, TableInfo, check, columns
from gputap.library import encode, library, make_capsule
from gputap.library import tables as _tables

__all__ = ['Capture', 'Column', 'Error', 'Health', 'IncompleteWarning', 'Table', 'open']

_TYPES = {b'b': 'bool', b's': 'int16', b'i': 'int32', b'l': 'int64', b'u': 'string',
          b'+l': 'list<int32>'}
TYPE_CHECKING = False
Path = Union[str, bytes, 'os.PathLike[str]', 'os.PathLike[bytes]']


class IncompleteWarning(UserWarning):
    """Captures do not contain everything, so sums over their tables are too small."""


def need(module: str, why: str) -> Any:
    """Import a module that only this feature needs."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        package = module.split('.')[0]
        raise ImportError(f'{why} needs {package}: pip install {package}', name=package) from e


# Tables ---------------------------------------------------------------------------

class Column:
    """A column of a table."""
    name: str
    type: str  # 'bool', 'int16', 'int32', 'int64', 'string', 'dictionary<string>', 'list<int32>'
    unit: str  # 'ns', 'bytes'; '': none
    nullable: bool
    on_request: bool  # only in tables whose select() names the column
    description: str

    def __init__(self, info: ColumnInfo) -> None:
        self.name, self.unit = info.name.decode(), info.unit.decode()
        self.description = info.description.decode()
        self.type = 'dictionary<string>' if info.is_dictionary else _TYPES[info.format]
        self.nullable, self.on_request = info.is_nullable, info.is_on_request

    def __repr__(self) -> str:
        unit = f', {self.unit}' if self.unit else ''
        return f'<{self.name}: {self.type}{unit}{", nullable" if self.nullable else ""}>'


@functools.lru_cache(maxsize=None)
def _infos() -> dict[str, TableInfo]:
    return _tables()


@functools.lru_cache(maxsize=None)
def columns_of(table: str) -> Tuple[Column, ...]:
    """Return all columns of a table."""
    return tuple(Column(info) for info in columns(table, _infos()[table].columns))


class Table:
    """A table of a capture. Anything that reads Arrow's PyCapsule protocol takes it:
    pyarrow.table(t), polars.DataFrame(t), duckdb.sql('select .. from t'). Each use reads the
    capture anew, as a stream of batches of bounded size."""

    def __init__(self, capture: Capture, name: str, names: Optional[Tuple[str, ...]] = None,
                 part: Tuple[int, int] = (0, 0), sessions: Tuple[int, int] = (0, 0),
                 rows: int = 0) -> None:
        self._capture, self.name = capture, name
        self._names, self._part, self._sessions, self._rows = names, part, sessions, rows

    def _with(self, **changes: Any) -> Table:
        state = {'names': self._names, 'part': self._part, 'sessions': self._sessions,
                 'rows': self._rows, **changes}
        return Table(self._capture, self.name, **state)

    @property
    def description(self) -> str:
        return _infos()[self.name].description.decode()

    @property
    def columns(self) -> List[Column]:
        """The columns that are read."""
        if self._names is None:
            return [c for c in columns_of(self.name) if not c.on_request]
        by_name = {c.name: c for c in columns_of(self.name)}
        return [by_name[name] for name in self._names]

    @property
    def all_columns(self) -> List[Column]:
        """All columns of the table, also those on request."""
        return list(columns_of(self.name))

    def select(self, *names: str) -> Table:
        """Return the table with these columns only, in this order. Other columns cost nothing."""
        if not names:
            raise ValueError(f'select() needs names of columns of table {self.name}')
        selected = self._with(names=names)
        try:
            selected.__arrow_c_stream__()
        except Error as e:
            raise ValueError(str(e)) from None
        return selected

    def batches_of(self, rows: int) -> Table:
        """Return the table in batches of at most this number of rows; default: 65,536."""
        if rows < 1:
            raise ValueError(f'batches of {rows} rows: at least 1 is needed')
        return self._with(rows=rows)

    def partitions(self, count: int) -> List[Table]:
        """Return parts of the table that can be read independently, by threads or tasks. Together
        they contain each row once. Tables other than calls and activities are in the first."""
        if count < 1:
            raise ValueError(f'{count} partitions: at least 1 is needed')
        if self._part[1] > 1:
            raise ValueError('a partition cannot be divided: divide the whole table')
        return [self._with(part=(i, count)) for i in range(count)]

    def of_sessions(self, first: int, count: int = 1) -> Table:
        """Return the rows of these sessions only."""
        if first < 0 or count < 1:
            raise ValueError(f'{count} sessions from number {first}: sessions are numbered from 0')
        selected = self._with(sessions=(first, count))
        try:
            selected.__arrow_c_stream__()
        except Error as e:
            raise ValueError(str(e)) from None
        return selected

    def _open(self, address: int) -> None:
        """Open a stream into the struct at the address."""
        names = None if self._names is None else (ctypes.c_char_p * len(self._names))(
            *(encode(name, 'the name of a column') for name in self._names))
        options = StreamOptions(columns=names, column_count=len(self._names or ()),
                                batch_rows=self._rows, partition=self._part[0],
                                partitions=self._part[1], first_session=self._sessions[0],
                                session_count=self._sessions[1])
        check(library.gputap_capture_stream(self._capture.handle, self.name.encode(),
                                            ctypes.byref(options), address))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return make_capsule(self._open)

    def reader(self) -> Any:
        """Return a pyarrow.RecordBatchReader."""
        return need('pyarrow', 'reader()').RecordBatchReader.from_stream(self)

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table."""
        found = need('pyarrow', 'to_arrow()').table(self)
        self._capture.warn_of_new_problems(stacklevel=3)
        return found

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame. Texts are categories; nullable numbers have types such as
        Int64, because a float could not hold an id."""
        pandas = need('pandas', 'to_pandas()')
        arrow = need('pyarrow', 'to_pandas()').table(self).unify_dictionaries()
        self._capture.warn_of_new_problems(stacklevel=3)
        types = {'int16': pandas.Int16Dtype(), 'int32': pandas.Int32Dtype(),
                 'int64': pandas.Int64Dtype(), 'bool': pandas.BooleanDtype()}
        nullable = [f.name for f in arrow.schema if f.nullable and str(f.type) in types]
        rest = [name for name in arrow.column_names if name not in nullable]
        numbers = arrow.select(nullable).to_pandas(types_mapper=lambda type: types[str(type)])
        return pandas.concat([arrow.select(rest).to_pandas(), numbers],
                             axis='columns')[arrow.column_names]

    def to_polars(self) -> Any:
        """Return a polars.DataFrame."""
        found = need('polars', 'to_polars()').DataFrame(self)
        self._capture.warn_of_new_problems(stacklevel=3)
        return found

    def __reduce__(self) -> Any:
        return Table, (self._capture, self.name, self._names, self._part, self._sessions,
                       self._rows)

    def __repr__(self) -> str:
        names = ', '.join(c.name for c in self.columns)
        return f'<gputap table {self.name}: {self.description}\n columns {names}>'

    def _repr_html_(self) -> str:
        rows = ''.join(f'<tr><td>{c.name}</td><td>{escape(c.type)}</td><td>{c.unit}</td>'
                       f'<td>{escape(c.description)}</td></tr>' for c in self.columns)
        return (f'<p>Table <b>{self.name}</b>: {escape(self.description)}</p><table>'
                f'<tr><th>column</th><th>type</th><th>unit</th><th></th></tr>{rows}</table>')


# Captures -------------------------------------------------------------------------

def _expand(paths: Union[Path, Iterable[Path]]) -> List[str]:
    """Return the files that a user names: those that match a pattern, those in a folder."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    found: List[str] = []
    for each in paths:
        path = os.fsdecode(each)
        encode(path, 'the path of a capture')
        matches = []
        if os.path.isdir(path):
            matches = sorted(glob.glob(os.path.join(glob.escape(path), '*.gputap')))
        elif not os.path.exists(path):
            matches = sorted(glob.glob(path, recursive=True))
        found += matches or [path]
    if not found:
        raise ValueError('no capture is named')
    return found


def _open(files: List[str], expressions: Iterable[str] = ()) -> Capture:
    array = (ctypes.c_char_p * len(files))(*(os.fsencode(f) for f in files))
    health, handle = Health(), ctypes.c_void_p()
    check(library.gputap_capture_open(array, len(files), ctypes.byref(health),
                                      ctypes.byref(handle)))
    capture = Capture(handle, files)
    for expression in expressions:
        capture = capture.where(expression)
    return capture


def _reopen(files: List[str], expressions: Tuple[str, ...]) -> Capture:
    """Open a capture that another process has pickled."""
    return _open(files, expressions)


def open(paths: Union[Path, Iterable[Path]], where: Optional[str] = None) -> Capture:
    """Open captures together.

    paths: a path, a pattern ('job/*.gputap') or a folder, or a list of these; also sessions that
           are still running, which are read as far as they have been written
    where: expression of `gputap report --where`; only matching records are read
    Warns with IncompleteWarning if the captures do not contain everything. Damage of records is
    found when they are read: to_arrow() and so on warn of it, and Capture.health counts it."""
    files = _expand(paths)
    capture = _open(files, () if where is None else (where,))
    capture.warn_of_new_problems(stacklevel=3)
    return capture


class Capture:
    """Captures that were opened together. Each table is an attribute."""
    sessions: Table  # these attributes are made when they are used
    processes: Table
    threads: Table
    devices: Table
    queues: Table
    calls: Table
    activities: Table
    ranges: Table
    idle: Table
    waits: Table
    memory: Table
    events: Table
    windows: Table
    counts: Table
    losses: Table
    stacks: Table
    frames: Table
    open_calls: Table
    dependencies: Table

    def __init__(self, handle: ctypes.c_void_p, paths: List[str],
                 expressions: Tuple[str, ...] = ()) -> None:
        self._handle: Optional[ctypes.c_void_p] = handle
        self.paths, self._expressions = paths, expressions
        self._problems: List[str] = []  # of which the user has been warned

    @property
    def tables(self) -> dict[str, Table]:
        """All tables, by their names."""
        return {name: Table(self, name) for name in _infos()}

    if not TYPE_CHECKING:  # the tables are declared above
        def __getattr__(self, name):
            if name in _infos():
                return Table(self, name)
            raise AttributeError(f'gputap.Capture has no table or method {name!r}; tables: '
                                 f'{", ".join(_infos())}')

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *_infos()})

    @property
    def handle(self) -> ctypes.c_void_p:
        """The library's handle."""
        if self._handle is None:
            raise ValueError('the capture is closed')
        return self._handle

    @property
    def health(self) -> Health:
        """Counts of everything that is missing. is_whole is true if nothing is."""
        health = Health()
        check(library.gputap_capture_health(self.handle, ctypes.byref(health)))
        return health

    def health_of(self, session: int) -> Health:
        """Counts of everything that is missing in one session."""
        health = Health()
        check(library.gputap_capture_session_health(self.handle, session, ctypes.byref(health)))
        return health

    def warn_of_new_problems(self, stacklevel: int = 2) -> None:
        """Warn if something is missing of which the user does not know yet. Damaged records are
        found when they are read."""
        problems = self.health.problems()
        if problems != self._problems:
            self._problems = problems
            more = f' and {len(self.paths) - 1} more' if len(self.paths) > 1 else ''
            warnings.warn(f'{self.paths[0]}{more}: {", ".join(problems)}', IncompleteWarning,
                          stacklevel=stacklevel)

    def where(self, expression: str) -> Capture:
        """Return the capture with only the records that match: 'range=step#7 and rank=3'."""
        text = encode(expression, 'the expression')
        at, handle = ctypes.c_size_t(), ctypes.c_void_p()
        try:
            check(library.gputap_capture_where(self.handle, text, ctypes.byref(at),
                                               ctypes.byref(handle)))
        except Error as e:
            before = len(text[:at.value].decode(errors='replace'))
            raise ValueError(f'{e}\n  {expression}\n  {" " * before}^') from None
        found = Capture(handle, self.paths, (*self._expressions, expression))
        found._problems = self._problems
        return found

    @property
    def expression(self) -> Optional[str]:
        """The expression that selects records, or None."""
        return ' and '.join(f'({e})' for e in self._expressions) or None

    def summary(self, *options: str) -> command.Text:
        """Return the first screen of `gputap report` (shown as such in a notebook); options such
        as '--all' or '-t', 'kernels'."""
        where = ['--where', self.expression] if self.expression else []
        return command.Text(command.run('report', *command.files_of(self), *where, *options))

    def compare(self, other: Union[Capture, Path], *options: str) -> command.Comparison:
        """Compare with a later run, another Capture or its path: what got slower or faster, beyond
        noise, as `gputap diff` finds."""
        return command.compare(self, other if isinstance(other, Capture) else open(other), options)

    def connect(self) -> Any:
        """Return a DuckDB connection in which each table is a view of its name."""
        from gputap import sql
        return sql.connect(self)

    def sql(self, query: str) -> Any:
        """Run a query over the tables with DuckDB. Returns a DuckDB relation: .df(), .fetchall(),
        .pl(), .arrow(). The query may use the views of share/gputap/sql."""
        return self.connect().sql(query)

    def to_parquet(self, folder: str, **options: Any) -> Any:
        """Write all tables as Parquet files, as `gputap export -o FOLDER.parquet/`. Options: as for
        gputap.parquet.export()."""
        from gputap import parquet
        return parquet.export(self.paths, folder, where=self.expression, **options)

    def close(self) -> None:
        """Close the captures. Streams that are still being read stay valid."""
        handle, self._handle = self._handle, None
        if handle:
            library.gputap_capture_close(handle)

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self, close: Any = library.gputap_capture_close) -> None:
        # at the interpreter's exit, the module has no names any more
        handle = self.__dict__.pop('_handle', None)
        if handle:
            close(handle)

    def __reduce__(self) -> Any:
        return _reopen, (self.paths, self._expressions)

    def __repr__(self) -> str:
        names = self.paths[0] if len(self.paths) == 1 else f'{len(self.paths)} captures'
        where = f' where {self.expression}' if self.expression else ''
        return f'<gputap {names}{where}: {", ".join(_infos())}>'
