// A training of PyTorch with faults to plant, for the tests of hooks.
//
// Role: the program of trace_hooks_test.cc and call_hooks_test.cc.
#ifndef RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_PROGRAM_H_
#define RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_PROGRAM_H_

namespace rharness {

// Trains a small network of most things that hooks could trip over, once an argument, each of them
// "TRACE NAME=VALUE ...": where to write ("-": nowhere), and which faults to plant. Prints the
// digest of the weights of each.
inline constexpr char kTorch[] = R"py(
import hashlib, os, sys
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
on = {}.get

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)
    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        return x + 1.5 * y if on("FUNCTIONAL") else x + y

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), Block(4), Block(4)
        self.drop, self.rnn = nn.Dropout(0.1), nn.LSTM(32, 16, batch_first=True)
        self.head = nn.Linear(16, 10)
    def forward(self, x):
        x = self.b(self.a(F.relu(self.stem(x))))
        if on("BETWEEN"): x = x * 1.5
        x, _ = self.rnn(self.drop(x.reshape(x.shape[0], 8, 32)))
        return {"logits": self.head(x[:, -1])}

class Nudged(nn.BatchNorm2d):
    def forward(self, x): return super().forward(x) * (1 + 2.0 ** -21)

def break_hooks(after):
    import rharness_trace_torch
    left, original = [after], rharness_trace_torch.Tensors._facts
    def broken(self, tensor):
        left[0] -= 1
        if left[0] < 0: raise RuntimeError("planted")
        return original(self, tensor)
    rharness_trace_torch.Tensors._facts = broken
    return original

def train():
    torch.manual_seed(int(on("SEED") or 1))
    model = Net()
    if on("OPERATOR"): model.b.norm.eps = 1e-2
    if on("ROUNDING"): model.b.norm.__class__ = Nudged
    if on("NETWORK"): model.b.act = nn.Sequential(nn.ReLU(), nn.Identity())
    if on("GRADIENT"): model.b.conv.weight.register_hook(lambda g: g * (1 + 2.0 ** -21))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=float(on("MOMENTUM") or 0.9))
    if on("WATCH"):
        import rharness_trace
        watch = rharness_trace.watch(model, optimizer, steps="0-3,every=5")
    draw = torch.Generator().manual_seed(int(on("DATA") or 7))
    images = torch.randn(240, 1, 8, 8, generator=draw)
    labels = torch.randint(0, 10, (240,), generator=draw)
    order = torch.randperm(15, generator=torch.Generator().manual_seed(int(on("ORDER") or 1)))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for step in range(11):
        at = int(order[step]) * 16
        x, y = images[at:at + 16], labels[at:at + 16]
        if on("LABELS") and step == 2: y = (y + 1) % 10
        if on("DRAW") and step == 1: torch.rand(1)
        if on("NOTE"): watch.note("labels", y)
        loss = F.cross_entropy(model(x)["logits"], y)
        optimizer.zero_grad()
        loss.backward()
        if on("CLIP") and step == 2: nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        schedule.step()
        if on("WRITE") and step == 1:
            with torch.no_grad(): model.head.bias.add_(0.01)
        if on("EVALUATE"):
            model.eval()
            with torch.no_grad(): model(x)
            model.train()
    if on("WATCH"): watch.close()
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()

for argument in sys.argv[1:]:
    trace, *planted = argument.split(" ")
    on = dict(one.split("=") for one in planted).get
    os.environ.pop("RHARNESS_TRACE", None)
    if trace != "-": os.environ["RHARNESS_TRACE"] = trace
    original = break_hooks(int(on("BREAK"))) if on("BREAK") else None
    print(train(), flush=True)
    if original:
        import rharness_trace_torch
        rharness_trace_torch.Tensors._facts = original
)py";

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_PROGRAM_H_
