"""Digests of what PyTorch tensors hold, for rharness_calls_torch: by the memory that they look at.

Views, detached tensors and arrays of NumPy that share memory are one `Memory`, which knows the last
call that wrote it. A digest is taken anew whenever a call wrote the memory since. Otherwise the
content is checked: up to SMALL bytes by its digest, above by sums of its words that are weighted by
their row and column, so that a write that no call shows is found, also one that only swaps words.
"""

import ctypes
import hashlib
import math

from rharness_calls import tensor_text

SMALL = 4096  # bytes
_ROW = 512  # words
_CHUNK = 1 << 15  # elements, of a sum in fp64
_PIECE = 1 << 26  # bytes of a tensor that is copied to be read in C order


def readable(torch, tensor):
    """Whether the content can be read: not of what vmap and grad of torch.func wrap."""
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        return False
    wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    return wrapped is None or not wrapped(tensor)


def transformed(torch):
    """Whether this runs inside of vmap, grad or the like of torch.func, where nothing can be read, or
    inside of torch.jit.trace, which would take what is read for a part of the program."""
    if torch._C._get_tracing_state() is not None:
        return True
    peek = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
    return peek is not None and peek() is not None


class Memory:
    """What one storage holds, and who wrote it last."""

    __slots__ = ("weak", "writes", "writer", "entries", "names", "raw")

    def __init__(self, weak):
        self.weak, self.writes, self.writer, self.entries, self.names = weak, 0, None, {}, {}
        self.raw = 0  # bytes that nothing has written yet


class _Entry:
    __slots__ = ("digest", "norm", "nonfinite", "check", "writes", "text")


class Contents:
    def __init__(self, torch):
        from torch.multiprocessing.reductions import StorageWeakRef

        self.torch, self.weak, self.kept = torch, StorageWeakRef, []
        self.memories, self.at = {}, {}
        self.scratch = torch.empty(_CHUNK, dtype=torch.float64)
        self.words = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        self.types, self.weights = {}, None

    def forget(self):
        self.memories, self.at, self.kept = {}, {}, []

    def memory(self, tensor):
        """Of tensors of one storage, or of one address, the same. A storage that is gone is not
        mistaken for one in its place: its weak reference keeps the number."""
        storage = tensor.untyped_storage()
        held = self.memories.get(storage._cdata)
        if held is None:
            weak, address = self.weak(storage), storage.data_ptr()
            held = self.at.get(address) if address else None
            if held is None or held.weak.expired():
                held = Memory(weak)
                self.at[address] = held
            self.kept.append(weak)
            self.memories[storage._cdata] = held
        return held

    def known(self, tensor):
        return tensor.untyped_storage()._cdata in self.memories

    def call_it(self, name, tensor):
        """The name of a parameter or the like, whatever tensor looks at it."""
        if self.readable(tensor):
            self.memory(tensor).names[self._key(tensor)] = name

    def readable(self, tensor):
        return readable(self.torch, tensor)

    @staticmethod
    def _key(tensor):
        if tensor.is_contiguous():
            return tensor.storage_offset(), tensor.numel(), tensor.dtype
        return tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype

    def read(self, tensor):
        """The text of an input."""
        if not self.readable(tensor):
            return self._bare(tensor)
        memory, key = self.memory(tensor), self._key(tensor)
        entry = memory.entries.get(key)
        unseen = False
        if entry is None or entry.writes != memory.writes:
            entry = self._look(memory, key, tensor)
        elif entry.check is not None:
            check = self._check(tensor)
            if check != entry.check:
                before = entry.digest
                entry = self._look(memory, key, tensor, check)
                unseen = entry.digest != before
        if unseen:
            memory.writes += 1
            entry.writes = memory.writes
        return self._finish(memory, key, entry, tensor, unseen, memory.writer)

    def wrote(self, tensor, order):
        """The text of an output, or of what was changed."""
        if not self.readable(tensor):
            return self._bare(tensor)
        memory, key = self.memory(tensor), self._key(tensor)
        memory.writes += 1
        memory.writer = order
        if memory.raw:
            memory.raw = max(0, memory.raw - tensor.numel() * tensor.element_size())
        return self._finish(memory, key, self._look(memory, key, tensor, written=True), tensor)

    def pending(self, tensor, order):
        """The text of what is being written: its content is read by the next that reads it."""
        if self.readable(tensor):
            memory = self.memory(tensor)
            memory.writes, memory.writer, memory.raw = memory.writes + 1, order, 0
        return self._bare(tensor)

    def changed(self, tensor):
        """Whether the content is another than was last read or written, or not known."""
        if not self.readable(tensor):
            return False
        memory, key = self.memory(tensor), self._key(tensor)
        entry = memory.entries.get(key)
        if entry is None or entry.writes != memory.writes:
            return bool(memory.raw)
        return entry.check is not None and self._check(tensor) != entry.check

    def viewed(self, tensor, source):
        """The text of a view of `source`, or of None: nothing was written."""
        if not self.readable(tensor):
            return self._bare(tensor)
        memory, key = self.memory(tensor), self._key(tensor)
        entry = memory.entries.get(key)
        if entry is None or entry.writes != memory.writes:
            same = None
            if source is not None and source.numel() == tensor.numel() and source.dtype == tensor.dtype:
                same = memory.entries.get(self._key(source))
            entry = self._look(memory, key, tensor, same=same)
        return self._finish(memory, key, entry, tensor)

    def allocated(self, tensor):
        """The text of memory that nothing has written."""
        if self.readable(tensor):
            memory = self.memory(tensor)
            memory.writes += 1
            memory.raw = tensor.untyped_storage().nbytes()
        return self._bare(tensor)

    def _bare(self, tensor):
        return "{%s}" % tensor_text("", tensor.shape, self._type(tensor), 0.0, 0)

    def _type(self, tensor):
        name = self.types.get(tensor.dtype)
        if name is None:
            name = self.types[tensor.dtype] = str(tensor.dtype).replace("torch.", "")
        return name

    def _finish(self, memory, key, entry, tensor, unseen=False, writer=None):
        text = entry.text.get(tensor.shape)
        if text is None:
            text = entry.text[tensor.shape] = tensor_text(
                entry.digest, tensor.shape, self._type(tensor), entry.norm, entry.nonfinite)
        if writer is not None:
            text += ',"from":%d' % writer
        if memory.names:
            name = memory.names.get(key)
            if name is not None:
                text += ',"name":' + name
        return "{%s%s}" % (text, ',"unseen":true' if unseen else "")

    def _look(self, memory, key, tensor, check=None, written=False, same=None):
        entry = _Entry()
        entry.writes, entry.text, entry.check, entry.nonfinite = memory.writes, {}, None, 0
        if memory.raw and not written:
            entry.digest, entry.norm = "", 0.0
            return entry
        if tensor.numel() == 0:
            entry.digest, entry.norm = hashlib.sha256().hexdigest()[:16], 0.0
        else:
            entry.digest = self._digest(tensor)
            entry.check = check if check is not None else self._check(tensor, entry.digest)
            if same is not None and same.writes == memory.writes:
                entry.norm, entry.nonfinite = same.norm, same.nonfinite
            else:
                entry.norm, entry.nonfinite = self._norm(tensor)
        memory.entries[key] = entry  # whole: other threads may read it
        return entry

    def _check(self, tensor, digest=None):
        """What is compared where no call wrote: small ones' digest, large ones' weighted sums of words."""
        size = tensor.element_size()
        if tensor.numel() * size <= SMALL:
            return digest or self._digest(tensor)
        if tensor.is_neg() or tensor.is_complex():
            tensor = tensor.resolve_neg().resolve_conj()
        if size == 16:
            tensor, size = self.torch.view_as_real(tensor), 8
        words = tensor.view(self.words[size]).reshape(-1).contiguous()
        each = 8 // size
        if each > 1 and words.data_ptr() % 8 == 0 and words.numel() >= each:
            whole = words.numel() // each * each
            rest = words[whole:].sum().item() if whole < words.numel() else 0
            return self._weighted(words[:whole].view(self.torch.int64)), rest
        return self._weighted(words)

    def _weighted(self, words):
        """Modulo 2^64. Odd weights: a single word that changes always shows."""
        whole = words.numel() // _ROW * _ROW
        rows, rest = words[:whole].view(-1, _ROW), words[whole:]
        most = max(rows.shape[0], _ROW)
        if self.weights is None or self.weights.numel() < most or self.weights.device != words.device:
            self.weights = self.torch.arange(1, 2 * most, 2, device=words.device)
        parts = [rows.sum(1), rows.sum(0), rest]
        return tuple((part * self.weights[: part.numel()]).sum().item() for part in parts)

    def _digest(self, tensor):
        digest = hashlib.sha256()
        self._feed(digest, tensor)
        return digest.hexdigest()[:16]

    def _feed(self, digest, tensor):
        if tensor.is_neg() or tensor.is_complex():
            tensor = tensor.resolve_neg().resolve_conj()
        size = tensor.numel() * tensor.element_size()
        if not tensor.is_contiguous() or tensor.device.type != "cpu":
            if size > _PIECE and tensor.dim() and tensor.shape[0] > 1:
                for part in tensor.split(max(1, tensor.shape[0] * _PIECE // size)):
                    self._feed(digest, part)
                return
            tensor = tensor.contiguous().cpu()
        if size:
            digest.update((ctypes.c_char * size).from_address(tensor.data_ptr()))

    def _norm(self, tensor):
        torch = self.torch
        flat = tensor.reshape(-1) if tensor.numel() * tensor.element_size() <= _PIECE else tensor.flatten()
        if flat.is_complex():
            flat = torch.view_as_real(flat.resolve_conj()).reshape(-1)
        if flat.device.type != "cpu" or flat.numel() <= 512:
            if not flat.is_floating_point():
                flat = flat.double()
            squares = torch.linalg.vector_norm(flat, dtype=torch.float64).item() ** 2
        else:
            squares = 0.0
            for part in flat.split(_CHUNK):
                whole = self.scratch[: part.numel()].copy_(part)
                squares += torch.dot(whole, whole).item()
        if math.isfinite(squares):
            return math.sqrt(squares), 0
        finite = torch.isfinite(flat)
        rest = torch.where(finite, flat, torch.zeros((), dtype=flat.dtype, device=flat.device)).double()
        return torch.linalg.vector_norm(rest).item(), int((~finite).sum().item())
