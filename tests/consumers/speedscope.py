# SPDX-License-Identifier: MIT
"""Reads a file with speedscope's own build in headless Chromium. The build is npm's package
speedscope, unpacked in the folder that GPUTAP_SPEEDSCOPE names."""

import base64
import json
import os
import pathlib
import tempfile
import time

from consumers import perfetto_picture

# returns the page's text, which contains the profile's title, and the rows of the table "total,
# self, name" of all frames
TABLE = """(() => ({
    text: document.body.innerText,
    rows: [...document.querySelectorAll("table tr")].map(
        row => [...row.querySelectorAll("td")].map(cell => cell.innerText.trim()))
}))()"""


def page():
    """Return the path of speedscope's index.html, or None."""
    folder = os.environ.get("GPUTAP_SPEEDSCOPE")
    path = pathlib.Path(folder or "", "dist/release/index.html").resolve()
    return path if folder and path.exists() else None


def ask(file, wait_s=60):
    """Return {"text": text of the page, "rows": rows of its table of frames} for the first profile
    of the file."""
    browser = perfetto_picture.Browser((1200, 800))
    data = base64.b64encode(pathlib.Path(file).read_bytes()).decode()
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        # `speedscope FILE` opens a file in this way
        script.write("speedscope.loadFileFromBase64("
                     f"{json.dumps(pathlib.Path(file).name)}, {json.dumps(data)})")
        script.flush()
        return look(browser, f"{page().as_uri()}#localProfilePath={script.name}", wait_s)


def look(browser, address, wait_s):
    try:
        browser.open(address, (1200, 800))
        deadline = time.monotonic() + wait_s

        def wait_for(script):
            while not browser.evaluate(script):
                assert time.monotonic() < deadline, browser.evaluate("document.body.innerText")
                time.sleep(0.2)

        wait_for("document.body?.innerText.includes('Sandwich')")
        browser.evaluate("""[...document.querySelectorAll("div")].filter(
            d => d.innerText.trim().endsWith("Sandwich") && !d.querySelector("div")
        ).forEach(d => d.click())""")
        wait_for("[...document.querySelectorAll('table tr')].some(r => r.innerText.includes('%'))")
        return browser.evaluate(TABLE)
    finally:
        browser.close()
