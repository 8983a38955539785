# SPDX-License-Identifier: MIT
"""libgputap-capture through ctypes: finds the library, declares its functions, turns its errors
into exceptions."""
import ctypes
import os
import shutil
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p

NAME = 'libgputap-capture.so.0'


class Error(OSError):
    """An error of the library. `errno` is the number, str() the causes as text."""

    def __str__(self):
        return self.strerror or super().__str__()


class _Sized(ctypes.Structure):
    """A struct that starts with its size."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self), **values)


class Health(_Sized):
    """Counts of the records that captures lack: seen = recorded + lost + evicted + open_ranges."""
    _fields_ = [('size', c_size_t), ('seen', c_uint64), ('recorded', c_uint64), ('lost', c_uint64),
                ('evicted', c_uint64), ('open_ranges', c_uint64), ('uncounted', c_uint64),
                ('untraced', c_uint64), ('bytes', c_uint64), ('bad_bytes', c_uint64),
                ('sessions', c_uint32), ('unfinished', c_uint32), ('is_whole', c_bool)]

    def as_dict(self):
        return {name: getattr(self, name) for name, _ in self._fields_ if name != 'size'}

    def problems(self):
        """Return what is missing as a list of sentences' parts; empty if the captures are whole."""
        many = [(self.lost, '{:,} records lost'), (self.evicted, '{:,} records evicted'),
                (self.uncounted, 'records lost in {:,} places (number unknown)'),
                (self.untraced, '{:,} programs not traced'),
                (self.unfinished, '{:,} sessions unfinished: still running or killed'),
                (self.bad_bytes, '{:,} bytes damaged')]
        found = [text.format(number) for number, text in many if number]
        return found if found or self.is_whole else ['records missing at the end']

    def __repr__(self):
        return f"Health({', '.join(f'{k}={v}' for k, v in self.as_dict().items())})"


class TableInfo(_Sized):
    _fields_ = [('size', c_size_t), ('name', c_char_p), ('description', c_char_p),
                ('columns', c_size_t), ('is_partitioned', c_bool)]


class ColumnInfo(_Sized):
    _fields_ = [('size', c_size_t), ('name', c_char_p), ('description', c_char_p),
                ('format', c_char_p), ('unit', c_char_p), ('is_dictionary', c_bool),
                ('is_nullable', c_bool), ('is_on_request', c_bool)]


class StreamOptions(_Sized):
    _fields_ = [('size', c_size_t), ('columns', POINTER(c_char_p)), ('column_count', c_size_t),
                ('batch_rows', c_size_t), ('partition', c_size_t), ('partitions', c_size_t),
                ('first_session', c_size_t), ('session_count', c_size_t)]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [('get_schema', c_void_p), ('get_next', c_void_p), ('get_last_error', c_void_p),
                ('release', ctypes.CFUNCTYPE(None, c_void_p)), ('private_data', c_void_p)]


def _folders():
    """Yield the folders that may contain the library, the most specific first."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, 'lib')  # in a wheel
    command = shutil.which('gputap')
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        yield folder  # a build folder
        prefix = os.path.dirname(folder)
        yield os.path.join(prefix, 'lib')
        yield os.path.join(prefix, 'lib', f'{os.uname().machine}-linux-gnu')
        yield os.path.join(prefix, 'lib64')
    # in the source tree
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(here))), 'build')


def _find():
    given = os.environ.get('GPUTAP_CAPTURE_LIBRARY')
    if given:
        return given
    for folder in _folders():
        if os.path.exists(os.path.join(folder, NAME)):
            return os.path.join(folder, NAME)
    return NAME  # wherever the dynamic linker finds it


def _load():
    path = _find()
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f'gputap: cannot load {path}: {e}. Install gputap, put its command into '
                          'PATH, or name the library in GPUTAP_CAPTURE_LIBRARY') from e
    declare = {
        'open': (c_int, POINTER(c_char_p), c_size_t, POINTER(Health), POINTER(c_void_p)),
        'close': (None, c_void_p),
        'where': (c_int, c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_void_p)),
        'health': (c_int, c_void_p, POINTER(Health)),
        'error': (c_char_p,),
        'table_at': (c_int, c_size_t, POINTER(TableInfo)),
        'column_at': (c_int, c_char_p, c_size_t, POINTER(ColumnInfo)),
        'stream': (c_int, c_void_p, c_char_p, POINTER(StreamOptions), c_void_p),
    }
    for name, (result, *arguments) in declare.items():
        function = getattr(library, f'gputap_capture_{name}')
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def check(status):
    """Raise the error of a call in this thread, unless its status is 0."""
    if status:
        text = os.fsdecode(library.gputap_capture_error()) or os.strerror(-status)
        raise Error(-status, text)


def tables():
    """Return {name: TableInfo} of all tables, in order."""
    found = {}
    while True:
        info = TableInfo()
        if library.gputap_capture_table_at(len(found), ctypes.byref(info)):
            return found
        found[info.name.decode()] = info


def columns(table, count):
    """Return the ColumnInfo of all columns of a table."""
    found = [ColumnInfo() for _ in range(count)]
    for i, info in enumerate(found):
        check(library.gputap_capture_column_at(table.encode(), i, ctypes.byref(info)))
    return found


# Capsules ------------------------------------------------------------------

_streams = {}  # address of a stream that a capsule holds -> the struct
_NAME = b'arrow_array_stream'
_api = ctypes.pythonapi
_destructor_type = ctypes.PYFUNCTYPE(None, c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, _destructor_type)(
    ('PyCapsule_New', _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(('PyCapsule_GetPointer', _api))


@_destructor_type
def _release(capsule):
    """Release the stream of a capsule that nobody has consumed."""
    stream = _streams.pop(_pointer(capsule, _NAME), None)
    if stream is not None and stream.release:
        stream.release(ctypes.addressof(stream))


def make_capsule(open_stream):
    """Return a capsule with the stream that open_stream(address) opens."""
    stream = ArrowArrayStream()
    open_stream(ctypes.addressof(stream))
    _streams[ctypes.addressof(stream)] = stream
    return _new(ctypes.addressof(stream), _NAME, _release)


__all__ = ['ColumnInfo', 'Error', 'Health', 'StreamOptions', 'TableInfo', 'c_int32', 'c_int64',
           'check', 'columns', 'library', 'make_capsule', 'tables']
