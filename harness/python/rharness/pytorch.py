"""For a loop of one's own in PyTorch.

    watch = rharness.pytorch.Watch(run, loader)
    for epoch in range(3):
        ...
        watch.epoch(epoch)
"""

import torch

from rharness._loaders import note_loader


class Watch:
    """Notes of a run: seed, determinism, loader, and the states of generators after each epoch."""

    MOST_EPOCHS = 16  # noted one by one; then those of powers of two

    def __init__(self, run, *loaders):
        self.run = run
        run.note("torch.initial_seed", torch.initial_seed())
        run.note("torch.deterministic", torch.are_deterministic_algorithms_enabled())
        for index, loader in enumerate(loaders):
            note_loader(run, loader, "loader" if len(loaders) == 1 else "loader%d" % index)
        run.states("begin")

    def epoch(self, epoch):
        """After an epoch: notes the states, and writes what there is."""
        if epoch < self.MOST_EPOCHS or epoch & (epoch - 1) == 0:
            self.run.states("epoch %d" % epoch)
        self.run.flush()
