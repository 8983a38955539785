# SPDX-License-Identifier: MIT
"""Train for 25 steps with torch alone, without an import of gputap. Each step also runs activities
on an OpenCL device."""
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torch_opencl  # noqa: E402

torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(25):
    with torch.profiler.record_function('step'):
        with torch.profiler.record_function('load'):
            data = torch.randn(4, 8)
            time.sleep(0.002)
        torch_opencl.fill(data)
        torch_opencl.device.finish()
        loss = net(data).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
print('trained')
