"""Pairs of JAX runs, as in planted_torch.py: FOLDER/NAME/{A,B} and a line a pair in FOLDER/expected.jsonl.

    PYTHONPATH=harness/records/observe/python python3 tests/records/observe/planted_jax.py FOLDER [NAME...]
"""

import json
import os
import shutil
import sys

import jax
import jax.numpy as jnp
import numpy

on = {}.get


def attention(weights, x, index):
    q, k, v = jnp.split(x @ weights["qkv"], 3, axis=-1)
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool), 1 if on("mask") and index else 0)
    return jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ v


def block(weights, x, key, index):
    with jax.named_scope("attention"):
        x = x + attention(weights, x, index)
    with jax.named_scope("mlp"):
        h = x @ weights["fc1"]
        if on("cast") and index:
            h = h.astype(jnp.bfloat16).astype(jnp.float32)
        h = jax.nn.silu(h) if on("activation") and index else jax.nn.relu(h)
        if on("sum") and index:
            h = (h[:, :, None] * weights["fc2"]).sum(1)
        else:
            h = h @ weights["fc2"]
    with jax.named_scope("drop"):
        kept = jax.random.bernoulli(key, 0.8 if on("rate") and index else 0.9, h.shape)
        h = jnp.where(kept, h / 0.9, 0)
    return x + h


def loss_of(weights, x, y, key):
    x = weights["embed"][x]
    for index, name in enumerate(("block0", "block1")):
        with jax.named_scope(name):
            x = block(weights[name], x, jax.random.fold_in(key, index), index)

    def decay(carry, row):
        return carry * (0.8 if on("scan") else 0.9) + row, None

    with jax.named_scope("mean"):
        mixed = jax.lax.scan(decay, jnp.zeros(x.shape[1]), x[:4])[0]
    logits = jax.nn.log_softmax(x @ weights["head"] + 0.01 * (mixed @ weights["head"]))
    return -jnp.mean(logits[jnp.arange(y.shape[0]), y])


def updated(weights, state, x, y, key):
    loss, gradient = jax.value_and_grad(loss_of)(weights, x, y, key)
    with jax.named_scope("adam"):
        rate, epsilon = 2e-3 if on("lr") else 1e-3, 1e-6 if on("epsilon") else 1e-8
        if on("clip"):
            gradient = jax.tree_util.tree_map(lambda g: jnp.clip(g, -0.01, 0.01), gradient)
        first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, state[0], gradient)
        second = jax.tree_util.tree_map(lambda m, g: 0.99 * m + 0.01 * g * g, state[1], gradient)
        weights = jax.tree_util.tree_map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + epsilon), weights, first, second)
    return weights, (first, second), loss


def train(planted, folder=None):
    global on
    on = planted.get
    draw = numpy.random.default_rng(1)

    def normal(*shape):
        return jnp.asarray(draw.normal(size=shape) * 0.1, jnp.float32)

    weights = {}
    for name in ("block0", "block1"):
        weights[name] = {"qkv": normal(16, 48), "fc1": normal(16, 32), "fc2": normal(32, 16)}
    weights.update(embed=normal(20, 16), head=normal(16, 20))
    state = tuple(jax.tree_util.tree_map(jnp.zeros_like, weights) for _ in range(2))

    def update(weights, state, x, y, key):  # one of its own: what is planted is no part of the caches' keys
        return updated(weights, state, x, y, key)

    step_function = jax.jit(update)
    if folder:
        import rharness_trace

        os.environ.update(RHARNESS_TRACE=folder + "/", RHARNESS_TRACE_STEPS="0-9")
        rharness_trace._taps = None
        step_function = rharness_trace.operators(step_function, batch=("x", "y"))
    for step in range(2):
        x, y = draw.integers(0, 20, 8), draw.integers(0, 20, 8)
        if step == 1 and on("row"):
            x[2] = (x[2] + 1) % 20
        if step == 1 and on("swap"):
            weights["block0"], weights["block1"] = weights["block1"], weights["block0"]
        if step == 1 and on("state"):
            state = (jax.tree_util.tree_map(jnp.zeros_like, state[0]), state[1])
        key = jax.random.PRNGKey(100 + step + (50 if step == 1 and on("key") else 0))
        weights, state, _ = step_function(weights, state, x, y, key)
    if folder:
        step_function.file.end()
        rharness_trace._taps.close()
    return numpy.concatenate([numpy.asarray(one).ravel() for one in jax.tree_util.tree_leaves(weights)])


# Name, what B has, equations of which one is right, how its module begins and ends, step, how it shows.
PAIRS = [
    ("dropout key", "key", ["random_wrap", "random_fold_in"], "block0", 1, "input"),
    ("dropout rate", "rate", ["lt"], "block1.drop", 0, "arguments"),
    ("attention mask", "mask", ["add", "broadcast_in_dim"], "block1.attention", 0, "arguments"),
    ("bf16 cast", "cast", ["convert_element_type"], "block1.mlp", 0, "inserted"),
    ("another activation", "activation", ["max", "neg", "logistic"], "block1.mlp", 0, "inserted"),
    ("another order of a sum", "sum", ["dot_general", "mul", "broadcast_in_dim"], "block1.mlp", 0, "inserted"),
    ("constant in a scan", "scan", ["mul"], "mean.scan.1", 0, "arguments"),
    ("learning rate", "lr", ["mul"], "adam", 0, "arguments"),
    ("epsilon of the optimizer", "epsilon", ["add"], "adam", 0, "arguments"),
    ("clipped gradient", "clip", ["convert_element_type", "max", "min"], "adam", 0, "inserted"),
    ("data row", "row", ["lt", "gather", "add", "select_n"], "", 1, "input"),
    ("swapped weights", "swap", ["dot_general"], "block0.attention", 1, "input"),
    ("state of the optimizer", "state", ["mul"], "adam", 1, "input"),
]


def main():
    folder, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    recorded = os.path.join(folder, "A")
    shutil.rmtree(recorded, ignore_errors=True)
    first = train({}, recorded)
    with open(os.path.join(folder, "expected.jsonl"), "w") as lines:
        for name, planted, ops, module, step, how in PAIRS:
            if names and name not in names:
                continue
            of = os.path.join(folder, "jax-" + name.replace(" ", "-"))
            shutil.rmtree(of, ignore_errors=True)
            shutil.copytree(recorded, os.path.join(of, "A"))
            found = train({planted: 1}, os.path.join(of, "B"))
            assert numpy.array_equal(found, train({planted: 1})), name + ": traced is not untraced"
            line = {"name": "JAX: " + name, "folder": os.path.basename(of), "ops": ops, "module": module, "step": step}
            line.update(how=how, same_weights=bool(numpy.array_equal(first, found)), debug_mode="not of JAX")
            lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
