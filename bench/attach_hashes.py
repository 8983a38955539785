# SPDX-License-Identifier: MIT
"""Four threads hash, and check that the result stays the same (attach_campaign.py). Prints "ready",
runs until the standard input is closed, and prints "ok"."""
import hashlib
import sys
import threading

over, wrong = threading.Event(), []


def run(seed):
    first = None
    while not over.is_set():
        value = seed
        for _ in range(500):
            value = hashlib.sha256(value + b"x" * 4000).digest()
        first = first or value
        if value != first:
            wrong.append(seed)


threads = [threading.Thread(target=run, args=(bytes([i]),)) for i in range(4)]
for thread in threads:
    thread.start()
print("ready", flush=True)
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print("wrong" if wrong else "ok")
