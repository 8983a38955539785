# SPDX-License-Identifier: MIT
"""Train a network of two layers for three steps, for the tests of torch's operators."""
import sys
import threading

import torch

try:
    import gputap
except ImportError:
    gputap = None

torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(4, 8)


def step():
    with torch.profiler.record_function('forward'):
        loss = net(data).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def train():
    for i in range(3):
        if gputap:
            with gputap.range(f'step {i}'):
                step()
        else:
            step()


@gputap.range('decorated') if gputap else lambda f: f
def decorated():
    return torch.ones(2) + 1


if 'thread' in sys.argv:
    worker = threading.Thread(target=train, name='worker')
    worker.start()
    worker.join()
elif 'raise' in sys.argv:
    try:
        with gputap.range('raises'):
            torch.ones(2) @ torch.ones(3)
    except RuntimeError:
        pass
    torch.ones(2) + 1
elif 'profile' in sys.argv:
    with torch.profiler.profile() as prof:
        train()
    print(sum(e.name == 'aten::linear' for e in prof.events()))
elif 'decorate' in sys.argv:
    decorated()
    decorated()
else:
    train()
print('%.6f' % net[0].weight.sum())
