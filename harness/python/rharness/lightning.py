"""For Lightning: Trainer(callbacks=[rharness.lightning.RunCallback()])."""

import os

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from rharness._loaders import note_loader
from rharness._run import Run


class RunCallback(Callback):
    """Curves of what the module logs, its last values as metrics; seed, workers and states as notes."""

    def __init__(self, run=None):
        self.run = Run() if run is None else run

    def on_train_start(self, trainer, pl_module):
        seed = os.environ.get("PL_GLOBAL_SEED", "")
        if seed.isdigit():
            self.run.seed("lightning.seed_everything", int(seed))
        loader = trainer.train_dataloader
        flat = getattr(loader, "flattened", None) or [loader]
        for index, one in enumerate(flat):
            note_loader(self.run, one, "loader" if len(flat) == 1 else "loader%d" % index)
        self.run.states("begin")

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        every = trainer.log_every_n_steps
        if every and trainer.global_step % every == 0:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            if loss is not None:
                self.run.metric("loss", loss, trainer.global_step)

    def on_train_epoch_end(self, trainer, pl_module):
        self._take(trainer)

    def on_validation_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            self._take(trainer)

    def on_test_end(self, trainer, pl_module):
        self._take(trainer)
        self._flush(trainer)

    def on_train_end(self, trainer, pl_module):
        self.run.states("end")
        self._flush(trainer)

    def _take(self, trainer):
        for name, value in trainer.callback_metrics.items():
            self.run.metric(name, value, trainer.global_step)
            self.run.metric(name, value)

    def _flush(self, trainer):
        if trainer.is_global_zero:
            self.run.flush()
