# SPDX-License-Identifier: MIT
"""Choose and load the libraries for the torch that a program has imported. torch imports this
package; programs import gputap.torch.

    torch-2.13/observer.so, bridge.so    for each torch version, from tools/torch-observers
    observer.so, bridge.so, built.py     for one torch: `pip install ./torch`; these take precedence

A C function of torch returns its version before any C++ function is used. If no library fits, one
line is printed and noted in the capture; calls and GPU activities are recorded all the same."""
import ctypes
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KINETO = '_ZN9libkineto3apiEv'  # libkineto::api()
AGAIN = 'pip install --force-reinstall ./torch'
BUILD = "build them in gputap's source tree: pip install ./torch"
_said = set()


def say(sentence):
    """Print a sentence on stderr, once."""
    if sentence not in _said and not os.environ.get('GPUTAP_QUIET'):
        print('gputap: ' + sentence, file=sys.stderr)
    _said.add(sentence)


def note_missing(sentence):
    """Note in the capture why operators are missing, if `gputap run` records this process."""
    note = getattr(ctypes.CDLL(None), 'gputap_attach_missing', None)
    if note:
        note(sentence.encode())


def loaded_torch():
    """Return torch's library if it is loaded, else None."""
    try:
        return ctypes.CDLL('libtorch_cpu.so', mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def loaded_version(torch_library):
    """Return (major, minor, patch), or None if torch has no such function."""
    try:
        read_version = torch_library.aoti_torch_abi_version
    except AttributeError:
        return None
    read_version.restype = ctypes.c_uint64
    number = read_version()
    return number >> 56 & 0xff, number >> 48 & 0xff, number >> 40 & 0xff


def is_prerelease(text):
    """Return true for a development version, whose C++ interface matches no release."""
    return bool(re.match(r'\d+\.\d+\.\d+[a-z.]', text))


def prebuilt_folders():
    """Return {(2, 13): folder} of the libraries that came with this package."""
    found = (re.fullmatch(r'torch-(\d+)\.(\d+)', name) for name in os.listdir(HERE))
    return {(int(m[1]), int(m[2])): os.path.join(HERE, m[0]) for m in found if m}


def read_built():
    """Return the module that names the torch that `pip install ./torch` built for, or None."""
    try:
        from gputap._shim import built
        return built
    except ImportError:
        return None


def is_built_for(built, version, text):
    """Return true if the libraries that are described by @built fit the loaded torch."""
    if not built or not version or built.NUMBERS[:2] != version[:2]:
        return False
    return text == built.VERSION or not (is_prerelease(text) or is_prerelease(built.VERSION))


def refusal(built, prebuilt, version, text):
    """Return the reason why no library fits the loaded torch, and the way out."""
    if not version:
        name = 'of an unknown version'
    else:
        name = text if is_prerelease(text) else '%d.%d' % version[:2]
    if not prebuilt:
        if not built:
            return f'the package was not built for any torch: {AGAIN}'
        return f'built for torch {built.VERSION}, but this torch is {name}: {AGAIN}'
    known = ' to '.join('%d.%d' % v for v in sorted({min(prebuilt), max(prebuilt)}))
    lacks = f'no libraries for torch {name}' if version else f'no libraries for a torch {name}'
    way_out = (BUILD if version and version[:2] in prebuilt else
               f'use torch {known}, or a newer gputap')
    return f'{lacks}: operators and devices of torch.profiler are not recorded; {way_out}'


def choose_folder(version, text):
    """Return the folder of the libraries for this torch, or None and the reason. version: numbers
    or None; text: torch.__version__."""
    built, prebuilt = read_built(), prebuilt_folders()
    if is_built_for(built, version, text):
        return HERE, None
    if version and version[:2] in prebuilt and not is_prerelease(text):
        return prebuilt[version[:2]], None
    return None, refusal(built, prebuilt, version, text)


def judge(text):
    """Return why a torch of version @text, which is not loaded, gets no libraries, or None. `gputap
    doctor` prints it."""
    numbers = re.match(r'(\d+)\.(\d+)\.(\d+)', text)
    return choose_folder(numbers and tuple(int(n) for n in numbers.groups()), text)[1]


def find_library(library):
    """Return (path, None), or None and the reason."""
    torch_library = loaded_torch()
    if not torch_library:
        return None, f'{library}: torch is not loaded, or has no libtorch_cpu.so'
    text = getattr(sys.modules.get('torch'), '__version__', '')
    folder, why = choose_folder(loaded_version(torch_library), text)
    if not folder:
        return None, f'{library}: {why}' if why.startswith('built for') else why
    if library == 'bridge' and not hasattr(torch_library, KINETO):
        return None, ('bridge: this torch was built without Kineto, so torch.profiler has no '
                      'devices: install one with Kineto (pip)')
    path = os.path.join(folder, library + '.so')
    if folder == HERE and not os.path.exists(path):
        return None, f'{library}: built for a torch without Kineto, but this one has it: {AGAIN}'
    return path, None


def load(library):
    """Load the library "observer" or "bridge". If none fits this torch, print one line and return
    None."""
    path, why = find_library(library)
    if path:
        try:
            return ctypes.CDLL(path)
        except OSError as e:
            why = (f'{library} cannot be loaded ({e}): ' +
                   (AGAIN if os.path.dirname(path) == HERE else BUILD))
    say(why)
    if library == 'observer':
        note_missing(why)
    return None


def autoload():
    """Load the observer. torch calls this at the end of `import torch`."""
    if not os.environ.get('GPUTAP_SESSION') or os.environ.get('GPUTAP_TORCH_OPERATORS') == '0':
        return
    observer = load('observer')
    if observer:
        major, minor, patch = loaded_version(loaded_torch())
        observer.gputap_torch_observe(10000 * major + 100 * minor + patch,
                                      int(os.environ.get('GPUTAP_TORCH_SHAPES') == '1'))
    if os.environ.get('GPUTAP_TORCH_MODULES') == '1':
        from gputap._shim import modules
        modules.observe()
