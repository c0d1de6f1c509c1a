"""For Keras: model.fit(..., callbacks=[rharness.keras.RunCallback()])."""

try:
    import keras
except ImportError:
    from tensorflow import keras

from rharness._run import Run


class RunCallback(keras.callbacks.Callback):
    """A curve of each value of fit's logs by epoch, its last value as a metric; states as notes."""

    def __init__(self, run=None):
        super().__init__()
        self.run = Run() if run is None else run

    def on_train_begin(self, logs=None):
        self.run.states("begin")

    def on_epoch_end(self, epoch, logs=None):
        self.run.metrics(logs or {}, epoch)
        self.run.metrics(logs or {})

    def on_test_end(self, logs=None):
        # Of fit's own validation the epoch's end has the values, by names of their own.
        if not getattr(self, "_fits", False):
            self.run.metrics({"test_" + name: value for name, value in (logs or {}).items()})
            self.run.flush()

    def on_epoch_begin(self, epoch, logs=None):
        self._fits = True

    def on_train_end(self, logs=None):
        self._fits = False
        self.run.states("end")
        self.run.flush()
