#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""taps_instance.py NM OBJCOPY DOMAIN NUMBER IN OUT: copy a domain's compiled taps for another
instance.

Compiling taps takes most of a build's time, and the taps of all instances differ only in the two
addresses of the instance's state. Therefore the taps are compiled once, as instance 0. The other
instances are copies of that object with different names: gt_<domain>_tap0_<f> becomes
gt_<domain>_tap<n>_<f>; gt_<domain>_taps and gt_<domain>_tables become the names that
runtime/tap_tables.inc gives the n-th element of each array.
"""

import subprocess
import sys


def main(nm, objcopy, domain, number, source, out):
    names = {
        f"gt_{domain}_taps": f"gt_{domain}_taps_{number}",
        f"gt_{domain}_tables": f"gt_{domain}_tables_{number}"
    }
    first = f"gt_{domain}_tap0_"
    for line in subprocess.run([nm, "-P", "-g", source],
                               text=True,
                               check=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        name = line.split()[0]
        if name.startswith(first):
            names[name] = f"gt_{domain}_tap{number}_" + name.removeprefix(first)
    with open(f"{out}.names", "w") as f:
        f.writelines(f"{old} {new}\n" for old, new in names.items())
    subprocess.run([objcopy, "--strip-debug", f"--redefine-syms={out}.names", source, out],
                   check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
