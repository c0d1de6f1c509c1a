"""The operators that PyTorch dispatches in the traced steps, each with what it read and wrote.

A mode of the dispatcher, below all modes of the program, from the first call of the model in a step
to the end of the optimizer's. Outside of traced steps nothing is installed. Allocations are no calls,
and memory that nothing has written has no digest. What an operator only overwrites is no input of it.

Not seen: what a step does before its model is called, and other threads than those of backward;
the inside of what inductor compiled and of custom operators, which are one call each; of kernels
that bypass the dispatcher the call itself: the next reader of their output says "unseen".
"""

import hashlib
import os
import sys
import threading

import rharness_calls_units
import rharness_modes_torch
from rharness_calls import MOST_TENSORS, CallsFile, quote, value_text
from rharness_contents_torch import Contents

_ALLOCATE = {"empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized", "new_empty",
             "new_empty_strided", "resize_", "_resize_output_"}
_OVERWRITE = {"copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_",
              "geometric_", "cauchy_", "log_normal_", "_foreach_copy_", "_foreach_zero_"}
# Write running_mean and running_var in training, which not all of their schemas say.
_BATCH_NORM = {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_native_batch_norm_legit",
               "_batch_norm_with_update", "batch_norm_update_stats", "batch_norm_gather_stats",
               "batch_norm_gather_stats_with_counts"}
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


class _Plan:
    """What the schema of an operator says: whether it writes, and which of its arguments."""

    __slots__ = ("op", "names", "written", "dropped", "view", "allocates", "draws", "collective",
                 "running")

    def __init__(self, torch, func):
        self.op = str(func)
        schema = getattr(func, "_schema", None)
        arguments = list(schema.arguments) if schema is not None else []
        self.names = [one.name for one in arguments]
        base = self.op.split(".")[1] if self.op.count(".") else self.op
        wrote = {one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write}
        self.collective = self.op.startswith(("c10d.", "_c10d_functional.", "c10d_functional."))
        if self.op.startswith("c10d.") and base not in ("send", "barrier"):  # its schemas do not say it
            wrote = {name for name in self.names if not name.startswith("input")}
        self.written = wrote
        self.running = {"running_mean", "running_var"} if base in _BATCH_NORM else set()
        first = {self.names[0]} if base in _OVERWRITE and self.names else set()
        over = {one.name for one in arguments if one.is_out or (self.collective and one.name.startswith("output"))}
        self.dropped = over & wrote | first
        returns = list(schema.returns) if schema is not None else []
        aliases = [one.alias_info is not None and not one.alias_info.is_write for one in returns]
        self.view = bool(aliases) and all(aliases)
        self.allocates = base in _ALLOCATE
        self.draws = torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())


class Calls:
    """The calls of one Watch (rharness_trace_torch)."""

    def __init__(self, torch, watch, header):
        self.torch, self.watch = torch, watch
        self.file = CallsFile(watch.file, header)
        self.contents, self.plans, self.sites = Contents(torch), {}, {}
        self.mode, self.thread, self.active, self.pid = None, None, False, os.getpid()
        self.plain = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size)
        self.library = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.groups, self.patches, self.names, self.inside = {}, [], {}, False
        self.phase, self.stack, self.nodes, self.sequence = "forward", [], {}, 0

    # The life of a step.

    def begin(self, step):
        if self.file is None:
            return
        self.file.begin(step)
        self.contents.forget()
        self.phase, self.stack, self.nodes, self.groups, self.graded = "forward", [], {}, {}, False
        self.sequence = self.torch._C._autograd._get_sequence_nr()
        model = self.watch.model
        self.names = {id(parameter): name for name, parameter in model.named_parameters()}
        for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            self.contents.call_it(quote(name), tensor)
            self.contents.read(tensor.detach())
        self._name_gradients()
        self._name_state()
        self.mode, self.thread = rharness_modes_torch.mode_of(self.torch)(self), threading.get_ident()
        rharness_modes_torch.enter(self.mode)
        self.patches = rharness_calls_units.patch(self.torch, self)
        self.active = True

    def end_step(self):
        self.active = False
        for undo in self.patches:
            undo()
        self.patches = []
        mode, self.mode = self.mode, None
        if mode is not None:
            if threading.get_ident() != self.thread or not rharness_modes_torch.leave(mode):
                # It stays where it is, and does nothing any more: nobody leaves another thread's modes.
                self.fail(RuntimeError("the step ended in another thread than its first call of the model"))
            self.contents.forget()
            if self.file is not None:
                self.file.flush()

    def stop(self, error):
        file, self.file = self.file, None
        if file is not None:
            file.end(error)
        self.end_step()

    def fail(self, error):
        """No more of it, from any thread; the mode is left at the step's end."""
        self.active = False
        file, self.file = self.file, None
        if file is not None:
            file.end("%s: %s" % (type(error).__name__, error))

    def enter(self, name):
        self.stack.append(name)
        if self.torch._C._current_graph_task_id() == -1:
            self.phase = "forward"

    def leave(self, name):
        if name in self.stack:
            while self.stack.pop() != name:
                pass

    def begin_optimizer(self):
        self._name_gradients()
        self._name_state()
        self.phase, self.stack = "optimizer", []

    def name_batch(self, args, kwargs):
        for index, value in enumerate(args):
            self._name_all("batch[%d]" % index, value)
        for key, value in kwargs.items():
            self._name_all("batch[%s]" % key, value)

    def _name_all(self, name, value):
        if isinstance(value, self.torch.Tensor):
            self.contents.call_it(quote(name), value)
        elif isinstance(value, dict):
            for key, one in list(value.items())[:MOST_TENSORS]:
                self._name_all("%s[%s]" % (name, key), one)
        elif isinstance(value, (list, tuple)):
            for index, one in enumerate(value[:MOST_TENSORS]):
                self._name_all("%s[%d]" % (name, index), one)

    def _name_gradients(self):
        for name, parameter in self.watch.model.named_parameters():
            if parameter.grad is not None:
                self.contents.call_it(quote("grad:" + name), parameter.grad)

    def _name_state(self):
        for parameter, state in list(getattr(self.watch.optimizer, "state", {}).items()):
            name = self.names.get(id(parameter))
            for key, value in state.items() if name is not None else ():
                if isinstance(value, self.torch.Tensor):
                    self.contents.call_it(quote("state:%s.%s" % (name, key)), value)

    # One call.

    def call(self, func, args, kwargs):
        noted = self._guard(self._before, func, args, kwargs)
        result = func(*args, **kwargs)
        if noted is not None and self.active:
            self._guard(self._after, noted, result)
        return result

    def _guard(self, work, *args):
        torch = self.torch
        graded = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)
        try:
            return work(*args)
        except Exception as error:
            self.fail(error)
            return None
        finally:
            torch._C._set_grad_enabled(graded)

    def _before(self, func, args, kwargs):
        plan = self.plans.get(func)
        if plan is None:
            plan = self.plans[func] = _Plan(self.torch, func)
        if plan.op.startswith("profiler."):
            return None
        where, words, tensors, changed, source = self._where(), [], [], [], None
        named = list(zip(plan.names, args)) + list(kwargs.items())
        written = plan.written
        if plan.running and dict(named).get("training", True):
            written = written | plan.running
        for name, value in named:
            found = self.tensors(value, [])
            if not found:
                if value is not None and not plan.collective and name != "generator":
                    words.append("%s=%s" % (name, value_text(value, self.plain)))
                continue
            if name in written:
                changed += found
            if name not in plan.dropped:
                tensors += found
        if tensors and plan.view:
            source = tensors[0]
        if any(one.device.type == "meta" for one in tensors):
            return None
        read = () if plan.allocates else self.texts(self.contents.read, tensors)
        draw = self._state_of_generator(kwargs, args) if plan.draws else None
        group = rharness_calls_units.begin_collective(self, plan.op, named) if plan.collective else ""
        return plan, ", ".join(words), read, changed, source, draw, where, group, args, kwargs

    def _after(self, noted, result):
        plan, words, read, changed, source, draw, (phase, module, site), group, args, kwargs = noted
        more, there = [("group", group)], True
        if plan.collective:
            there = rharness_calls_units.awaited(self, plan.op, result)
        results = self.tensors(result, [])
        if any(one.device.type == "meta" for one in results):
            return
        if plan.allocates:
            for one in results:
                self.contents.allocated(one)
            return
        order, contents = self.file.order, self.contents
        outputs = [one for one in results if not any(one is other for other in changed)]

        # Bytes beside floating-point results are a kernel's reserve, some of which nothing writes.
        reserve = len(outputs) > 1 and outputs[0].is_floating_point()

        def seen(tensor):
            if not there:
                return contents.pending(tensor, order)
            if reserve and tensor.dtype is self.torch.uint8:
                return contents.allocated(tensor)
            if plan.view or (not changed and contents.readable(tensor) and contents.known(tensor)):
                return contents.viewed(tensor, source)
            return contents.wrote(tensor, order)

        written = self.texts(seen, outputs)
        written += self.texts(contents.wrote if there else contents.pending, changed, order)
        if draw is not None and draw != self._state_of_generator(kwargs, args):
            more.append(("rng", draw))
        self.file.add(phase, module, plan.op, site, words, read, written, more, plan.view)

    def tensors(self, value, found):
        if isinstance(value, self.torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for one in value:
                self.tensors(one, found)
        return found

    def unit(self, op, words, kind, values, original, args, kwargs):
        """One call of what no dispatcher sees into; what it changed of its inputs is told by content."""
        self.inside = True
        try:
            tensors = self.tensors(values, [])
            read = self._guard(lambda: (self._where(), self.texts(self.contents.read, tensors)))
            result = original(*args, **kwargs)
            if read is not None and self.active:
                self._guard(self._after_unit, op, words, kind, tensors, read, result)
            return result
        finally:
            self.inside = False

    def _after_unit(self, op, words, kind, tensors, read, result):
        (phase, module, site), read = read
        order, contents = self.file.order, self.contents

        def seen(tensor):
            if contents.readable(tensor) and contents.known(tensor):
                return contents.viewed(tensor, None)
            return contents.wrote(tensor, order)

        changed = [one for one in tensors if contents.changed(one)]
        written = self.texts(contents.wrote, changed, order)
        written += self.texts(seen, [one for one in self.tensors(result, []) if not any(one is it for it in changed)])
        self.file.add(phase, module, op, site, words, read, written, [("unit", kind)])

    def texts(self, work, tensors, *more):
        texts = [work(one, *more) for one in tensors]
        if len(texts) > MOST_TENSORS:
            rest = texts[MOST_TENSORS - 1 :]
            digest = hashlib.sha256("".join(one.partition(',"from"')[0] for one in rest).encode()).hexdigest()[:16]
            texts = texts[: MOST_TENSORS - 1] + ['{"digest":"%s","count":%d}' % (digest, len(rest))]
        return texts

    def _state_of_generator(self, kwargs, args):
        torch = self.torch
        generator = kwargs.get("generator")
        if generator is None:
            device = kwargs.get("device") or next((one.device for one in self.tensors(args, [])), None)
            device = torch.device(device) if device is not None else torch.device("cpu")
            if device.type == "cuda":
                index = device.index if device.index is not None else torch.cuda.current_device()
                generator = torch.cuda.default_generators[index]
            else:
                generator = torch.default_generator
        return self.contents._digest(generator.get_state())

    # Where a call was made.

    def _where(self):
        """Phase, module and call site."""
        torch = self.torch
        if torch._C._current_graph_task_id() == -1:
            module = self.stack[-1] if self.stack else ""
            self._note_nodes(module)
            if self.phase == "other" and not self.graded:
                self.graded = True
                self._name_gradients()
            return self.phase, module, self._site()
        if self.phase != "optimizer":
            self.phase = "other"  # what comes after it
        if self.stack:  # what a checkpoint computes again
            return "backward", self.stack[-1], self._site()
        node = torch._C._current_autograd_node()
        if node is None:
            return "backward", "", ""
        variable = getattr(node, "variable", None)
        if variable is not None:
            return "backward", self.names.get(id(variable), "").rpartition(".")[0], ""
        return "backward", self.nodes.get(node._sequence_nr(), ""), ""

    def _note_nodes(self, module):
        """Nodes of autograd are numbered as they are made, before their operator is dispatched."""
        number = self.torch._C._autograd._get_sequence_nr()
        for one in range(max(self.sequence, number - MOST_TENSORS), number):
            self.nodes[one] = module
        self.sequence = number

    def _site(self):
        frame = sys._getframe(4)
        while frame is not None:
            code = frame.f_code
            name = self.sites.get(code)
            if name is None:
                path = code.co_filename
                skip = path.startswith((self.library, _OURS, "<frozen")) or path.startswith("<eval_with_key")
                name = self.sites[code] = "" if skip else os.path.basename(path)
            if name:
                return "%s:%d" % (name, frame.f_lineno)
            frame = frame.f_back
        return ""
