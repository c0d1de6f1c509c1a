// The Python program that writes checkpoints with the real torch and numpy.
//
// Role: the independent implementation that python_files_test.cc compares the readers with. Beside
// every file F it writes the bytes of each tensor, contiguous, as F.N.bin, and lists "F<tab>name
// <tab>dtype<tab>[shape]" in expected.txt, and "F<tab>words of the error" in refused.txt.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_H_

#include <string_view>

namespace rharness {

inline constexpr std::string_view kNumpyProgram = R"py(
import os, sys
try:
    import numpy as np
except ImportError:
    sys.exit(77)
os.chdir(sys.argv[1])
names = {'bool': 'BOOL', 'uint8': 'U8', 'int8': 'I8', 'int16': 'I16', 'uint16': 'U16',
         'int32': 'I32', 'uint32': 'U32', 'int64': 'I64', 'uint64': 'U64', 'float16': 'F16',
         'float32': 'F32', 'float64': 'F64', 'complex64': 'C64', 'complex128': 'C128'}
expected, refused = open('expected.txt', 'w'), open('refused.txt', 'w')
def expect(file, arrays):
    for i, (name, a) in enumerate(arrays.items()):
        a = np.asarray(a)
        shape = '[' + ','.join(str(n) for n in a.shape) + ']'
        little = a.astype(a.dtype.newbyteorder('<'))
        open(f'{file}.{i}.bin', 'wb').write(little.tobytes(order='C'))
        expected.write(f'{file}\t{name}\t{names[a.dtype.newbyteorder("=").name]}\t{shape}\n')
arrays = {}
for name in names:
    arrays[name] = (np.arange(24).reshape(2, 3, 4) % 7).astype(name)
    arrays[name + '.t'] = arrays[name].T
    arrays[name + '.be'] = arrays[name].astype(arrays[name].dtype.newbyteorder('>'))
arrays['scalar'], arrays['empty'] = np.float32(2.5), np.zeros((0, 3))
arrays['large'] = np.asfortranarray(np.random.RandomState(1).rand(700, 900))
np.savez('stored.npz', **arrays); expect('stored.npz', arrays)
np.savez_compressed('deflated.npz', **arrays); expect('deflated.npz', arrays)
np.save('one.npy', arrays['large']); expect('one.npy', {'array': arrays['large']})
np.save('object.npy', np.array([None], dtype=object)); refused.write('object.npy\tpickled objects\n')
np.save('text.npy', np.array(['a'])); refused.write("text.npy\tdtype '<U1'\n")
np.save('fields.npy', np.zeros(2, dtype=[('a', 'f4')])); refused.write('fields.npy\tstructured\n')
)py";

inline constexpr std::string_view kTorchProgram = R"py(
import collections, io, os, sys
try:
    import torch
except ImportError:
    sys.exit(77)
os.chdir(sys.argv[1])
names = {torch.bool: 'BOOL', torch.uint8: 'U8', torch.int8: 'I8', torch.int16: 'I16',
         torch.int32: 'I32', torch.int64: 'I64', torch.float16: 'F16', torch.bfloat16: 'BF16',
         torch.float32: 'F32', torch.float64: 'F64', torch.complex64: 'C64',
         torch.complex128: 'C128'}
expected, refused = open('expected.txt', 'w'), open('refused.txt', 'w')
def raw(t):
    t = t.detach().contiguous()
    if t.dtype == torch.bfloat16: t = t.view(torch.int16)
    return t.numpy().tobytes()
def expect(file, tensors):
    for i, (name, t) in enumerate(tensors.items()):
        shape = '[' + ','.join(str(n) for n in t.shape) + ']'
        open(f'{file}.{i}.bin', 'wb').write(raw(t))
        expected.write(f'{file}\t{name}\t{names[t.dtype]}\t{shape}\n')
torch.manual_seed(1)
plain = {str(d)[6:]: (torch.arange(12).reshape(3, 4) % 5).to(d) for d in names
         if d != torch.complex128}
plain['scalar'], plain['empty'] = torch.tensor(1.5), torch.zeros(0, 2)
torch.save(plain, 'plain.pt'); expect('plain.pt', plain)
torch.save(collections.OrderedDict(plain), 'another name.pth'); expect('another name.pth', plain)
buffer = io.BytesIO(); torch.save(plain, buffer)
open('buffer.bin', 'wb').write(buffer.getvalue()); expect('buffer.bin', plain)
base = torch.randn(50, 40)
views = {'base': base, 't': base.t(), 'columns': base[:, 3:17:2], 'row': base[7], 'same': base,
         'expanded': base[:1].expand(6, 40), 'flat': base.reshape(-1)[5:900:3],
         'permuted': base.view(5, 10, 40).permute(2, 0, 1), 'c128': torch.randn(3, 2).to(
         torch.complex128).t(), 'parameter': torch.nn.Parameter(base.t()),
         'large': torch.randn(1200, 1300).t()}
torch.save(views, 'views.pt'); expect('views.pt', views)
torch.save(base.t(), 'one.pt'); expect('one.pt', {'tensor': base.t()})
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4])
model(torch.randn(5, 4)).sum().backward(); optimizer.step(); scheduler.step()
torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': 3,
            'scheduler': scheduler.state_dict(), 'rng': torch.get_rng_state(),
            'best': float('inf'), 'notes': ['a', ('b', None)]}, 'training.pt')
flat = {'model.' + k: v for k, v in model.state_dict().items()}
for i, s in optimizer.state_dict()['state'].items():
    for k, v in s.items(): flat[f'optimizer.state.{i}.{k}'] = v
flat['rng'] = torch.get_rng_state()
expect('training.pt', flat)
torch.save(model, 'module.pt')
expect('module.pt', model.state_dict())
torch.save(plain, 'old.pt', _use_new_zipfile_serialization=False); expect('old.pt', plain)
torch.save(views, 'old_views.pt', _use_new_zipfile_serialization=False)
expect('old_views.pt', views)
class Shifted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.sizes = torch.nn.Linear(3, 2), [1, 2]
        self.register_buffer('shift', torch.arange(3.))
    def forward(self, x):
        return self.fc(x + self.shift + torch.tensor([1., 2., 3.]))
shifted = Shifted()
torch.jit.script(shifted).save('script.pt'); expect('script.pt', shifted.state_dict())
torch.jit.trace(shifted, torch.zeros(1, 3)).save('trace.pt')
expect('trace.pt', {**shifted.state_dict(), '(constants).0': torch.tensor([1., 2., 3.])})
if hasattr(torch, 'export') and hasattr(torch.export, 'save'):
    program = torch.export.export(shifted, (torch.zeros(1, 3),))
    torch.export.save(program, 'exported.pt2')
    constants = {k: v for k, v in getattr(program, 'constants', {}).items() if isinstance(v, torch.Tensor)}
    expect('exported.pt2', {**program.state_dict, **{'(constants).' + k: v for k, v in constants.items()}})
unread = open('unread.txt', 'w')
integers = torch.quantize_per_tensor(base, 0.1, 3, torch.qint8)
channels = torch.quantize_per_channel(base, torch.linspace(.1, .5, 40), torch.arange(40), 1, torch.quint8)
entries, rows, tiles = base.to_sparse(), base.to_sparse_csr(), base.to_sparse_csr() if not hasattr(base, 'to_sparse_bsr') else base.to_sparse_bsr((5, 4))
torch.save({'q': integers, 'c': channels, 's': entries, 'r': rows, 't': tiles}, 'composed.pt')
composed = {'q': integers.int_repr(), 'q/scale': torch.tensor(integers.q_scale(), dtype=torch.float64),
            'q/zero_point': torch.tensor(3), 'c': channels.int_repr(), 'c/axis': torch.tensor(1),
            'c/scale': channels.q_per_channel_scales(), 'c/zero_point': channels.q_per_channel_zero_points(),
            's/indices': entries.indices(), 's/values': entries.values(), 's/shape': torch.tensor([50, 40])}
for name, t in {'r': rows, 't': tiles}.items():
    composed.update({name + '/crow_indices': t.crow_indices(), name + '/col_indices': t.col_indices(),
                     name + '/values': t.values(), name + '/shape': torch.tensor([50, 40])})
expect('composed.pt', composed)
torch.save({'m': torch.zeros(2, device='meta')}, 'meta.pt')
unread.write("meta.pt\ttensor 'm': \n")
)py";

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_PYTHON_FILES_H_
