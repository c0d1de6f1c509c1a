// The Python program that writes HDF5 files and Keras archives with the real h5py.
//
// Role: as python_files.h.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_HDF5_FILES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_HDF5_FILES_H_

#include <string_view>

namespace rharness {

// As Keras 3 writes its archives: model.weights.h5 stored, with config.json and metadata.json.
inline constexpr std::string_view kHdf5Program = R"py(
import os, sys, zipfile
try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)
os.chdir(sys.argv[1])
names = {'bool': 'BOOL', 'uint8': 'U8', 'int8': 'I8', 'int16': 'I16', 'uint16': 'U16',
         'int32': 'I32', 'uint32': 'U32', 'int64': 'I64', 'uint64': 'U64', 'float16': 'F16',
         'float32': 'F32', 'float64': 'F64'}
expected, refused, arrays = open('expected.txt', 'w'), open('refused.txt', 'w'), {}
for name in names:
    arrays[f'layers/{name}/vars/0'] = (np.arange(24).reshape(2, 3, 4) % 7).astype(name)
    arrays[f'big/{name}'] = arrays[f'layers/{name}/vars/0'].astype(np.dtype(name).newbyteorder('>'))
for i in range(300):  # more than one node of a B-tree holds
    arrays[f'optimizer/vars/{i}'] = np.full((i % 5 + 1,), i, 'float32')
arrays['scalar'], arrays['empty'] = np.float32(2.5), np.zeros((0, 3))
def write(file, arrays=arrays, **options):
    with h5py.File(file, 'w', **options) as f:
        for name, a in arrays.items():
            f.create_dataset(name, data=a)
        f.require_group('layers/vars').attrs['name'] = 'x'
def expect(file):
    for i, (name, a) in enumerate(arrays.items()):
        a = np.asarray(a)
        little = a.astype(a.dtype.newbyteorder('<'))
        open(f'{file}.{i}.bin', 'wb').write(little.tobytes(order='C'))
        shape = '[' + ','.join(str(n) for n in a.shape) + ']'
        if name.endswith('vars/0') and name.startswith('layers'): name = name.split('/')[1] + '/0'
        name = name.replace('optimizer/vars', 'optimizer')
        expected.write(f'{file}\t{name}\t{names[a.dtype.newbyteorder("=").name]}\t{shape}\n')
write('model.weights.h5'); expect('model.weights.h5')
def keras(file, address, date, units=3, **how):
    with zipfile.ZipFile(file, 'w', **how) as z:
        z.writestr('metadata.json', '{"keras_version": "3.15.1", "date_saved": "%s"}' % date)
        z.writestr('config.json', '{"config": {"units": %d, "dtype": {"shared_object_id": %d}}}' % (units, address))
        z.write('model.weights.h5')
keras('model.keras', 140523737106704, '2026-11-27@18:49:29'); expect('model.keras')
keras('again.keras', 140119067027856, '2026-11-27@18:53:07')
keras('wider.keras', 140119067027856, '2026-11-27@18:53:07', units=4)
keras('packed.keras', 1, '', compression=zipfile.ZIP_DEFLATED); refused.write('packed.keras\tis deflated\n')
write('latest.h5', libver='latest'); expect('latest.h5')
# Chunks of every shape, through each row of filters; the last have random bits, which do not deflate.
everything = arrays
arrays = {f'a{i}': (np.arange(n * m) % 251).reshape(n, m).astype(t)
          for i, (n, m, t) in enumerate([(100, 90, 'f4'), (7, 11, 'i8'), (3000, 1, 'u1'), (64, 64, 'i2')])}
arrays['random'] = np.random.default_rng(1).integers(0, 255, (50, 40)).astype('u1')
for libver in ('earliest', 'latest'):
    for i, how in enumerate([dict(chunks=True), dict(chunks=True, shuffle=True), dict(chunks=True, fletcher32=True),
                             dict(compression='gzip'), dict(compression='gzip', shuffle=True),
                             dict(compression='gzip', shuffle=True, fletcher32=True)]):
        file = f'{libver}{i}.h5'
        with h5py.File(file, 'w', libver=libver) as f:
            for name, a in arrays.items(): f.create_dataset(name, data=a, **how)
        expect(file)
    plain, z = arrays, np.zeros((40, 40), 'f4')
    z[39, 39] = 7
    with h5py.File(f'grid_{libver}.h5', 'w', libver=libver) as f:
        for name, a in arrays.items(): f.create_dataset(name, data=a, chunks=(2, min(a.shape[1], 7)), compression='gzip', shuffle=True)
        f.create_dataset('z', (40, 40), 'f4', chunks=(8, 8))[39, 39] = 7
        f.create_dataset('one', data=arrays['a0'], chunks=(100, 90))
    arrays = dict(plain, z=z, one=arrays['a0']); expect(f'grid_{libver}.h5'); arrays = plain
# Links in a heap: of one block, and of blocks of blocks.
for count in (20, 3000):
    arrays = {f'g/a rather long name of an array, number {i}': np.float32(i) for i in range(count)}
    write(f'many{count}.h5', arrays, libver='latest'); expect(f'many{count}.h5')
arrays = everything
# The older layout of Keras: lists of names, and the classes of layers.
layers = {'first': ['kernel', 'bias'], 'dense_7': ['kernel', 'bias'], 'tower': ['dense_8/kernel', 'dense_8/bias', 'dense_9/kernel'],
          'bidirectional_1': ['forward_lstm/lstm_cell/kernel', 'forward_lstm/lstm_cell/bias', 'backward_lstm/lstm_cell/kernel']}
def config(name, kind, inner=()):
    return {'class_name': kind, 'config': {'name': name, 'layers': list(inner)}}
model = config('m', 'Sequential', [config('first', 'Dense'), config('dense_7', 'Dense'),
    config('tower', 'Sequential', [config('dense_8', 'Dense'), config('dense_9', 'Dense')]), config('bidirectional_1', 'Bidirectional')])
import json
with h5py.File('older.h5', 'w') as f, h5py.File('newer.weights.h5', 'w') as g:
    f.attrs['model_config'] = json.dumps(model)
    f.attrs['keras_version'] = '3.15.1'
    w = f.create_group('model_weights')
    w.attrs['layer_names'] = np.array([n.encode() for n in layers])
    value = 0
    def pair(old, new):
        global value
        value += 1
        f[old] = np.full((2, 3), value, 'float32'); g[new] = np.full((2, 3), value, 'float32')
    for layer, weights in layers.items():
        group = w.create_group(layer)
        listed = [f'm/{layer}/{n}' if layer == 'first' else f'{layer}/{n}' for n in weights]
        group.attrs['weight_names'] = np.array([n.encode() for n in listed])
    pair('model_weights/first/m/first/kernel', 'layers/dense/vars/0')
    pair('model_weights/first/m/first/bias', 'layers/dense/vars/1')
    pair('model_weights/dense_7/dense_7/kernel', 'layers/dense_1/vars/0')
    pair('model_weights/dense_7/dense_7/bias', 'layers/dense_1/vars/1')
    pair('model_weights/tower/tower/dense_8/kernel', 'layers/sequential/layers/dense/vars/0')
    pair('model_weights/tower/tower/dense_8/bias', 'layers/sequential/layers/dense/vars/1')
    pair('model_weights/tower/tower/dense_9/kernel', 'layers/sequential/layers/dense_1/vars/0')
    for way in ('forward', 'backward'):
        pair(f'model_weights/bidirectional_1/bidirectional_1/{way}_lstm/lstm_cell/kernel', f'layers/bidirectional/{way}_layer/cell/vars/0')
        g[f'layers/bidirectional/{way}_layer/cell/vars'].attrs['name'] = 'lstm_cell'
        g.create_group(f'layers/bidirectional/{way}_layer/vars').attrs['name'] = f'{way}_lstm'
    pair('model_weights/bidirectional_1/bidirectional_1/forward_lstm/lstm_cell/bias', 'layers/bidirectional/forward_layer/cell/vars/1')
    g['layers/dense/vars'].attrs['name'] = 'first'
    g['layers/dense_1/vars'].attrs['name'] = 'dense_7'
    g['layers/sequential/layers/dense/vars'].attrs['name'] = 'dense_8'
    g.create_group('layers/sequential/vars').attrs['name'] = 'tower'
    g.create_group('layers/bidirectional/vars').attrs['name'] = 'bidirectional_1'
    names_of = f.create_group('optimizer_weights')
    names_of.attrs['weight_names'] = np.array([b'adam/iteration', b'adam/m'])
    pair('optimizer_weights/adam/iteration', 'optimizer/vars/0')
    pair('optimizer_weights/adam/m', 'optimizer/vars/1')
def other(file, make, words):
    with h5py.File(file, 'w') as f:
        f['layers/a'] = np.zeros(3)
        make(f)
    refused.write(f'{file}\t{words}\n')
other('lzf.h5', lambda f: f.create_dataset('x', data=np.zeros(9), compression='lzf'), "the filter lzf (32000), of 'x'")
other('big.h5', lambda f: f.create_dataset('x', data=np.zeros(9, '>f4'), chunks=(3,)), 'big-endian values in chunks')
other('filled.h5', lambda f: f.create_dataset('x', (9,), 'f4', chunks=(3,), fillvalue=2), 'values are not 0')
for name, value in (('text.h5', np.array([b'a'])), ('complex.h5', np.zeros(2, 'complex64'))):
    other(name, lambda f: f.create_dataset('x', data=value), 'no plain number')
other('side.h5', lambda f: f.create_dataset('x', (2**11, 2**14), 'f4', chunks=(2**11, 2**10), compression='gzip', shuffle=True).__setitem__((0, 0), 1), 'side by side')
other('link.h5', lambda f: f.__setitem__('g', h5py.SoftLink('/layers/a')), 'a symbolic link')
other('outside.h5', lambda f: f.create_dataset('x', (2,), 'f4', external=[('o.bin', 0, 8)]), 'in other files')
with h5py.File('loop.h5', 'w') as f:
    f['a/b'], f['a/again'] = np.zeros(2), f.require_group('a')
refused.write('loop.h5\tmore than 32 levels\n')
with h5py.File('small.h5', 'w') as f: f['a/b'] = np.arange(4, dtype='f4')
for libver in ('earliest', 'latest'):
    with h5py.File(f'small_{libver}.h5', 'w', libver=libver) as f:
        f.create_dataset('b', data=np.arange(40, dtype='f4'), chunks=(9,), compression='gzip', shuffle=True)
        for i in range(9 if libver == 'latest' else 1): f[f'c/{i}'] = np.float32(i)
)py";

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_HDF5_FILES_H_
