# SPDX-License-Identifier: MIT
"""libgputap-capture through ctypes: finds the library, declares its functions, turns its errors
into exceptions."""
from __future__ import annotations

import ctypes
import importlib
import os
import shutil
from ctypes import POINTER, c_bool, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Iterator, List, Optional

__all__ = ['ColumnInfo', 'Error', 'Health', 'StreamOptions', 'TableInfo', 'check', 'columns',
           'encode', 'library', 'make_capsule', 'tables']

NAME = 'libgputap-capture.so.0'


class Error(OSError):
    """An error of the library. `errno` is the number, str() the causes as text."""

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class _Sized(ctypes.Structure):
    """A struct that starts with its size."""

    def __init__(self, **values: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **values)


class Health(_Sized):
    """Counts of the records that captures lack: seen = recorded + lost + evicted + open_ranges."""
    seen: int
    recorded: int
    lost: int
    evicted: int
    open_ranges: int
    uncounted: int
    untraced: int
    bytes: int
    bad_bytes: int
    sessions: int
    unfinished: int
    is_whole: bool
    _fields_ = [('size', c_size_t), ('seen', c_uint64), ('recorded', c_uint64), ('lost', c_uint64),
                ('evicted', c_uint64), ('open_ranges', c_uint64), ('uncounted', c_uint64),
                ('untraced', c_uint64), ('bytes', c_uint64), ('bad_bytes', c_uint64),
                ('sessions', c_uint32), ('unfinished', c_uint32), ('is_whole', c_bool)]

    def as_dict(self) -> dict[str, int]:
        return {field[0]: getattr(self, field[0]) for field in self._fields_ if field[0] != 'size'}

    def problems(self) -> List[str]:
        """Return what is missing as a list of sentences' parts; empty if the captures are whole."""
        many = [(self.lost, '{:,} records lost'), (self.evicted, '{:,} records evicted'),
                (self.uncounted, 'records lost in {:,} places (number unknown)'),
                (self.untraced, '{:,} programs not traced'),
                (self.unfinished, '{:,} sessions unfinished: still running or killed'),
                (self.bad_bytes, '{:,} bytes damaged')]
        found = [text.format(number) for number, text in many if number]
        return found if found or self.is_whole else ['records missing at the end']

    def __repr__(self) -> str:
        return f"Health({', '.join(f'{k}={v}' for k, v in self.as_dict().items())})"


class TableInfo(_Sized):
    name: bytes
    description: bytes
    columns: int
    is_partitioned: bool
    _fields_ = [('size', c_size_t), ('name', c_char_p), ('description', c_char_p),
                ('columns', c_size_t), ('is_partitioned', c_bool)]


class ColumnInfo(_Sized):
    name: bytes
    description: bytes
    format: bytes
    unit: bytes
    is_dictionary: bool
    is_nullable: bool
    is_on_request: bool
    _fields_ = [('size', c_size_t), ('name', c_char_p), ('description', c_char_p),
                ('format', c_char_p), ('unit', c_char_p), ('is_dictionary', c_bool),
                ('is_nullable', c_bool), ('is_on_request', c_bool)]


class StreamOptions(_Sized):
    _fields_ = [('size', c_size_t), ('columns', POINTER(c_char_p)), ('column_count', c_size_t),
                ('batch_rows', c_size_t), ('partition', c_size_t), ('partitions', c_size_t),
                ('first_session', c_size_t), ('session_count', c_size_t)]


# The library --------------------------------------------------------------------

def _source_tree() -> Optional[str]:
    """Return the source tree that contains this file, or from which the package was installed."""
    here = os.path.dirname(os.path.realpath(__file__))
    tree = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    if os.path.isfile(os.path.join(tree, 'meson.build')):
        return tree
    try:  # written by the installation
        return str(importlib.import_module('gputap.built_from').TREE)
    except ImportError:
        return None


def _library_folders(prefix: str) -> Iterator[str]:
    """Yield the folders for libraries of an installation."""
    yield os.path.join(prefix, 'lib')
    yield os.path.join(prefix, 'lib', f'{os.uname().machine}-linux-gnu')
    yield os.path.join(prefix, 'lib64')


def find_folders() -> Iterator[str]:
    """Yield the folders that may contain gputap's libraries: those of the installation to which
    this package belongs, then those of the command in PATH."""
    here = os.path.dirname(os.path.realpath(__file__))
    # A wheel's library is in PREFIX/libexec/gputap, and this package in
    # PREFIX/lib/python3.x/site-packages, or in PREFIX after `pip install --target`.
    folder = here
    for _ in range(4):
        folder = os.path.dirname(folder)
        yield os.path.join(folder, 'libexec', 'gputap')
        yield from _library_folders(folder)
    share = os.path.join('share', 'gputap', 'python', 'gputap')
    if here.endswith(os.sep + share):
        yield from _library_folders(here[:-len(share)])
    tree = _source_tree()
    if tree:
        yield os.path.join(tree, 'build')
        yield os.path.join(tree, 'build', 'src', 'plugin')
    command = shutil.which('gputap')
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        yield folder  # a build folder
        yield os.path.join(folder, 'src', 'plugin')
        yield os.path.join(os.path.dirname(folder), 'libexec', 'gputap')
        yield from _library_folders(os.path.dirname(folder))


def _find() -> str:
    given = os.environ.get('GPUTAP_CAPTURE_LIBRARY')
    if given:
        return given
    for folder in find_folders():
        if os.path.exists(os.path.join(folder, NAME)):
            return os.path.join(folder, NAME)
    return NAME  # wherever the dynamic linker finds it


_FUNCTIONS = {
    'open': (c_int, POINTER(c_char_p), c_size_t, POINTER(Health), POINTER(c_void_p)),
    'close': (None, c_void_p),
    'where': (c_int, c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_void_p)),
    'health': (c_int, c_void_p, POINTER(Health)),
    'session_health': (c_int, c_void_p, c_size_t, POINTER(Health)),
    'error': (c_char_p,),
    'table_at': (c_int, c_size_t, POINTER(TableInfo)),
    'column_at': (c_int, c_char_p, c_size_t, POINTER(ColumnInfo)),
    'stream': (c_int, c_void_p, c_char_p, POINTER(StreamOptions), c_void_p),
    'capsule_destructor': (c_void_p, c_void_p),
}


# ELF's numbers of processors, as os.uname() names them
_PROCESSORS = {62: 'x86_64', 183: 'aarch64', 21: 'ppc64le', 243: 'riscv64', 258: 'loongarch64'}


def _explain(path: str, error: OSError) -> str:
    """Return a sentence that says why the library cannot be loaded, and what to do."""
    try:
        with open(path, 'rb') as f:
            head = f.read(20)
    except OSError:
        head = b''
    processor = _PROCESSORS.get(int.from_bytes(head[18:20], 'little'))
    here = os.uname().machine
    if head[:4] == b'\x7fELF' and processor and processor != here:
        return (f'gputap: {path} is for {processor}, and this machine is {here}: install gputap '
                'again with `pip install --force-reinstall gputap`')
    return (f'gputap: cannot load {path}: {error}. Install gputap, put its command into PATH, or '
            'name the library in GPUTAP_CAPTURE_LIBRARY')


def _load() -> Any:
    path = _find()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(_explain(path, e)) from e
    for name, (result, *arguments) in _FUNCTIONS.items():
        try:
            function = getattr(loaded, f'gputap_capture_{name}')
        except AttributeError:
            raise ImportError(f'gputap: {path} belongs to another version of gputap: it has no '
                              f'gputap_capture_{name}()') from None
        function.restype, function.argtypes = result, arguments
    return loaded


library = _load()


def check(status: int) -> None:
    """Raise the error of a call in this thread, unless its status is 0."""
    if status:
        text = os.fsdecode(library.gputap_capture_error()) or os.strerror(-status)
        raise Error(-status, text)


def encode(text: str, what: str) -> bytes:
    """Return a text for the library, which reads up to the first NUL."""
    if '\0' in text:
        raise ValueError(f'{what} contains a NUL character')
    return os.fsencode(text)


def tables() -> dict[str, TableInfo]:
    """Return {name: TableInfo} of all tables, in order."""
    found: dict[str, TableInfo] = {}
    while True:
        info = TableInfo()
        if library.gputap_capture_table_at(len(found), ctypes.byref(info)):
            return found
        found[info.name.decode()] = info


def columns(table: str, count: int) -> List[ColumnInfo]:
    """Return the ColumnInfo of all columns of a table."""
    found = [ColumnInfo() for _ in range(count)]
    for i, info in enumerate(found):
        check(library.gputap_capture_column_at(table.encode(), i, ctypes.byref(info)))
    return found


# Capsules ------------------------------------------------------------------------

_STREAM_BYTES = 5 * ctypes.sizeof(c_void_p)  # sizeof(struct ArrowArrayStream)
_NAME = b'arrow_array_stream'  # a capsule refers to this text
_libc = ctypes.CDLL(None)
_libc.malloc.restype, _libc.malloc.argtypes = c_void_p, (c_size_t,)
_libc.free.restype, _libc.free.argtypes = None, (c_void_p,)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(
    ('PyCapsule_New', ctypes.pythonapi))
_destructor = library.gputap_capture_capsule_destructor(
    ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p))


def make_capsule(open_stream: Callable[[int], None]) -> object:
    """Return a capsule with the stream that open_stream(address) opens. The library destroys the
    capsule: a function in Python could not run while an exception is propagated."""
    address = _libc.malloc(_STREAM_BYTES)
    if not address:
        raise MemoryError
    try:
        open_stream(address)
    except BaseException:
        _libc.free(address)
        raise
    return _new(address, _NAME, _destructor)
