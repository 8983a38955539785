# SPDX-License-Identifier: MIT
"""Annotate parts of the program, pause and resume recording. See the package's description."""
from __future__ import annotations

import ctypes
import functools
import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, TypeVar
    Function = TypeVar('Function', bound=Callable[..., Any])

__all__ = ['pause', 'range', 'resume']

_keys = itertools.count(1 << 48)  # distinct from addresses, which torch's observer uses


def _functions() -> Optional[tuple[Any, Any]]:
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


library = _functions()  # None: this process is not traced


def begin(name: bytes, key: int) -> None:
    """Begin a range. name: bytes that stay valid until the range ends."""
    if library:
        library[0](name, key, None)  # a range of the program


def end(key: int) -> None:
    """End the range that began with this key."""
    if library:
        library[1](key)


def _call(name: str) -> bool:
    function = getattr(ctypes.CDLL(None), name, None)
    return function is not None and function() == 0


def pause() -> bool:
    """Stop recording this process until resume(). Return False if this process is not traced."""
    return _call('gputap_pause')


def resume() -> bool:
    """Resume recording, if the session records. Return False if this process is not traced."""
    return _call('gputap_resume')


class range:
    """A range of the program, usable as a context manager or decorator. Ranges of a thread nest."""

    def __init__(self, name: object) -> None:
        self._name = str(name).encode()
        self._open: list[int] = []

    def __enter__(self) -> range:
        key = next(_keys)
        self._open.append(key)
        begin(self._name, key)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._open:
            end(self._open.pop())

    def __call__(self, function: Function) -> Function:
        name = self._name.decode()

        @functools.wraps(function)
        def ranged(*args: Any, **kwargs: Any) -> Any:
            with range(name):
                return function(*args, **kwargs)

        return ranged  # type: ignore[return-value]
