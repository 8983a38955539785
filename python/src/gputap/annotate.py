# SPDX-License-Identifier: MIT
"""Annotate parts of the program, pause and resume recording. See the package's description."""
import ctypes
import functools
import itertools

__all__ = ['pause', 'range', 'resume']

_USER = 2  # enum gputap_range_kind
_keys = itertools.count(1 << 48)  # distinct from addresses, which torch's observer uses


def _functions():
    """Return the library's functions if `gputap run` has loaded the library and recording is on,
    else None."""
    process = ctypes.CDLL(None)
    try:
        begin, end, source = (process.gputap_range_begin, process.gputap_range_end,
                              process.gputap_range_source)
    except AttributeError:
        return None
    source.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    begin.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p]
    end.argtypes = [ctypes.c_uint64]
    return (begin, end) if source(None, 0) == 0 else None


_library = _functions()


def _begin(name, key):
    """Begin a range. @name: bytes that stay valid until the range ends."""
    if _library:
        _library[0](name, key, None)  # a range of the program


def _end(key):
    if _library:
        _library[1](key)


def _call(name):
    function = getattr(ctypes.CDLL(None), name, None)
    return function is not None and function() == 0


def pause():
    """Stop recording this process until resume(). Return False if this process is not traced."""
    return _call('gputap_pause')


def resume():
    """Resume recording, if the session records. Return False if this process is not traced."""
    return _call('gputap_resume')


class range:
    """A range of the program, usable as a context manager or decorator. Ranges of a thread nest."""

    def __init__(self, name):
        self._name = str(name).encode()
        self._open = []

    def __enter__(self):
        key = next(_keys)
        self._open.append(key)
        _begin(self._name, key)
        return self

    def __exit__(self, *exception):
        if self._open:
            _end(self._open.pop())
        return False

    def __call__(self, function):
        name = self._name.decode()

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            with range(name):
                return function(*args, **kwargs)

        return ranged
