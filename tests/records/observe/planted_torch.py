"""Pairs of PyTorch runs, A and B, that differ in one planted thing, and the call that is to be named.

    PYTHONPATH=harness/records/observe/python python3 tests/records/observe/planted_torch.py FOLDER [NAME...]

Writes FOLDER/NAME/{A,B}/rank-0.calls and FOLDER/expected.jsonl, a line a pair: the operators of which
one is the right answer, its module and step, and how it shows: "arguments" or "group" that differ,
"inserted" or "missing" calls, an "input" that no call of the step made, "unseen" writes, "random"
state, or other "outputs" of equal inputs. "debug_mode": the first mismatch that PyTorch's own
DebugMode reports of the same pair, or why it has none.
"""

import contextlib
import json
import os
import shutil
import sys

import torch
import torch.nn.functional as F
from torch import nn

STEPS = 3
on = {}.get  # what is planted in this run


@torch.library.custom_op("planted::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * (1 + 2.0**-20) if on("kernel") and on("step") == 1 else x.clone()


scale.register_autograd(lambda context, gradient: gradient)


class Block(nn.Module):
    def __init__(self, index, width=32):
        super().__init__()
        self.index = index
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6 if on("eps") and index else 1e-5), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 64), nn.Linear(64, width)
        self.drop = nn.Dropout(0.2 if on("rate") and index else 0.1)
        self.mlp = torch.compile(self.feed) if on("compile") and index else self.feed

    def feed(self, x):
        return self.fc2(F.gelu(self.fc1(x) * (1.5 if on("constant") and self.index else 1.0)))

    def attend(self, x):
        b, t, d = x.shape
        q, k, v = (one.view(b, t, 4, d // 4).transpose(1, 2) for one in self.qkv(x).split(d, 2))
        mask = torch.ones(t, t).tril(1 if on("mask") and self.index else 0).bool()
        if on("eager") and self.index:
            scores = (q @ k.transpose(-1, -2) / (d // 4) ** 0.5).masked_fill(~mask, float("-inf"))
            mixed = scores.softmax(-1) @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).reshape(b, t, d))

    def forward(self, x):
        late = self.index == 1 and on("step") == 1
        bias = self.fc1.bias.detach().numpy()
        if on("numpy_weight") and late:
            bias[3] += 0.01
        x = x + self.attend(self.norm1(x))
        seen = x.detach().numpy()
        if on("numpy") and late:
            seen[0, 0, 0] += 0.5
        if on("data") and late:
            self.fc1.weight.data.mul_(1.01)
        if on("view") and late:
            with torch.no_grad():
                x.detach().view(-1)[:8].mul_(2)
        y = self.norm2(x) if on("alias") is None else self.clear(self.norm2(x))
        if on("cast") and late:
            y = y.bfloat16().float()
        with torch.autocast("cpu", torch.bfloat16, enabled=bool(on("autocast") and late)):
            y = self.mlp(y)
        return x + self.drop(scale(y.float()))

    def clear(self, y):
        """Clears the first token of a copy, or forgets the copy."""
        z = y.clone() if on("alias") == "copied" or self.index == 0 else y
        z.detach()[:, 0] = 0
        return y + z


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.blocks = nn.ModuleList(Block(index) for index in range(2))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 50)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)), x


def loss_of(net, x, y):
    out, hidden = net(x)
    with threads(2 if on("threads") else 1):
        penalty = (hidden.repeat(40, 1, 1) * 1.7).sum()
    torch.set_flush_denormal(bool(on("denormal")))
    tiny = (hidden.detach() * 1e-40).abs().max() * 1e38
    torch.set_flush_denormal(False)
    return F.cross_entropy(out.flatten(0, 1), y.flatten()) + 1e-6 * penalty * (1 + tiny)


@contextlib.contextmanager
def threads(number):
    torch.set_num_threads(number)
    yield
    torch.set_num_threads(1)


def plant(net, optimizer, x, y, step):
    """What happens between two steps, seen by no mode."""
    with torch.no_grad(), torch._C._DisableTorchDispatch():
        if on("row"):
            x = x.clone()
            x[3, 5] = (x[3, 5] + 1) % 50
        if on("label"):
            y = y.clone()
            y[0, 0] = (y[0, 0] + 1) % 50
        if on("swap"):
            first, second = net.blocks[0].fc1.weight, net.blocks[1].fc1.weight
            kept = first.clone()
            first.copy_(second)
            second.copy_(kept)
        if on("state"):
            optimizer.state[net.head.weight]["exp_avg"].zero_()
        if on("hook"):
            net.blocks[0].fc1.weight.register_hook(lambda gradient: gradient * (1 + 2.0**-20))
        if on("evaluate"):
            net.blocks[1].drop.eval()
        if on("seed"):
            torch.manual_seed(77)
        if on("draw"):
            torch.rand(1)
        if on("lr"):
            optimizer.param_groups[0]["lr"] = 2e-3
    return x, y


def train(planted, folder=None, around=contextlib.nullcontext()):
    global on
    settings = dict(planted)
    at = settings.pop("at", 1)
    on = settings.get
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.AdamW(
        net.parameters(), lr=1e-3, eps=1e-6 if on("epsilon") else 1e-8, weight_decay=0.1 if on("decay") else 0.01,
        **{"fused" if on("fused") else "foreach": True},
    )  # fmt: skip
    if folder:
        import rharness_trace

        watch = rharness_trace.watch(net, optimizer, steps="0-9", path=folder + "/", operators=True)
    draw = torch.Generator().manual_seed(7)
    batches = [(torch.randint(0, 50, (4, 16), generator=draw), torch.randint(0, 50, (4, 16), generator=draw))
               for _ in range(STEPS)]  # fmt: skip
    with around:
        for step, (x, y) in enumerate(batches):
            settings["step"] = step
            train_step(net, optimizer, x, y, step, step == at)
    if folder:
        watch.close()
    return torch.cat([parameter.detach().flatten() for parameter in net.parameters()])


def train_step(net, optimizer, x, y, step, now):
    if now:
        x, y = plant(net, optimizer, x, y, step)
    size = 512.0 if on("scale") and now else 1024.0
    (loss_of(net, x, y) * size).backward()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.grad /= size
    nn.utils.clip_grad_norm_(net.parameters(), 0.5 if on("clip") and now else 1.0)
    optimizer.step()
    optimizer.zero_grad()

ATTENTION = ["aten._scaled_dot_product_flash_attention_for_cpu.default", "aten.transpose.int"]
FUSED = ["aten._fused_adamw_.default", "aten.zeros.default", "aten.lift_fresh.default"]
LAST = "blocks.1"
# Name, what A and B have, the operators of which one is right, module, step, how it shows.
PAIRS = [
    ("dropout seed", {}, {"seed": 1}, ["aten.bernoulli_.float"], "blocks.0.drop", 1, "random"),
    ("a draw more", {}, {"draw": 1}, ["aten.bernoulli_.float"], "blocks.0.drop", 1, "random"),
    ("dropout rate", {}, {"rate": 1}, ["aten.bernoulli_.float"], "blocks.1.drop", 0, "arguments"),
    ("attention mask", {}, {"mask": 1}, ["aten.tril.default"], LAST, 0, "arguments"),
    ("bf16 cast", {}, {"cast": 1}, ["aten._to_copy.default"], LAST, 1, "inserted"),
    ("autocast", {}, {"autocast": 1}, ["aten._to_copy.default"], "blocks.1.fc1", 1, "inserted"),
    ("fused attention", {}, {"eager": 1}, ATTENTION, LAST, 0, "inserted"),
    ("fused optimizer", {}, {"fused": 1}, FUSED, "", 0, "inserted"),
    ("write into a view", {}, {"view": 1}, ["aten.mul_.Tensor"], LAST, 1, "inserted"),
    ("forgotten copy", {"alias": "copied"}, {"alias": "forgotten"}, ["aten.clone.default"], LAST, 0, "missing"),
    ("write by .data", {}, {"data": 1}, ["aten.mul_.Tensor"], LAST, 1, "inserted"),
    ("activation by NumPy", {}, {"numpy": 1}, ["aten.native_layer_norm.default"], "blocks.1.norm2", 1, "unseen"),
    ("weight by NumPy", {}, {"numpy_weight": 1}, ["aten.addmm.default"], "blocks.1.fc1", 1, "unseen"),
    ("other threads", {}, {"threads": 2}, ["aten.sum.default"], "", 0, "outputs"),
    ("denormal numbers", {}, {"denormal": 1}, ["aten.mul.Tensor"], "", 0, "outputs"),
    ("another kernel", {}, {"kernel": 1}, ["planted.scale.default"], "blocks.0", 1, "outputs"),
    ("compiled region", {}, {"compile": 1}, ["compiled.graph", "aten.addmm.default"], LAST, 0, "inserted"),
    ("constant compiled in", {"compile": 1}, {"compile": 1, "constant": 1}, ["compiled.graph"], LAST, 0, "outputs"),
    ("epsilon of a norm", {}, {"eps": 1}, ["aten.native_layer_norm.default"], "blocks.1.norm1", 0, "arguments"),
    ("epsilon of the optimizer", {}, {"epsilon": 1}, ["aten._foreach_add_.Scalar"], "", 0, "arguments"),
    ("weight decay", {}, {"decay": 1}, ["aten._foreach_mul_.Scalar"], "", 0, "arguments"),
    ("learning rate", {}, {"lr": 1}, ["aten._foreach_mul_.Scalar"], "", 1, "arguments"),
    ("state of the optimizer", {}, {"state": 1}, ["aten._foreach_lerp_.Scalar"], "", 1, "input"),
    ("data row", {}, {"row": 1}, ["aten.embedding.default"], "embed", 1, "input"),
    ("label", {}, {"label": 1}, ["aten.nll_loss_forward.default", "aten.view.default"], "", 1, "input"),
    ("swapped weights", {}, {"swap": 1}, ["aten.t.default"], "blocks.0.fc1", 1, "input"),
    ("gradient hook", {}, {"hook": 1}, ["aten.mul.Tensor"], "blocks.0.fc1", 1, "inserted"),
    ("loss scale", {}, {"scale": 1}, ["aten.mul.Tensor"], "", 1, "arguments"),
    ("clipped gradient", {}, {"clip": 1}, ["aten.mul.Tensor"], "", 1, "arguments"),
    ("evaluation mode", {}, {"evaluate": 1}, ["aten.bernoulli_.float"], "blocks.1.drop", 1, "missing"),
]  # fmt: skip


def logs_of(planted):
    from torch.utils._debug_mode import DebugMode

    torch._dynamo.reset()
    with DebugMode.log_tensor_hashes(hash_fn="hash_tensor"):
        mode = DebugMode()
        train(planted, around=mode)
    return mode.logs


def of_debug_mode(a, b, known):
    try:
        from torch.utils._debug_mode import DebugMode
    except ImportError:
        return "this PyTorch has no DebugMode"
    if not hasattr(DebugMode, "check_hash_mismatches"):
        return "this DebugMode compares no hashes"
    try:
        if str(a) not in known:
            known[str(a)] = logs_of(a)
        found = DebugMode.check_hash_mismatches(known[str(a)], logs_of(b))
    except Exception as error:
        return "error: %s: %s" % (type(error).__name__, str(error).split("\n")[0][:160])
    return found[0]["call"] if found else "no mismatch"


def traced(planted, folder):
    torch._dynamo.reset()
    weights = train(planted, folder)
    torch._dynamo.reset()
    assert torch.equal(weights, train(planted)), "%s: traced is not untraced" % planted
    return weights


def main():
    torch.set_num_threads(1)
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    recorded, logs = {}, {}
    with open(os.path.join(folder, "expected.jsonl"), "w") as lines:
        for name, a, b, ops, module, step, how in PAIRS:
            if names and name not in names:
                continue
            of = os.path.join(folder, name.replace(" ", "-"))
            shutil.rmtree(of, ignore_errors=True)
            if str(a) not in recorded:
                recorded[str(a)] = (traced(a, os.path.join(of, "A")), os.path.join(of, "A"))
            else:
                shutil.copytree(recorded[str(a)][1], os.path.join(of, "A"))
            same = torch.equal(recorded[str(a)][0], traced(b, os.path.join(of, "B")))
            line = {"name": name, "folder": os.path.basename(of), "ops": ops, "module": module, "step": step}
            line.update(how=how, same_weights=same, debug_mode=of_debug_mode(a, b, logs))
            lines.write(json.dumps(line) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
