# Event files that TensorBoard's own writers write, and what its EventAccumulator reads from them, as
# JSON: {folder: {tag: [[step, value], ...]}}. A value that is not finite is a text.
import json
import math
import random
import sys

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary import Writer
from tensorboard.util import tensor_util
from tensorboardX import SummaryWriter

folder = sys.argv[1]
chance = random.Random(7)

# Version 1 of summaries: simple values, among histograms, texts and images.
simple = SummaryWriter(folder + "/simple")
for step in range(200):
    simple.add_scalar("train/loss", chance.gauss(0, 1), step)
    if step % 7 == 0:
        simple.add_scalar("eval/accuracy", math.nan if step == 14 else chance.random(), 10 * step)
    if step % 50 == 0:
        simple.add_histogram("weights", numpy.arange(100.0), step)
        simple.add_text("words", "hello", step)
        simple.add_image("picture", numpy.zeros((3, 8, 8)), step)
simple.close()

# Version 2: tensors of the plugin for scalars.
tensors = Writer(folder + "/tensors")
for step in range(200):
    tensors.add_scalar("loss", chance.gauss(0, 1) * 1e-8, step)
    tensors.add_scalar("large", 1e30 * chance.random(), 2**40 + step)
tensors.flush()
tensors.close()


def shown(value):
    return value if math.isfinite(value) else repr(value)


read = {}
for name in ("simple", "tensors"):
    events = EventAccumulator(f"{folder}/{name}", size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    tags = {}
    for tag in events.Tags()["scalars"]:
        tags[tag] = [[one.step, shown(one.value)] for one in events.Scalars(tag)]
    for tag in events.Tags()["tensors"]:
        if events.SummaryMetadata(tag).plugin_data.plugin_name != "scalars":
            continue
        tags[tag] = [
            [one.step, shown(float(tensor_util.make_ndarray(one.tensor_proto).item()))]
            for one in events.Tensors(tag)
        ]
    read[name] = tags
print(json.dumps(read))
