// The Python programs that write checkpoints with the real flax, Orbax, TensorFlow and Keras.
//
// Role: as python_files.h. Each runs with the versions that are installed; exit code 77: none is.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_FRAMEWORK_FILES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_FRAMEWORK_FILES_H_

#include <string>
#include <string_view>

namespace rharness {

inline constexpr std::string_view kExpectProgram = R"py(
import os, sys
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'
os.environ['CUDA_VISIBLE_DEVICES'] = ''
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import numpy as np
os.chdir(sys.argv[1])
names = {'bool': 'BOOL', 'uint8': 'U8', 'int8': 'I8', 'int16': 'I16', 'uint16': 'U16',
         'int32': 'I32', 'uint32': 'U32', 'int64': 'I64', 'uint64': 'U64', 'float16': 'F16',
         'float32': 'F32', 'float64': 'F64', 'complex64': 'C64', 'complex128': 'C128',
         'bfloat16': 'BF16', 'float8_e4m3fn': 'F8_E4M3', 'float8_e5m2': 'F8_E5M2'}
expected, equal = open('expected.txt', 'w'), open('equal.txt', 'w')
def expect(file, arrays):
    for i, (name, a) in enumerate(arrays.items()):
        a = np.asarray(a)
        open(f'{file.replace("/", "_")}.{i}.bin', 'wb').write(a.tobytes(order='C'))
        shape = '[' + ','.join(str(n) for n in a.shape) + ']'
        expected.write(f'{file}\t{name}\t{names[a.dtype.name]}\t{shape}\n')
def same(*files):
    equal.write('\t'.join(files) + '\n')
)py";

inline constexpr std::string_view kOrbaxProgram = R"py(
try:
    import jax, jax.numpy as jnp, orbax.checkpoint as ocp
    from flax import serialization
except ImportError:
    sys.exit(77)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
key = jax.random.PRNGKey(3)
tree = {'params': {'dense': {'kernel': jax.random.normal(key, (13, 7)), 'bias': jnp.zeros(7)},
                   'embedding': jax.random.normal(key, (300, 70)).astype(jnp.bfloat16)},
        'opt': [jnp.arange(24).reshape(2, 3, 4).astype(t) for t in
                ('bool', 'uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'float16',
                 'complex64')], 'step': jnp.int32(7), 'empty': jnp.zeros((0, 3)), 'rate': 0.125}
def flat(tree, path=''):
    if isinstance(tree, dict): items = tree.items()
    elif isinstance(tree, (list, tuple)): items = ((str(i), v) for i, v in enumerate(tree))
    else: return {path: np.asarray(tree)}
    return {k: v for name, sub in items for k, v in flat(sub, f'{path}/{name}'.strip('/')).items()}
open('state.msgpack', 'wb').write(serialization.to_bytes(tree)); expect('state.msgpack', flat(tree))
serialization.MAX_CHUNK_SIZE = 1000
open('chunks.msgpack', 'wb').write(serialization.to_bytes(tree)); same('state.msgpack', 'chunks.msgpack')
# TensorStore stores no array without elements in some versions.
tree = {k: v for k, v in tree.items() if k != 'empty'}
open('full.msgpack', 'wb').write(serialization.to_bytes(tree))
def save(folder, tree, **how):
    checkpointer = ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**how))
    checkpointer.save(os.path.abspath(folder), tree); checkpointer.close()
save('database', tree, use_ocdbt=True); expect('database', flat(tree))
save('files', tree, use_ocdbt=False)
save('zarr3', tree, use_ocdbt=True, use_zarr3=True)
save('zarr3_files', tree, use_ocdbt=False, use_zarr3=True)
same('full.msgpack', 'database', 'files', 'zarr3', 'zarr3_files')
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('x', 'y'))
w = jax.random.normal(key, (64, 30))
cut = {'w': jax.device_put(w, NamedSharding(mesh, P('x', 'y'))),
       'v': jax.device_put(w, NamedSharding(mesh, P(None, 'y'))),
       'r': jax.device_put(w, NamedSharding(mesh, P()))}
save('cut', cut, use_ocdbt=True)
save('cut_files', cut, use_ocdbt=False)
save('cut_zarr3', cut, use_ocdbt=True, use_zarr3=True)
expect('cut', flat(cut)); same('cut', 'cut_files', 'cut_zarr3')
plain = {k: v for k, v in tree.items() if k != 'rate'}
manager = ocp.CheckpointManager(os.path.abspath('run'), item_names=('state', 'extra', 'about'))
manager.save(5, args=ocp.args.Composite(state=ocp.args.StandardSave(plain),
             extra=ocp.args.StandardSave({'a': jnp.ones(3)}), about=ocp.args.JsonSave({'a': 1})))
manager.wait_until_finished(); manager.close()
expect('run/5', {**{f'state/{k}': v for k, v in flat(plain).items()}, 'extra/a': jnp.ones(3)})
manager = ocp.CheckpointManager(os.path.abspath('one'))
manager.save(5, args=ocp.args.StandardSave(plain)); manager.wait_until_finished(); manager.close()
expect('one/5', flat(plain))
)py";

inline constexpr std::string_view kTensorFlowProgram = R"py(
try:
    import tensorflow as tf
    from tensorflow import keras
except ImportError:
    sys.exit(77)
types = [t for t in names if hasattr(tf, t) and t not in ('float8_e4m3fn', 'float8_e5m2')]
values = {t: tf.Variable(tf.cast(tf.reshape(tf.range(24) % 7, (2, 3, 4)), t)) for t in types}
checkpoint = tf.train.Checkpoint(step=tf.Variable(3, dtype=tf.int64), text=tf.Variable('a text'),
                                 **values)
for i in range(3):
    checkpoint.step.assign_add(1); path = checkpoint.save('saved/ckpt')
def loaded(path):
    reader = tf.train.load_checkpoint(path)
    ending = '/.ATTRIBUTES/VARIABLE_VALUE'
    return {k[:-len(ending)] if k.endswith(ending) else k: reader.get_tensor(k)
            for k, d in reader.get_variable_to_dtype_map().items() if d != tf.string}
expect('saved/ckpt-3.index', loaded('saved/ckpt-3'))
expect('saved/ckpt-1.index', loaded('saved/ckpt-1'))
tf.random.set_seed(1); keras.utils.set_random_seed(1)
first = keras.layers.Dense(5); first.build((None, 4))  # Keras counts names: dense, dense_1, ...
class Sub(keras.layers.Layer):
    def __init__(self): super().__init__(); self.inner = keras.layers.Dense(3)
    def build(self, shape): self.inner.build(shape)
    def call(self, x): return self.inner(x)
entry = keras.Input((6,)); x = keras.layers.Dense(5, name='block_2')(entry)
x = keras.layers.BatchNormalization()(keras.layers.Dense(5)(x))
x = keras.Sequential([keras.Input((5,)), keras.layers.Dense(6), keras.layers.Dense(6)], name='tower')(x)
x = keras.layers.Bidirectional(keras.layers.LSTM(3))(keras.layers.Reshape((6, 1))(x))
model = keras.Model(entry, keras.layers.Dense(2)(x))
model.compile('adam', 'mse'); model.fit(np.random.rand(8, 6), np.random.rand(8, 2), verbose=0)
model.save('model.keras'); model.save('model.h5')
if int(getattr(keras, '__version__', '2').split('.')[0]) >= 3:
    model.save_weights('model.weights.h5'); same('model.keras', 'model.h5', 'model.weights.h5')
else: same('model.keras')
module = tf.Module(); module.w, module.b = values['float32'], values['int64']
tf.saved_model.save(module, 'exported')
expect('exported', loaded('exported/variables/variables'))
)py";

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_FRAMEWORK_FILES_H_
