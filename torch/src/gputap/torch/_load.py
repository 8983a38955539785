# SPDX-License-Identifier: MIT
"""Loads the libraries that were built for the installed torch, and only for that."""
import ctypes
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def say(sentence):
    if not os.environ.get('GPUTAP_QUIET'):
        print('gputap: ' + sentence, file=sys.stderr)


def loaded_version():
    """(major, minor) of the torch that is loaded, by a C function of it; None: it has none."""
    try:
        f = ctypes.CDLL('libtorch_cpu.so').aoti_torch_abi_version
    except (OSError, AttributeError):
        return None
    f.restype = ctypes.c_uint64
    number = f()
    return number >> 56 & 0xff, number >> 48 & 0xff


def load(library):
    """The library, or None, told in one line. Nothing of C++ is touched before it is the right
    one."""
    path = os.path.join(HERE, library)
    try:
        from gputap.torch import _built
    except ImportError:
        say(f'the package was not built for any torch: pip install ./torch ({library})')
        return None
    version = loaded_version()
    if version != _built.NUMBERS[:2]:
        found = '%d.%d' % version if version else 'of an unknown version'
        say(f'{library} was built for torch {_built.VERSION}, this one is {found}: '
            'pip install --force-reinstall ./torch')
        return None
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        say(f'{library} cannot be loaded: {e}')
        return None


def autoload():
    """Called at the end of `import torch`."""
    if not os.environ.get('GPUTAP_SESSION') or os.environ.get('GPUTAP_TORCH_OPERATORS') == '0':
        return
    observer = load('_observer.so')
    if observer:
        from gputap.torch import _built
        major, minor, patch = _built.NUMBERS
        observer.gputap_torch_observe(10000 * major + 100 * minor + patch,
                                      int(os.environ.get('GPUTAP_TORCH_SHAPES') == '1'))
