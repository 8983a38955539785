# SPDX-License-Identifier: MIT
"""Build the package gputap with pip (PEP 517), using only Python. torch/build_bridge.py builds the
same package with libraries for torch, and uses the functions of this file."""
import base64
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
NAME, PYTHON = 'gputap', '3.9'
ANY_PYTHON = 'py3-none-any'
# torch calls this entry point at the end of `import torch`
ENTRY_POINTS = f'[torch.backends]\n{NAME} = {NAME}._shim:autoload\n'


class Wrong(SystemExit):
    """The reason why the package cannot be built, with the solution."""


def version():
    with open(os.path.join(HERE, 'src', NAME, '__init__.py'), encoding='utf-8') as f:
        return re.search(r"^__version__ = '([^']+)'", f.read(), re.M).group(1)


def copy_package(tree):
    """Copy the package, with its views in SQL, to the folder @tree. Outside the source tree, the
    package finds gputap's build through the path of this source tree, if gputap is not
    installed."""
    package = os.path.join(tree, NAME)
    shutil.copytree(os.path.join(HERE, 'src', NAME), package,
                    ignore=shutil.ignore_patterns('__pycache__', '*.so', 'built.py'))
    views = os.path.join('share', NAME, 'sql')
    if os.path.isdir(os.path.join(TREE, views)):
        shutil.copytree(os.path.join(TREE, views), os.path.join(package, views))
    if os.path.isfile(os.path.join(TREE, 'meson.build')):
        with open(os.path.join(package, 'built_from.py'), 'w', encoding='utf-8') as f:
            f.write(f'# The source tree from which this package was installed.\nTREE = {TREE!r}\n')


def wheel_date():
    """Return the date of all files in a wheel: SOURCE_DATE_EPOCH, or the first that zip has."""
    seconds = int(os.environ.get('SOURCE_DATE_EPOCH', 0))
    return max(time.gmtime(seconds)[:6], (1980, 1, 1, 0, 0, 0))


def write_wheel(tree, wheel, info, files):
    """Write all files below @tree and the texts @files (name: text) to the folder @info, listed
    with their digests. The same files make the same bytes."""
    contents = {f'{info}/{name}': (text.encode(), 0o644) for name, text in files.items()}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            with open(path, 'rb') as f:
                contents[os.path.relpath(path, tree)] = f.read(), mode
    record = ''
    for name, (data, _) in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += f'{name},sha256={digest},{len(data)}\n'
    contents[f'{info}/RECORD'] = (record + f'{info}/RECORD,,\n').encode(), 0o644
    date = wheel_date()
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        # the folder with the metadata last, so that installers find it without a search
        for name, (data, mode) in sorted(contents.items(), key=lambda c: (c[0].startswith(info),
                                                                          c[0])):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data, compresslevel=9)


def make_wheel(wheel_directory, tree, name, summary, entry_points='', tag=ANY_PYTHON):
    """Make a wheel of @tree. Return the file name of the wheel."""
    release = f'{name}-{version()}'
    pure = 'true' if tag == ANY_PYTHON else 'false'
    files = {
        'METADATA': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version()}\n'
                    f'Summary: {summary}\nLicense: MIT\nRequires-Python: >={PYTHON}\n',
        'WHEEL': f'Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: {pure}\nTag: {tag}\n',
    }
    if entry_points:
        files['entry_points.txt'] = entry_points
    write_wheel(tree, os.path.join(wheel_directory, f'{release}-{tag}.whl'),
                f'{release}.dist-info', files)
    return f'{release}-{tag}.whl'


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as tree:
        copy_package(tree)
        return make_wheel(wheel_directory, tree, NAME, 'gputap for Python', ENTRY_POINTS)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """For `pip install -e`: a wheel that refers to the source tree."""
    with tempfile.TemporaryDirectory() as tree:
        with open(os.path.join(tree, f'{NAME}.pth'), 'w', encoding='utf-8') as f:
            f.write(os.path.join(HERE, 'src') + '\n')
        return make_wheel(wheel_directory, tree, NAME, 'gputap for Python', ENTRY_POINTS)


def build_sdist(sdist_directory, config_settings=None):
    raise Wrong('gputap: build the package from its folder: pip install ./python')


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []
