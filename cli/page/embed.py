#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a C header from the page's style and script, with the hashes that the page's policy allows:
embed.py page.css page.js page.h"""

import base64
import hashlib
import pathlib
import sys


def main():
    *files, out = map(pathlib.Path, sys.argv[1:])
    parts = ["/* Made by cli/page/embed.py; do not edit. */\n"]
    for path in files:
        text = path.read_bytes()
        assert b"</" not in text.replace(b"</sc" + b"ript>", b""), "would end the element"
        name = path.suffix[1:]
        digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
        parts.append(f'#define PAGE_{name.upper()}_HASH "sha256-{digest}"\n')
        numbers = ",".join(map(str, text))
        parts.append(f"static const char page_{name}[] = {{{numbers},0}};\n")
    out.write_text("".join(parts))


if __name__ == "__main__":
    main()
