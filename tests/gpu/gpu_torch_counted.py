# SPDX-License-Identifier: MIT
"""Run x.add_(1.0) the given number of times, and memcpys of unique sizes."""
import json
import sys

import torch

ADDS, COPIES, NUMBERS = int(sys.argv[1]), 30, 123457
x = torch.ones(64, device="cuda")
host = torch.ones(NUMBERS).pin_memory()
device = torch.empty(NUMBERS, device="cuda")
for _ in range(ADDS):
    x.add_(1.0)
for _ in range(COPIES):
    device.copy_(host, non_blocking=True)
torch.cuda.synchronize()
print(json.dumps({"adds": ADDS, "copies": COPIES, "bytes": 4 * NUMBERS}))
