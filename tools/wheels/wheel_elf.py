# SPDX-License-Identifier: MIT
"""Read what a program or library needs from others, with readelf, which reads the files of all
processors."""
import re
from collections import namedtuple

from wheel_sources import run

# @needed: names of libraries. @versions: {library: set of versions}. @symbols: {symbol: version}
Dynamic = namedtuple("Dynamic", "machine soname needed versions symbols")


def read_dynamic(path):
    """Return the Dynamic of the ELF file @path."""
    text = run(["readelf", "-W", "-h", "-d", "-V", "--dyn-syms", path])
    machine = re.search(r"Machine:\s+(.*)", text).group(1)
    soname = re.search(r"\(SONAME\).*\[(.*)\]", text)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    versions = {}
    library = None
    for line in text.splitlines():
        found = re.search(r"Version: \d+\s+File: (\S+)", line)
        if found:
            library = found.group(1)
        found = re.search(r"Name: (\S+)\s+Flags: .*Version: ", line)
        if found and library:
            versions.setdefault(library, set()).add(found.group(1))
    symbols = dict(re.findall(r" UND (\w+)@([\w.]+)", text))
    return Dynamic(machine, soname.group(1) if soname else None, needed, versions, symbols)
