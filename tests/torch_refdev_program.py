# SPDX-License-Identifier: MIT
"""What tests/test_torch_backend.py runs on torch's device "refdev": torch_refdev_program.py NAME..
calls these functions, which print what they found."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "refdev"


# Models ------------------------------------------------------------------------------

class Block(nn.Module):
    """A transformer's."""
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.inputs(self.before(x)).view(batch, length, 3, self.heads,
                                                   width // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(a.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.block, self.guess = nn.Embedding(50, 32), Block(), nn.Linear(32, 50)

    def forward(self, x):
        return self.guess(self.block(self.words(x))).flatten(0, 1)


def make(model):
    torch.manual_seed(0)
    if model == "mlp":
        net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
        return net, torch.randn(64, 20), torch.randn(64, 4), F.mse_loss
    words = torch.randint(0, 50, (4, 11))
    return Language(), words[:, :-1], words[:, 1:].flatten(), F.cross_entropy


def train(model, optimizer, device=DEVICE, steps=10):
    """Losses."""
    net, x, y, measure = make(model)
    net, x, y, losses = net.to(device), x.to(device), y.to(device), []
    opt = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=False),
    }[optimizer](net.parameters())
    for _ in range(steps):
        opt.zero_grad()
        loss = measure(net(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def compare(model, optimizer):
    mine, cpu = train(model, optimizer), train(model, optimizer, "cpu")
    assert all(abs(a - b) < 1e-4 * abs(b) for a, b in zip(mine, cpu)), (mine, cpu)
    assert mine[-1] < mine[0]
    print("same losses")


def profile(model):
    """What a capture is made of."""
    train(model, "adam", steps=3)


# Operators ---------------------------------------------------------------------------

A, B, C = (4, 5), (1, 5), (2, 3, 6)
UNARY = {
    name: getattr(torch, name)
    for name in ("neg", "exp", "tanh", "sigmoid", "relu", "square", "sum", "mean", "t", "clone",
                 "cumsum0", "sort0") if hasattr(torch, name)
}
CASES = {
    "add": (lambda a, b: a + b, A, B), "add alpha": (lambda a, b: torch.add(a, b, alpha=2.5), A, B),
    "sub": (lambda a, b: a - b, B, A), "mul": (lambda a, b: a * b, A, B),
    "div": (lambda a, b: a / b, A, B), "add value": (lambda a: a + 1.5, A),
    "value minus": (lambda a: 2 - a, A), "divided value": (lambda a: 1 / a, A),
    "strided": (lambda a, b: a.t() + b.t(), A, A), "sliced": (lambda a: a[:, ::2] * 3, A),
    "in place": (lambda a, b: a.clone().mul_(b).add_(1).sub_(b), A, B),
    "many dimensions": (lambda a: a.permute(2, 0, 1).unsqueeze(1) + a.permute(2, 1, 0)[:, :2].
                        unsqueeze(2).expand(6, 2, 1, 2)[:, :1, :, :1], C),
    "sqrt": (lambda a: a.abs().sqrt(), A), "pow": (lambda a: a**3 + a**2, A),
    "addcmul": (lambda a, b: torch.addcmul(a, a, b, value=.5), A, B),
    "addcdiv": (lambda a, b: torch.addcdiv(a, a, b, value=.5), A, B),
    "lerp": (lambda a, b: torch.lerp(a, b, .3) + torch.lerp(a, b, .8), A, A),
    "gelu": (lambda a: F.gelu(a) + F.gelu(a, approximate="tanh"), A),
    "relu in place": (lambda a: F.relu_(a.clone()), A),
    "sum of rows": (lambda a: a.sum(1), A),
    "mean kept": (lambda a: a.mean((0, 2), keepdim=True), C),
    "sum of a view": (lambda a: a.transpose(0, 2).sum((1, 2)), C),
    "softmax": (lambda a: a.softmax(1) + a.transpose(0, 1).softmax(-1).transpose(0, 1), C),
    "log_softmax": (lambda a: a.log_softmax(-1) + a.log_softmax(0), C),
    "layer_norm": (lambda a: F.layer_norm(a, (6,)) + F.layer_norm(a, (3, 6)), C),
    "mm": (lambda a, b: a @ b.t() + (b @ a.t()).t(), A, A), "mv": (lambda a: a @ a[0], A),
    "matmul of batches": (lambda a: a @ a.transpose(1, 2) @ a[0], C),
    "addmm": (lambda a, b: torch.addmm(b, a, torch.ones(5, 5).to(a), beta=.5, alpha=2), A, B),
    "baddbmm": (lambda a: torch.baddbmm(a, a @ a.transpose(1, 2), a), C),
    "nothing inside": (lambda a: a[:, :0] @ a[:, :0].t(), A),
    "cat": (lambda a, b: torch.cat([a, b, a]), A, B),
    "cat of columns": (lambda a: torch.cat([a, a[:, :2]], 1), A),
    "stack, chunk": (lambda a: torch.stack(a.chunk(2, 0)[0].unbind(1)), A),
    "where": (lambda a: torch.where(a > 0, a, -a), A),
    "masked": (lambda a: a.masked_fill(a < 0, 0), A),
    "cumsum": (lambda a: a.cumsum(0), A), "sort": (lambda a: a.sort(1)[0], A),
    "mse": (lambda a, b: F.mse_loss(a, b) + F.mse_loss(a, b, reduction="sum"), A, A),
    "sum of nothing": (lambda a: a[:0].sum(), A), "contiguous": (lambda a: a.t().contiguous(), A),
    "resized": (lambda a: a.clone().resize_(2, 3), A),
    "unfold": (lambda a: a.unfold(1, 2, 1) * 1, A),
    "max": (lambda a: a.max(), A), "norm": (lambda a: a.norm(), A),
    "flip": (lambda a: a.flip(0), A),
}


def check(name, function, shapes, dtype):
    """The same values and gradients as the CPU's."""
    values = [torch.randn(s, dtype=torch.float64).to(dtype) for s in shapes]
    results = []
    for device in ("cpu", DEVICE):
        inputs = [v.to(device).detach().requires_grad_() for v in values]
        with torch.no_grad():
            alone = function(*inputs)
        out = alone if name == "resized" else function(*inputs)
        assert out.device.type == device, (name, out.device)
        if name != "resized":
            (out * out).sum().backward()
        results.append([alone, out] + [i.grad for i in inputs if i.grad is not None])
    for a, b in zip(*results):
        torch.testing.assert_close(b.cpu(), a, msg=lambda m: f"{name}: {m}")


def operators():
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.float64):
        for name, (function, *shapes) in CASES.items():
            check(name, function, shapes, dtype)
        for name, function in UNARY.items():
            check(name, function, [A], dtype)
    print(f"{len(CASES) + len(UNARY)} agree")


def whole_numbers():
    for dtype in (torch.int64, torch.int32, torch.bool, torch.float16, torch.bfloat16,
                  torch.complex64):
        a = torch.arange(12).reshape(3, 4).to(dtype)
        b = a.to(DEVICE)
        for f in (lambda t: t + t, lambda t: t.t().contiguous(), lambda t: t.to(torch.float64)
                  if not t.is_complex() else t * 2, lambda t: torch.cat([t, t]), lambda t: t * 2,
                  lambda t: t + 1.5, lambda t: t.sum()):
            torch.testing.assert_close(f(b).cpu(), f(a))
    big = torch.tensor([2**53 + 1])
    assert (big.to(DEVICE) + (2**53 + 1)).item() == 2**54 + 2
    print("same numbers")


def outs():
    a = torch.randn(3, 4).to(DEVICE)
    out = torch.empty(0, device=DEVICE)
    torch.add(a, a, out=out)
    assert out.shape == (3, 4)
    for strided in (torch.empty(4, 3, device=DEVICE).t(), torch.empty(3, 8, device=DEVICE)[:, ::2]):
        torch.mul(a, 2, out=strided)
        torch.testing.assert_close(strided.cpu(), a.cpu() * 2)
        torch.softmax(a, 1, out=strided)
        torch.testing.assert_close(strided.cpu(), a.cpu().softmax(1))
        torch.mm(a, torch.eye(4).to(DEVICE), out=strided)
        torch.testing.assert_close(strided.cpu(), a.cpu())
    wide = torch.empty(3, 4, device=DEVICE, dtype=torch.float64)
    torch.add(a, a, out=wide)
    torch.testing.assert_close(wide.cpu(), (a.cpu() * 2).double())
    print("as given")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
