"""A JAX training, whose jaxlib comes from where PYTHONPATH leads: an upgrade is another folder there.

With --norm layer hidden values are normalized by their mean and variance, which are sums, and XLA has changed
the order in which it adds them; with --norm none there are products and elementwise functions alone.
"""

import argparse

import jax
import jaxlib
import numpy

import digits


def logits_of(weights, pixels, norm):
    hidden = jax.numpy.tanh(pixels @ weights["fc1"])
    if norm == "layer":
        hidden = jax.nn.standardize(hidden)
    return hidden @ weights["fc2"]


def loss_of(weights, pixels, truth, norm):
    logits = logits_of(weights, pixels, norm)
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), truth[:, None], axis=1)
    return -chosen.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.2)
    parser.add_argument("--norm", choices=("none", "layer"), default="none")
    options = parser.parse_args()
    (images, labels), test = digits.split(*digits.load(options.data))
    pixels, truth = numpy.array(images, numpy.float32), numpy.array(labels)
    draw = numpy.random.default_rng(options.seed)
    weights = {
        "fc1": jax.numpy.array(draw.normal(0, 0.1, (digits.FEATURES, 64)), jax.numpy.float32),
        "fc2": jax.numpy.array(draw.normal(0, 0.1, (64, digits.CLASSES)), jax.numpy.float32),
    }

    @jax.jit
    def step(weights, pixels, truth):
        loss, gradient = jax.value_and_grad(loss_of)(weights, pixels, truth, options.norm)
        return jax.tree.map(lambda w, g: w - options.lr * g, weights, gradient), loss

    curve = []
    for _ in range(options.epochs):
        total, order = 0.0, draw.permutation(len(truth))
        whole = len(order) // 64 * 64
        for rows in order[:whole].reshape(-1, 64):
            weights, loss = step(weights, pixels[rows], truth[rows])
            total += float(loss) / (whole // 64)
        curve.append(total)
    test_pixels, test_truth = numpy.array(test[0], numpy.float32), numpy.array(test[1])
    logits = logits_of(weights, test_pixels, options.norm)
    metrics = {
        "test_accuracy": float((numpy.array(logits).argmax(1) == test_truth).mean()),
        "test_loss": float(loss_of(weights, test_pixels, test_truth, options.norm)),
    }
    tensors = {name: (values.shape, numpy.array(values).ravel().tolist()) for name, values in weights.items()}
    digits.leave(tensors, metrics, curve, {"jax": jax.__version__, "jaxlib": jaxlib.__version__})


if __name__ == "__main__":
    main()
