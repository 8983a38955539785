# SPDX-License-Identifier: MIT
"""Build the package with pip (PEP 517), using only Python and a C++ compiler.

torch's C++ interface changes with every minor version. The libraries are therefore built from the
headers of the installed torch, and are valid only for its minor version. They take precedence over
the libraries of tools/torch-observers, which a wheel of gputap contains. pip hides installed
packages from a build, so this script searches for torch in the folders where this Python keeps its
packages. GPUTAP_TORCH names the torch folder."""
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(os.path.dirname(HERE), 'python')
if not os.path.isfile(os.path.join(SOURCES, 'build_package.py')):
    raise SystemExit(f'gputap: no build_package.py in {SOURCES}: build in the source tree, with '
                     'pip 21.3 or later')
sys.path.insert(0, SOURCES)
import build_package as package  # noqa: E402
from build_package import NAME, Wrong  # noqa: E402

SUPPORTED = ((2, 11), (2, 12), (2, 13), (2, 14), (2, 15))
FLAGS = ('-std=c++20', '-O2', '-fPIC', '-shared', '-fvisibility=hidden', '-w', '-DUSE_KINETO',
         '-DFMT_HEADER_ONLY', '-DNDEBUG', '-D_GLIBCXX_USE_CXX11_ABI=1')


def find_torch():
    """Return the folder of the installed torch."""
    given = os.environ.get('GPUTAP_TORCH')
    folders = [given] if given else [
        os.path.join(folder, 'torch')
        for folder in (sysconfig.get_path('platlib'), sysconfig.get_path('purelib'),
                       site.getusersitepackages(), '/usr/lib/python3/dist-packages')
    ]
    for folder in folders:
        if os.path.isfile(os.path.join(folder, 'version.py')):
            return folder
    raise Wrong(f'gputap: no torch in {", ".join(dict.fromkeys(folders))}: install torch first, or '
                'name its folder in GPUTAP_TORCH')


def torch_version(folder):
    with open(os.path.join(folder, 'version.py'), encoding='utf-8') as f:
        text = re.search(r"__version__ = '([^']+)'", f.read()).group(1)
    numbers = tuple(int(n) for n in re.match(r'(\d+)\.(\d+)\.(\d+)', text).groups())
    if numbers[:2] not in SUPPORTED:
        known = ', '.join('%d.%d' % v for v in SUPPORTED)
        raise Wrong(f'gputap: this gputap supports torch {known}, not {text}: install one of '
                    'these, or a newer gputap')
    return text, numbers


def find_compiler():
    found = shutil.which(os.environ.get('CXX', '').split(' ')[0] or 'g++') or shutil.which('c++')
    if not found:
        raise Wrong('gputap: no C++ compiler: install g++ (apt install g++), or name one in CXX')
    return os.environ.get('CXX', '').split() or [found]


def gputap_headers():
    """Return the folder of gputap headers in this source tree."""
    folder = os.environ.get('GPUTAP_INCLUDE') or os.path.join(os.path.dirname(HERE), 'include')
    if not os.path.isfile(os.path.join(folder, 'gputap', 'tool.h')):
        raise Wrong(f'gputap: no gputap headers in {folder}: build in the source tree, or name '
                    'their folder in GPUTAP_INCLUDE')
    return folder


def check_headers(folder, numbers):
    """Check that the headers exist and have the version that the folder claims."""
    include = os.path.join(folder, 'include')
    if not os.path.isfile(os.path.join(include, 'ATen', 'record_function.h')):
        raise Wrong(f'gputap: {folder} has no C++ headers: install torch from a wheel (pip)')
    with open(os.path.join(include, 'torch/headeronly/version.h'), encoding='utf-8') as f:
        found = dict(re.findall(r'^#define TORCH_VERSION_(\w+) (\d+)$', f.read(), re.M))
    found = tuple(int(found.get(part, -1)) for part in ('MAJOR', 'MINOR', 'PATCH'))
    if found != numbers:
        raise Wrong('gputap: torch %d.%d.%d has the headers of %d.%d.%d in %s: reinstall torch' %
                    (*numbers, *found, include))


def find_sources(folder):
    """Return the sources to build. Without Kineto, the bridge to torch.profiler is omitted."""
    if os.path.isfile(os.path.join(folder, 'include/kineto/libkineto.h')):
        return 'observer', 'bridge'
    print(f'gputap: {folder} has no Kineto: not building for torch.profiler', file=sys.stderr)
    return 'observer',


def compile_library(source, folder, output):
    include = os.path.join(folder, 'include')
    done = subprocess.run([
        *find_compiler(), *FLAGS, f'-I{gputap_headers()}', f'-I{include}', f'-I{include}/kineto',
        '-o', os.path.join(output, source + '.so'), os.path.join(HERE, 'shim', source + '.cpp'),
        f'-L{folder}/lib', '-ltorch_cpu', '-lc10'
    ], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Wrong(f'gputap: {source}.cpp does not compile with the headers of {folder}:\n'
                    + done.stdout)


def make_wheel(wheel_directory, tree, name, summary, entry_points):
    """Make a wheel of @tree for this machine. Return the file name of the wheel."""
    tag = 'py3-none-' + re.sub(r'[-.]', '_', sysconfig.get_platform())
    return package.make_wheel(wheel_directory, tree, name, summary, entry_points, tag)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = find_torch()
    text, numbers = torch_version(folder)
    check_headers(folder, numbers)
    with tempfile.TemporaryDirectory() as tree:
        package.copy_package(tree)
        shim = os.path.join(tree, NAME, '_shim')
        for source in find_sources(folder):
            compile_library(source, folder, shim)
        with open(os.path.join(shim, 'built.py'), 'w', encoding='utf-8') as f:
            f.write(f'# The torch that the libraries beside this were built for.\n'
                    f'VERSION = {text!r}\nNUMBERS = {numbers!r}\n')
        return make_wheel(wheel_directory, tree, NAME, 'gputap for Python and PyTorch',
                          package.ENTRY_POINTS)


def build_sdist(sdist_directory, config_settings=None):
    raise Wrong('gputap: build the package from its folder: pip install ./torch')


def get_requires_for_build_wheel(config_settings=None):
    return []
