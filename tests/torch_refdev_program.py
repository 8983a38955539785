# SPDX-License-Identifier: MIT
"""Functions that tests/test_torch_backend.py runs on torch's device "refdev".
torch_refdev_program.py NAME... calls these functions, which print their results."""
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "refdev"
# torch 2.11 prints this warning in each profile
warnings.filterwarnings("ignore", message=".*Profiler clears events at the end of each cycle")


# Models ------------------------------------------------------------------------------

class Block(nn.Module):
    """Transformer block."""
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
    """Train the model. Return the losses."""
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
    """Run the training that the test records as a capture."""
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
    """Compare values and gradients with those of the CPU."""
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


# Memory ------------------------------------------------------------------------------

def memory():
    start = torch.refdev.memory_allocated()
    t = torch.empty(1000, 1000, device=DEVICE)
    held = torch.refdev.memory_allocated() - start
    assert 4_000_000 <= held < 4_200_000, held
    address = t.data_ptr()
    del t
    assert torch.refdev.memory_allocated() == start
    again = torch.empty(1000, 1000, device=DEVICE)
    assert again.data_ptr() == address  # the stream reuses its memory at once
    del again
    torch.refdev.empty_cache()
    assert torch.refdev.memory_reserved() == start == 0, torch.refdev.memory_reserved()
    assert torch.refdev.max_memory_allocated() >= held
    free, total = torch.accelerator.get_memory_info()
    assert free == total
    print("given back")


def no_memory():
    """Allocate on a device of 8 MiB until memory runs out."""
    kept = torch.empty(1 << 20, device=DEVICE)
    for size in (1 << 18, 3 << 17, 5 << 17):  # freed blocks make room for the next
        torch.empty(size, device=DEVICE)
    try:
        torch.empty(1 << 21, device=DEVICE)
        print("no error")
    except torch.OutOfMemoryError as e:
        print(str(e).split(":")[0], "refdev:0 has no memory for 8388608 bytes" in str(e))
    assert torch.refdev.memory_stats()["num_ooms"] == 1 and kept.sum().numel()


def record_stream():
    side, other = torch.Stream(DEVICE), torch.randn(400, 400).to(DEVICE)
    t = torch.ones(400, 400, device=DEVICE)
    torch.refdev.synchronize()
    with side:
        busy = other @ other @ other
        result = t + 1
    t.record_stream(side)
    address = t.data_ptr()
    del t
    # while the other stream is busy, this stream must not get that memory again
    spoilt = [torch.zeros(400, 400, device=DEVICE) for _ in range(4)]
    if any(s.data_ptr() == address for s in spoilt):
        assert side.query()
    side.synchronize()
    assert (result.cpu() == 2).all() and busy.shape == other.shape
    found = [torch.zeros(400, 400, device=DEVICE) for _ in range(4)]
    assert address in {f.data_ptr() for f in found + spoilt}
    print("waited for")


def memory_profile():
    from torch.profiler import ProfilerActivity
    with torch.profiler.profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        t = torch.empty(1 << 20, device=DEVICE)
        del t
    use = [e.self_device_memory_usage for e in prof.events() if e.name == "aten::empty"]
    assert use == [4 << 20], use
    print("seen")


def pinned():
    a = torch.randn(1 << 16).pin_memory()
    assert a.is_pinned() and not torch.randn(3).is_pinned()
    b = a.to(DEVICE, non_blocking=True)
    expected = a.sum()
    del a
    c = torch.empty(1 << 16, pin_memory=True)
    c.copy_(b, non_blocking=True)
    torch.refdev.synchronize()
    torch.testing.assert_close(c.sum(), expected)
    print("copied")


# Streams, events, devices ------------------------------------------------------------

def streams():
    a = torch.randn(300, 300)
    b, side = a.to(DEVICE), torch.Stream(DEVICE)
    start, end = torch.Event(DEVICE, enable_timing=True), torch.Event(DEVICE, enable_timing=True)
    ready = torch.Event(DEVICE)
    start.record()
    c = b @ b
    ready.record()
    with side:
        assert torch.refdev.current_stream() == side
        side.wait_event(ready)
        d = c @ b
        end.record()
    assert torch.refdev.current_stream() != side
    end.synchronize()
    assert end.query() and side.query() and start.elapsed_time(end) > 0
    torch.testing.assert_close(d.cpu(), a @ a @ a, rtol=1e-3, atol=1e-2)
    assert len({torch.Stream(DEVICE).stream_id for _ in range(40)}) == 32
    print("in order")


def devices():
    """Use two devices."""
    assert torch.refdev.device_count() == 2
    a = torch.randn(30, 20)
    one = a.to("refdev:1")
    two = one.to("refdev:0") @ a.t().to("refdev:0")
    torch.testing.assert_close(two.cpu(), a @ a.t())
    torch.testing.assert_close(one.t().to("refdev:0").to("refdev:1").cpu(), a.t())
    assert (one + 1).device.index == 1 and torch.refdev.current_device() == 0
    with torch.refdev.device(1):
        assert torch.ones(2, device=DEVICE).device.index == 1
    try:
        print("no error", (one + two[:, :20]).device)
    except RuntimeError as e:
        print(str(e).split(",", maxsplit=1)[0], torch.refdev.current_device())


# The rest ----------------------------------------------------------------------------

def random():
    for draw in (lambda d: torch.rand(5, device=d), lambda d: torch.randn(5, device=d),
                 lambda d: torch.empty(5, device=d).uniform_(),
                 lambda d: torch.randperm(9, device=d),
                 lambda d: F.dropout(torch.ones(99, device=d))):
        results = []
        for device in ("cpu", DEVICE):
            torch.manual_seed(7)
            results.append(draw(device).cpu())
        torch.testing.assert_close(*results)
    state = torch.refdev.get_rng_state()
    first = torch.rand(3, device=DEVICE)
    torch.refdev.set_rng_state(state)
    assert (torch.rand(3, device=DEVICE) == first).all()
    own = torch.Generator(DEVICE).manual_seed(3)
    mine = torch.rand(3, device=DEVICE, generator=own)
    assert (mine.cpu() == torch.rand(3, generator=torch.Generator().manual_seed(3))).all()
    with torch.random.fork_rng(devices=[0], device_type=DEVICE):
        torch.rand(3, device=DEVICE)
    print("the same")


def files(path="t.pt"):
    net, *_ = make("mlp")
    torch.save(net.to(DEVICE).state_dict(), path)
    there = torch.load(path)
    assert all(v.device.type == DEVICE for v in there.values())
    here = torch.load(path, map_location="cpu")
    assert all((v == there[k].cpu()).all() for k, v in here.items())
    print("kept")


def fault(word):
    try:
        t = torch.ones(3, device=DEVICE) + 1
        torch.refdev.synchronize()
        print("no error", t.numel())
    except RuntimeError as e:
        print(str(e).split("\n", maxsplit=1)[0].split("(")[0])


def fork():
    import os
    torch.ones(3, device=DEVICE)
    child = os.fork()
    if not child:
        torch.manual_seed(1)
        try:
            torch.ones(3, device=DEVICE)
        except RuntimeError as e:
            print(torch.refdev._is_in_bad_fork(), str(e).split(": ")[1], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    assert not torch.refdev._is_in_bad_fork() and torch.ones(3, device=DEVICE).sum() == 3


def old_profiler():
    with torch.autograd.profiler.profile(use_device=DEVICE, use_kineto=False) as prof:
        a = torch.ones(200, 200, device=DEVICE)
        a @ a
    times = {e.key: e.device_time_total for e in prof.key_averages()}
    assert times["aten::mm"] > 0, times
    print("measured")


def profiler():
    """Run torch's own profiler, which knows the device by name and waits for the device at the
    end."""
    import json

    import gputap.torch
    from torch.profiler import ProfilerActivity
    train("transformer", "adam", steps=1)
    with torch.profiler.profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
        train("transformer", "adam", steps=2)
    rows = {e.key: e.self_device_time_total for e in prof.key_averages()}
    prof.export_chrome_trace("p.json")
    with open("p.json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    names = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    of = {(e["name"], names.get(e["args"].get("External id"))) for e in kernels}
    print(json.dumps({"counts": gputap.torch.counts(), "rows": rows, "kernels": len(kernels),
                      "of": sorted(of, key=str)}))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
