# SPDX-License-Identifier: MIT
"""Create NVTX ranges: pushed and popped, started and ended, nested."""
import json

import torch

x = torch.ones(64, device="cuda")
for _ in range(20):
    with torch.cuda.nvtx.range("outer range"):
        torch.cuda.nvtx.range_push("inner range")
        x.add_(1.0)
        torch.cuda.nvtx.range_pop()
handle = torch.cuda.nvtx.range_start("started range")
torch.cuda.nvtx.range_end(handle)
torch.cuda.synchronize()
print(json.dumps({"outer range": 20, "inner range": 20, "started range": 1}))
