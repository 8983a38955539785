# SPDX-License-Identifier: MIT
"""Load the libraries that were built for the installed torch, and only if its version matches. The
libraries are in this package, which torch imports; programs import gputap.torch.

A C function of torch returns its version before any C++ function is used. If the version is
different or unknown, one line is printed and no library is loaded."""
import ctypes
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KINETO = '_ZN9libkineto3apiEv'  # libkineto::api()
AGAIN = 'pip install --force-reinstall ./torch'


def say(sentence):
    if not os.environ.get('GPUTAP_QUIET'):
        print('gputap: ' + sentence, file=sys.stderr)


def loaded_torch():
    """Return torch's library if it is loaded, else None."""
    try:
        return ctypes.CDLL('libtorch_cpu.so', mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def loaded_version(torch_library):
    """Return (major, minor), or None if torch has no such function."""
    try:
        read_version = torch_library.aoti_torch_abi_version
    except AttributeError:
        return None
    read_version.restype = ctypes.c_uint64
    number = read_version()
    return number >> 56 & 0xff, number >> 48 & 0xff


def is_prerelease(text):
    """Return true for a development version, whose C++ interface matches no release."""
    return bool(re.match(r'\d+\.\d+\.\d+[a-z.]', text))


def refusal(built, library):
    """Return the reason why @library, built for torch version @built, does not fit the loaded
    torch, or None if it does."""
    torch_library = loaded_torch()
    if not torch_library:
        return 'torch is not loaded, or has no libtorch_cpu.so'
    version = loaded_version(torch_library)
    text = getattr(sys.modules.get('torch'), '__version__', '')
    if version != built.NUMBERS[:2]:
        found = '%d.%d' % version if version else 'of an unknown version'
    elif (is_prerelease(text) or is_prerelease(built.VERSION)) and text != built.VERSION:
        found = text
    elif library == 'bridge' and not hasattr(torch_library, KINETO):
        return ('this torch was built without Kineto, so torch.profiler has no devices: '
                'install one with Kineto (pip)')
    else:
        return None
    return f'built for torch {built.VERSION}, but this torch is {found}: {AGAIN}'


def load(library):
    """Load the library "observer" or "bridge". If the library does not fit this torch, print one
    line and return None."""
    path = os.path.join(HERE, library + '.so')
    try:
        from gputap._shim import built
    except ImportError:
        say(f'the package was not built for any torch: {AGAIN}')
        return None
    why = refusal(built, library)
    if not why and not os.path.exists(path):
        why = f'built for a torch without Kineto, but this one has it: {AGAIN}'
    if why:
        say(f'{library}: {why}')
        return None
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        say(f'{library} cannot be loaded ({e}): {AGAIN}')
        return None


def autoload():
    """Load the observer. torch calls this at the end of `import torch`."""
    if not os.environ.get('GPUTAP_SESSION') or os.environ.get('GPUTAP_TORCH_OPERATORS') == '0':
        return
    observer = load('observer')
    if observer:
        from gputap._shim import built
        major, minor, patch = built.NUMBERS
        observer.gputap_torch_observe(10000 * major + 100 * minor + patch,
                                      int(os.environ.get('GPUTAP_TORCH_SHAPES') == '1'))
    if os.environ.get('GPUTAP_TORCH_MODULES') == '1':
        from gputap._shim import modules
        modules.observe()
