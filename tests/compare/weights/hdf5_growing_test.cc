// Datasets of HDF5 whose shape may grow have the bytes that the real h5py says, by every index.
#include <gtest/gtest.h>

#include "tests/compare/weights/python_files_fixture.h"

namespace rharness {
namespace {

// The index of `far` has several pages; some were never written.
constexpr std::string_view kGrowingProgram = R"py(
import os, sys
try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)
os.chdir(sys.argv[1])
expected = open('expected.txt', 'w')
refused = open('refused.txt', 'w')
names = {'uint8': 'U8', 'int16': 'I16', 'float32': 'F32'}
filters = {'plain': {}, 'sum': dict(fletcher32=True),
           'all': dict(compression='gzip', shuffle=True, fletcher32=True)}
a = (np.arange(60 * 42) % 251).reshape(60, 42)
limits = [(None, 42), (60, None), (None, None), (100, 50), (None, 50), (100, None)]
for label, how in filters.items():
    file, arrays = f'{label}.h5', {}
    with h5py.File(file, 'w', libver='latest') as f:
        for k, most in enumerate(limits):
            for t in ('i2', 'f4'):
                name = f'm{k}_{t}'
                d = f.create_dataset(name, (30, 42), t, chunks=(1, 5), maxshape=most, **how)
                if most[0] is None:
                    d.resize((60, 42))
                arrays[name] = a[:d.shape[0]].astype(t)
                d[...] = arrays[name]
        f.create_dataset('shrinks', (90, 9), 'i2', chunks=(4, 4), maxshape=(None, None), **how)[...] = 1
        f['shrinks'].resize((11, 5))
        arrays['shrinks'] = np.ones((11, 5), 'i2')
        f.create_dataset('cube', (6, 7, 8), 'i2', chunks=(1, 2, 3), maxshape=(6, None, 30), **how)[2, 3, 4] = 7
        arrays['cube'] = np.zeros((6, 7, 8), 'i2')
        arrays['cube'][2, 3, 4] = 7
        if label == 'plain':
            far = (np.arange(70000) % 251).astype('u1')
            far[66600:68800] = 0
            d = f.create_dataset('far', far.shape, 'u1', chunks=(1,), maxshape=(None,))
            d[:66600] = far[:66600]
            d[68800:] = far[68800:]
            arrays['far'] = far
    for i, (name, value) in enumerate(arrays.items()):
        open(f'{file}.{i}.bin', 'wb').write(value.tobytes())
        shape = '[' + ','.join(str(n) for n in value.shape) + ']'
        expected.write(f'{file}\t{name}\t{names[value.dtype.name]}\t{shape}\n')
with h5py.File('small.h5', 'w', libver='latest') as f:
    for k, most in enumerate([(None, 3), (None, None)]):
        f.create_dataset(f'd{k}', data=a[:30, :3].astype('i2'), chunks=(1, 1), maxshape=most, **how)
)py";

TEST_F(PythonFiles, OfH5pyMayGrowInAnyDimension) {
  if (!Run(kGrowingProgram)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  CheckAll();
}

TEST_F(PythonFiles, OfH5pyThatMayGrowMayBeDamagedAtAnyByte) {
  if (!Run(kGrowingProgram)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  std::ifstream stream(folder_ / "small.h5", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 41) {
    for (const char value : {'\0', '\xff', '\x01'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      const auto checkpoint = OpenCheckpoint(Write(damaged, "damaged.h5"));
      if (checkpoint.ok()) (void)DigestCheckpoint(**checkpoint, 1);
      refused += checkpoint.ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 40);
}

}  // namespace
}  // namespace rharness
