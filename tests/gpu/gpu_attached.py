# SPDX-License-Identifier: MIT
"""Sessions that attach to the process that imports this module, in a thread, as `gputap attach`
does. Usage: environment GPUTAP_COMMAND, GPUTAP_LIBRARY."""
import ctypes
import json
import os
import subprocess
import threading
import time

COMMAND, LIBRARY = os.environ["GPUTAP_COMMAND"], os.environ["GPUTAP_LIBRARY"]
FLUSHED_S = 0.5  # CUPTI's records are read ten times a second
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": os.environ.get("GPUTAP_LIBRARIES", "")}


def tap(*words):
    return subprocess.run([COMMAND, *words], env=ENVIRONMENT, text=True, capture_output=True,
                          check=True).stdout


class Session:
    """A session that records this process from attach() to end()."""

    def __init__(self, path, *options):
        self.path = path
        self.process = subprocess.Popen(
            [COMMAND, "run", "-q", "-f", "-o", path, *options, "--", "sh", "-c",
             "echo $GPUTAP_SESSION; read -r line"],
            env=ENVIRONMENT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder = self.process.stdout.readline().strip()
        self.status = self.seconds = None

    def attach(self):
        begin = time.perf_counter()
        self.status = ctypes.CDLL(LIBRARY).gputap_attach(self.folder.encode())
        self.seconds = time.perf_counter() - begin

    def attach_in_thread(self):
        thread = threading.Thread(target=self.attach)
        thread.start()
        return thread

    def end(self):
        """End the session and return its report."""
        time.sleep(FLUSHED_S)
        self.process.communicate("end\n", timeout=60)
        return json.loads(tap("report", "--json", "--top", "0", self.path))

    def events(self):
        return [event["text"] for event in
                json.loads(tap("info", "--json", self.path))["events"]]


def calls(report):
    return {row["name"]: row["calls"] for row in report["operations"]}


def kernels(report, part=""):
    return sum(row["count"] for row in report["kernels"] if part in row["name"])
