"""What of a PyTorch DataLoader decides which samples come in which order."""


def note_loader(run, loader, name="loader"):
    """Notes its workers, batch size, sampler, and whether order and workers have seeds of their own."""
    for key, attribute in (("workers", "num_workers"), ("batch_size", "batch_size"), ("drop_last", "drop_last")):
        value = getattr(loader, attribute, None)
        if value is not None:
            run.note("%s.%s" % (name, key), value)
    sampler = getattr(loader, "sampler", None)
    if sampler is not None:
        run.note(name + ".sampler", type(sampler).__name__)
    generator = getattr(loader, "generator", None)
    if hasattr(loader, "generator"):
        run.note(name + ".generator", "none" if generator is None else generator.initial_seed())
    if hasattr(loader, "worker_init_fn"):
        run.note(name + ".worker_init", loader.worker_init_fn is not None)
