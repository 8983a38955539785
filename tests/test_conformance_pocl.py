# SPDX-License-Identifier: MIT
"""Test that PoCL's own test programs print the same output with and without gputap.

GPUTAP_POCL_TESTS names a folder of built programs `test_*`: tests/runtime/*.c of a PoCL checkout,
linked with its poclu and the OpenCL loader. The programs run in that folder, which must also
contain the headers that they open in the current folder.
"""

import json
import os
import pathlib
import re

import pytest

LIMIT = 600


def programs():
    folder = pathlib.Path(os.environ.get("GPUTAP_POCL_TESTS") or "/nonexistent")
    return sorted(p for p in folder.glob("test_*") if p.is_file() and os.access(p, os.X_OK))


def plain(text):
    """Return @text without the parts that differ between runs: addresses, and names of temporary
    files in PoCL's cache."""
    return re.sub(r"0x[0-9a-f]{6,}|tempfile[-_]\w+", "*", text)


@pytest.mark.timeout(2 * LIMIT + 20)
@pytest.mark.parametrize("name", [p.name for p in programs()] or ["none"])
def test_pocls_tests_say_the_same(run, gputap, work, name):
    found = {p.name: p for p in programs()}
    if not found:
        pytest.skip("GPUTAP_POCL_TESTS names no folder of built test programs of PoCL")
    path = found[name].resolve()

    # Each run has an empty cache: compiler warnings appear only when PoCL compiles.
    def answer(*prefix):
        cache = work / f"cache{len(prefix)}"
        cache.mkdir()
        result = run([*prefix, path],
                     status=None,
                     timeout=LIMIT,
                     cwd=path.parent,
                     env={"POCL_CACHE_DIR": cache})
        return result.status, plain(result.out), plain(result.err).replace(str(cache), "*")

    bare = answer()
    assert bare[0] >= 0, f"{name} dies without gputap: {bare}"
    assert answer(gputap, "run", "-q", "-o", work / "pocl.gputap", "--") == bare
    info = json.loads(run([gputap, "info", "--json", work / "pocl.gputap"]).out)
    assert info["end"] == "complete"
    # some programs exit without waiting for their last command
    assert info["dropped"] == info["dropped_by_reason"]["unfinished"]
