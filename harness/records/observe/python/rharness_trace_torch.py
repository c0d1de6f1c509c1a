"""The PyTorch half of rharness_trace: the hooks of one model.

Not seen: what runs inside of compiled and scripted modules, and operations outside of modules, which
show in the input of the next module. A compiled step of the optimizer calls no hook: of one process
it shows in the versions of the parameters at the model's next call, without its gradients.
"""

import atexit
import os
import sys
import types
import warnings
import weakref

import rharness_hooks_torch
from rharness_contents_torch import transformed
from rharness_tensors_torch import Tensors
from rharness_trace import MOST_TENSORS, Steps, TraceFile, complain, line_of, torch_header

MOST_CALLS = 1024  # of the model in one step


def _tensors(torch, value, found):
    if len(found) >= MOST_TENSORS:
        return found
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, dict):
        for one in value.values():
            _tensors(torch, one, found)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _tensors(torch, one, found)
    return found


class Watch:
    """The hooks of one PyTorch model. Between the chosen steps there are three: one at the model, two
    at the optimizer."""

    def __init__(self, torch, model, optimizer, steps, path, operators=False):
        self.torch, self.optimizer = torch, optimizer
        self.compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        parallel = (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)
        self.model = model.module if isinstance(model, parallel) else model
        self.steps = Steps(os.environ.get("RHARNESS_TRACE_STEPS") or steps)
        self.tensors = Tensors(torch)
        self.step, self.order, self.active, self.forwards = 0, 0, False, 0
        self.handles, self.lasting, self.calls, self.backward = [], [], {}, None
        self.file, self.operators = TraceFile(torch_header(torch), path), None
        if operators or os.environ.get("RHARNESS_TRACE_OPERATORS", "0") != "0":
            from rharness_calls_torch import Calls

            self.operators = Calls(torch, self, torch_header(torch))
        trained = [one for one in self.model.parameters() if one.requires_grad]
        self.sample, self.versions, self.stepped = trained[:: len(trained) // 8 + 1], None, False
        self.lasting.append(rharness_hooks_torch.before(self.model, self._on_forward))
        if optimizer is not None:
            self._hook_optimizer()
        atexit.register(self.close)

    def guard(self, work, *args):
        """Nothing of ours gets out of here."""
        try:
            if self.file is not None and not self.compiling() and not transformed(self.torch):
                with self.torch.no_grad(), self.torch._C._DisableTorchDispatch():
                    work(*args)
        except Exception as error:
            self._stop("%s: %s" % (type(error).__name__, error))

    def note(self, name, value, kind="batch"):
        """A tensor that no module sees, such as the labels or the loss (kind "loss")."""
        self.guard(self._note, name, value, kind)

    def _note(self, name, value, kind):
        if kind == "batch" and self.optimizer is not None and not self.active and self.steps.has(self.step):
            self._begin_step()
        if self.active:
            self._record(kind, name, value)

    def close(self):
        self.guard(self._end_step)
        self._stop(None)

    def _stop(self, error):
        file, self.file, self.active = self.file, None, False
        if file is not None:
            file.end(error)
        ends = [handle.remove for handle in self.handles + self.lasting]
        for end in ends + ([lambda: self.operators.stop(error)] if self.operators is not None else []):
            try:
                end()
            except Exception:
                pass
        self.handles, self.lasting = [], []
        self._forget_losses()
        self.tensors.forget()

    def _hook_optimizer(self):
        if hasattr(self.optimizer, "register_step_post_hook"):
            guard, compiling = self.guard, self.compiling  # a compiled step has no hooks in it
            before, after, one = self._on_gradients, self._on_step, self.optimizer
            hooks = [lambda *_: None if compiling() else guard(before), lambda *_: None if compiling() else guard(after)]
            self.lasting += [one.register_step_pre_hook(hooks[0]), one.register_step_post_hook(hooks[1])]
            return
        step = self.optimizer.step

        def watched(optimizer, *args, **kwargs):
            self.guard(self._on_gradients)
            result = step(*args, **kwargs)
            self.guard(self._on_step)
            return result

        watched.__dict__.update(getattr(step, "__dict__", {}))
        self.optimizer.step = types.MethodType(watched, self.optimizer)

    def _on_forward(self, module, args, kwargs):
        # Of a gradient's recomputation (checkpointing) nothing is counted as another step.
        if self.file is None or not (module.training if self.optimizer is None else self._trains()):
            return
        if self.optimizer is None:
            self.guard(self._end_step)
            self.step, self.forwards = self.forwards, self.forwards + 1
        elif not self.stepped and self._compiled_step():
            self.guard(self._on_step)
            self.stepped = False
        if self.steps.has(self.step):
            self.guard(self._begin_forward, args, kwargs)

    def _compiled_step(self):
        """Whether parameters were written since the last call, with a compiler at hand. Libraries for
        several processes write them at other moments, too."""
        distributed = sys.modules.get("torch.distributed")
        if "torch._dynamo" not in sys.modules or (distributed and distributed.is_available() and distributed.is_initialized()):
            return False
        before, self.versions = self.versions, [one._version for one in self.sample]
        if before is None or before == self.versions:
            return False
        frame, optimizers = sys._getframe(1), os.path.join("torch", "optim", "")
        while frame is not None and optimizers not in frame.f_code.co_filename:
            frame = frame.f_back
        return frame is None  # else a step that calls the model, such as that of LBFGS

    def _trains(self):
        """What is called in evaluation mode is an evaluation, unless gradients are taken of it."""
        return self.model.training or self.torch.is_grad_enabled()

    def _begin_forward(self, args, kwargs):
        if not self.active:
            self._begin_step()
        if self.calls.get(("batch", ""), 0) >= MOST_CALLS:
            raise RuntimeError("step %d has no end in %d calls of the model; expected a call of %s.step()"
                               % (self.step, MOST_CALLS, type(self.optimizer).__name__))
        if self.operators is not None:
            self.operators.name_batch(args, kwargs)
        self._record("batch", "", (args, kwargs))

    def _begin_step(self):
        self.active, self.order, self.calls = True, 0, {}
        self._see_losses()
        states = [self.torch.get_rng_state()]
        if self.torch.cuda.is_available() and self.torch.cuda.is_initialized():
            states.append(self.torch.cuda.get_rng_state())
        for index, state in enumerate(states):
            self._add("rng", ("torch", "torch.cuda")[index], {"digest": "sha256:" + self.tensors._sha256(state)})
        self._add("setting", "training", {"value": repr(self.model.training)})
        self._note_settings()
        for name, parameter in self.model.named_parameters():
            self._record("parameter", name, parameter, keep=False)
        for name, buffer in self.model.named_buffers():
            self._record("buffer", name, buffer, keep=False)
        self._note_state()
        for name, module in self.model.named_modules():
            self._hook_module(name, module)
        if self.optimizer is None:
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    self.handles.append(parameter.register_hook(self._gradient_hook("gradient", name, 0)))
        if self.operators is not None:
            self.operators.begin(self.step)

    def _see_losses(self):
        """What Tensor.backward is called on, in this step alone."""
        original = self.torch.Tensor.backward

        def backward(tensor, *args, **kwargs):
            if self.active:
                self.guard(self._record, "loss", "loss", tensor)
            return original(tensor, *args, **kwargs)

        backward.__wrapped__ = original
        self.backward, self.torch.Tensor.backward = backward, backward

    def _forget_losses(self):
        if self.backward is not None and self.torch.Tensor.backward is self.backward:
            self.torch.Tensor.backward = self.backward.__wrapped__
        self.backward = None

    def _note_settings(self):
        if self.optimizer is None:
            return
        self._add("setting", "optimizer", {"value": type(self.optimizer).__name__})
        for index, group in enumerate(self.optimizer.param_groups[:MOST_TENSORS]):
            for key in sorted(group):
                value = group[key]
                if isinstance(value, self.torch.Tensor) and value.numel() == 1:
                    value = value.item()
                if isinstance(value, (bool, int, float, str, tuple)):
                    self._add("setting", "optimizer.%d.%s" % (index, key), {"value": repr(value)[:100]})

    def _note_state(self):
        if self.optimizer is None:
            return
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        for parameter, state in list(self.optimizer.state.items()):
            for key in sorted(state):
                if isinstance(state[key], self.torch.Tensor) and id(parameter) in names:
                    self._record("state", "%s.%s" % (names[id(parameter)], key), state[key], keep=False)

    def _hook_module(self, name, module):
        """Inputs and outputs of each call; whether it drew random numbers; gradients of outputs."""
        rng, step = [], self.step  # a hook that was removed is called once more if its call had begun
        compiling = self.compiling

        def before(_, args, kwargs):
            if not compiling() and self.active and self.step == step and self._trains():
                self.guard(self._input, name, (args, kwargs), type(module).__name__, rng)

        def after(_, __, result):
            if not compiling() and self.active and self.step == step and self._trains():
                self.guard(self._output, name, result, type(module).__name__, rng)

        self.handles.append(rharness_hooks_torch.before(module, before))
        self.handles.append(rharness_hooks_torch.after(module, after))
        if module is self.model:  # it is being called: its hooks of this moment were listed before
            rng.append(self.torch.get_rng_state())

    def _input(self, name, value, kind_of, rng):
        rng.append(self.torch.get_rng_state())
        self._record("input", name, value, kind_of)
        if self.operators is not None:
            self.operators.enter(name)

    def _output(self, name, result, kind_of, rng):
        if self.operators is not None:
            self.operators.leave(name)
        drew = bool(rng) and not self.torch.equal(rng.pop(), self.torch.get_rng_state())
        call = self._record("output", name, result, kind_of, random=drew)
        for index, tensor in enumerate(_tensors(self.torch, result, [])):
            if tensor.requires_grad:
                hook = self._gradient_hook("output_gradient", name, index, call, kind_of)
                self.handles.append(tensor.register_hook(hook))

    def _gradient_hook(self, kind, name, index, call=0, kind_of=""):
        def hook(gradient):
            if self.active:
                self.guard(self._gradient, kind, name, gradient, index, call, kind_of)

        return hook

    def _gradient(self, kind, name, gradient, index, call, kind_of):
        self._add(kind, name, self.tensors.facts(gradient, keep=False), index, call, kind_of)

    def _record(self, kind, name, value, kind_of="", keep=True, random=False):
        call = self.calls.get((kind, name), 0)
        self.calls[(kind, name)] = call + 1
        for index, tensor in enumerate(_tensors(self.torch, value, [])):
            facts = self.tensors.facts(tensor, keep)
            self._add(kind, name, dict(facts, random=True) if random else facts, index, call, kind_of)
        return call

    def _add(self, kind, name, facts, index=0, call=0, kind_of=""):
        self.file.add(line_of(self.step, self.order, kind, name, facts, index, call, kind_of))
        self.order += 1

    def _on_gradients(self):
        self.stepped = True  # the hooks of the optimizer run
        if not self.active:
            return
        if self.operators is not None:
            self.operators.begin_optimizer()
        for name, parameter in reversed(list(self.model.named_parameters())):
            if parameter.grad is not None:
                self._record("gradient", name, parameter.grad, keep=False)

    def _on_step(self):
        self.stepped = True
        if self.active:
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    self._record("updated", name, parameter, keep=False)
            self._end_step()
        self.step += 1

    def _end_step(self):
        if not self.active:
            return
        self.active = False
        for handle in self.handles:
            handle.remove()
        self.handles = []
        self._forget_losses()
        self.tensors.forget()
        if self.operators is not None:
            self.operators.end_step()
        self.file.flush()


class Auto:
    """Watches a program that knows nothing of it: the first module that is called in training with
    parameters of an optimizer, and the first optimizer that has these."""

    def __init__(self, torch, steps):
        self.torch, self.steps, self.optimizers = torch, steps, []
        self.original = torch.optim.Optimizer.__init__

        def __init__(optimizer, *args, **kwargs):
            self.original(optimizer, *args, **kwargs)
            try:
                self.optimizers.append(weakref.ref(optimizer))
            except Exception:
                pass

        __init__.__wrapped__ = self.original
        self.patch = torch.optim.Optimizer.__init__ = __init__
        # torch.compile warns of hooks of all modules; ours is gone after its first call in training.
        warnings.filterwarnings("ignore", message=".*global hooks on modules.*")
        self.filter = warnings.filters[0]
        self.handle = torch.nn.modules.module.register_module_forward_pre_hook(self.on_call)

    def stop(self):
        if self.handle is not None:
            self.handle.remove()
            if self.filter in warnings.filters:  # hooks of the program's own are its own matter
                warnings.filters.remove(self.filter)
        self.handle = None
        if self.torch.optim.Optimizer.__init__ is self.patch:
            self.torch.optim.Optimizer.__init__ = self.original

    def on_call(self, module, args):
        try:
            optimizer = self.handle is not None and module.training and self.optimizer_of(module)
            if not optimizer:
                return
            self.stop()
            watch = Watch(self.torch, module, optimizer, self.steps, None)
            # The module's own hooks of this call were listed before.
            if watch.model is module:
                watch._on_forward(module, args, {})
        except Exception as error:
            self.stop()
            complain(error)

    def optimizer_of(self, module):
        own = {id(parameter) for parameter in module.parameters()}
        for reference in self.optimizers:
            optimizer = reference()
            groups = optimizer.param_groups if optimizer is not None else []
            if any(id(parameter) in own for group in groups for parameter in group["params"]):
                return optimizer
        return None
