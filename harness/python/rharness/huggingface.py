"""For the Trainer of transformers: Trainer(..., callbacks=[rharness.huggingface.RunCallback()])."""

from transformers import TrainerCallback

from rharness._run import Run


class RunCallback(TrainerCallback):
    """Curves of all that is logged, their last values as metrics; seeds, workers and states as notes."""

    def __init__(self, run=None):
        self.run = Run() if run is None else run

    def on_train_begin(self, args, state, control, **kwargs):
        self.run.seed("transformers.seed", args.seed)
        if getattr(args, "data_seed", None) is not None:
            self.run.seed("transformers.data_seed", args.data_seed)
        self.run.note("loader.workers", args.dataloader_num_workers)
        self.run.note("transformers.full_determinism", bool(getattr(args, "full_determinism", False)))
        self.run.states("begin")

    def on_log(self, args, state, control, logs=None, **kwargs):
        if state.is_world_process_zero:
            for name, value in (logs or {}).items():
                if not isinstance(value, (int, float)):
                    continue
                self.run.metric(name, value)
                # These the Trainer logs once, at the end: no curve has one point.
                if not name.startswith("train_") and name != "total_flos":
                    self.run.metric(name, value, state.global_step)

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self._flush(state)  # its values were logged

    def on_save(self, args, state, control, **kwargs):
        self._flush(state)

    def on_train_end(self, args, state, control, **kwargs):
        self.run.states("end")
        self._flush(state)

    def _flush(self, state):
        if state.is_world_process_zero:
            self.run.flush()
