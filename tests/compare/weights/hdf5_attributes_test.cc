// Attributes of HDF5 files that the real h5py wrote: loaded with the tensors, by value.
#include "compare/weights/hdf5_attributes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "compare/weights/side_files.h"
#include "tests/compare/weights/python_files_fixture.h"

namespace rharness {
namespace {

// Pairs of files that differ in one attribute, or in none that matters; with what is said of them.
constexpr std::string_view kPairs = R"py(
import os, sys
try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)
os.chdir(sys.argv[1])
said = open('pairs.txt', 'w')
def pair(name, make, words, values=(0, 1)):
    for i, v in enumerate(values):
        with h5py.File(f'{name}{i}.h5', 'w', libver='latest' if 'dense' in name else 'earliest') as f:
            f['w'] = np.arange(3.)
            make(f, v)
    said.write(f'{name}\t{words}\n')
def on(key, of=None):
    def make(f, v):
        (f[of] if of else f).attrs[key] = v
    return make
def group(f, v):
    f.create_group('g').attrs['scale'] = np.arange(3, dtype='f4') + v
def dense(f, v):
    for i in range(300): f.attrs['a%03d' % i] = i + (v if i == 250 else 0)
pair('root', on('neighbours'), 'neighbours (0 in A, 1 in B)')
pair('set', on('scale', 'w'), 'w.scale (1.0 in A, 9.0 in B)', (1.0, 9.0))
pair('group', group, 'g.scale ([0.0,1.0,2.0] in A, [1.0,2.0,3.0] in B)')
pair('text', on('act'), 'act ("relu" in A, "tanh" in B)', ('relu', 'tanh'))
pair('texts', on('labels'), 'labels (["a","b"] in A, ["a","c"] in B)', (['a', 'b'], ['a', 'c']))
pair('fixed', on('act'), 'act ("relu" in A, "tanh" in B)', (np.bytes_('relu'), np.bytes_('tanh')))
pair('zero', on('act'), 'act ', (np.array([b'a\0b']), np.array([b'a\0c'])))
pair('bytes', on('act'), 'act.0.sha256 ', (np.array([b'\xff1']), np.array([b'\xfe1'])))
pair('matrix', on('m'), 'm.values ([1.0,1.0,1.0,1.0] in A, [2.0,2.0,2.0,2.0] in B)', (np.ones((2, 2)), 2 * np.ones((2, 2))))
pair('shape', on('m'), 'm.shape ([2,3] in A, [3,2] in B)', (np.ones((2, 3)), np.ones((3, 2))))
pair('bool', on('b'), 'b (false in A, true in B)', (False, True))
pair('half', on('h'), 'h (1.5 in A, 2.5 in B)', (np.float16(1.5), np.float16(2.5)))
pair('nan', on('n'), 'n (0.0 in A, "nan" in B)', (0.0, np.nan))
pair('opaque', on('o'), 'o.sha256', (np.void(b'ab'), np.void(b'ac')))
pair('dense', dense, 'a250 (250 in A, 251 in B)')
pair('none', lambda f, v: v and on('x')(f, v), 'x (absent in A, 1 in B)')
pair('empty', on('x'), 'x (null in A, 1 in B)', (h5py.Empty('f4'), 1))
pair('order', lambda f, v: [on(k)(f, 1) for k in ('ab' if v else 'ba')], 'same')
pair('type', on('x'), 'same', (np.float32(.5), np.float64(.5)))
pair('endian', on('x'), 'same', (np.array([1, 2], '>i4'), np.array([1, 2], '<i4')))
pair('moment', on('saved_at'), 'same', ('2026-11-29T10:00:00', '2026-11-29T11:00:00'))
def reference(f, v): f.attrs['r'] = (f['w'] if v else f).ref
def compound(f, v): f.attrs['c'] = np.array([(1, 2. + v)], [('a', 'i4'), ('b', 'f8')])[0]
def sequence(f, v):
    a = np.empty(1, object)
    a[0] = np.array([1., 2. + v])
    f.attrs.create('v', a, dtype=h5py.vlen_dtype('f8'))
def committed(f, v):
    f['own'] = np.dtype('f8')
    f.attrs.create('o', 1. + v, dtype=f['own'])
    del f['own']
pair('reference', reference, "the attribute 'r' of the file: it is a reference")
pair('compound', compound, "the attribute 'c' of the file: it is a compound")
pair('sequence', sequence, "the attribute 'v' of the file: it is a sequence")
pair('committed', committed, "the attribute 'o' of the file: it has a type")
# The message points into a heap of the file, at one place in both files.
def points(f, v, **how):
    f.create_dataset('x', data=np.zeros(9), **how)
    kind = np.dtype([('n', 'i4'), ('s', h5py.string_dtype())])
    f['x'].attrs['c'] = np.array((1, 'one' if v else 'two'), kind)
pair('points', points, 'the attribute')
pair('points_chunked', lambda f, v: points(f, v, chunks=(3,)), 'the attribute')
# Keras's own attributes name layers and its version: only the rest is loaded with the tensors.
def keras(f, v):
    f.attrs['keras_version'], f.attrs['backend'] = '3.%d' % v, 'tensorflow'
    f.attrs['layer_names'] = np.array([b'dense_%d' % v])
    f.create_group('dense_%d' % v).attrs['weight_names'] = np.array([b'dense_%d/kernel' % v])
    f['dense_%d/dense_%d/kernel' % (v, v)] = np.zeros(2)
    del f['w']
pair('keras', keras, 'same')
)py";

class Hdf5Attributes : public PythonFiles {
 protected:
  // The parts of a file that are not read as tensors.
  std::vector<UnreadPart> PartsOf(const std::string& name) {
    const auto checkpoint = OpenCheckpoint(folder_ / name);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return checkpoint.ok() ? (*checkpoint)->unread() : std::vector<UnreadPart>();
  }
  // "same", how the attributes differ, or what is not read.
  std::string Said(const std::string& pair) {
    const auto a = PartsOf(pair + "0.h5"), b = PartsOf(pair + "1.h5");
    std::string said;
    for (const UnreadPart& part : a) {
      if (part.kind == PartKind::kPart) said += part.name + ": " + part.why;
      const auto other = std::ranges::find(b, part.name, &UnreadPart::name);
      if (part.kind != PartKind::kModel || other == b.end()) continue;
      said += DifferenceOf(part, *other)->value_or("");
    }
    return said.empty() ? "same" : said;
  }
  std::string BesideOf(const std::string& name) {
    const auto checkpoint = OpenCheckpoint(folder_ / name);
    const auto digest = DigestCheckpoint(**checkpoint);
    return digest.ok() ? digest->beside : digest.error().message;
  }
};

TEST_F(Hdf5Attributes, AreComparedByValueAndNamedByTheirPath) {
  if (!Run(kPairs)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  const auto pairs = Rows("pairs.txt");
  ASSERT_GT(pairs.size(), 25u);
  for (const auto& row : pairs) {
    const std::string said = Said(row.at(0));
    EXPECT_NE(said.find(row.at(1)), std::string::npos) << row[0] << ": " << said;
  }
}

TEST_F(Hdf5Attributes, ThatPointElsewhereAreEqualWhereTheWholeFileIs) {
  if (!Run(kPairs)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  for (const std::string name : {"points", "points_chunked", "sequence", "reference"}) {
    const auto a = PartsOf(name + "0.h5"), b = PartsOf(name + "1.h5");
    ASSERT_EQ(a.size(), b.size());
    const auto part = std::ranges::find(a, PartKind::kPart, &UnreadPart::kind) - a.begin();
    ASSERT_LT(static_cast<std::size_t>(part), a.size());
    EXPECT_FALSE(*DifferenceOf(a[part], PartsOf(name + "0.h5")[part])) << name;
    EXPECT_TRUE(*DifferenceOf(a[part], b[part])) << name;
  }
}

TEST_F(Hdf5Attributes, AreInTheDigestOfWhatIsLoadedWithTheTensors) {
  if (!Run(kPairs)) GTEST_SKIP() << "/usr/bin/python3 has no h5py";
  for (const auto& row : Rows("pairs.txt")) {
    const std::string a = BesideOf(row.at(0) + "0.h5"), b = BesideOf(row[0] + "1.h5");
    if (row.at(1) == "same") {
      EXPECT_EQ(a, b) << row[0];
    } else if (row[1].starts_with("the attribute")) {
      EXPECT_NE(a.find("is not read"), std::string::npos) << row[0] << ": " << a;
    } else {
      EXPECT_NE(a, b) << row[0];
    }
    EXPECT_EQ(a.empty(), row[0] == "keras") << "a file without attributes says so";
  }
}

// Else as many texts as objects take time in the square of both.
TEST(Hdf5GlobalHeaps, AreReadOnceWhateverPointsToThem) {
  constexpr std::uint64_t kObjects = 1000;
  const auto number = [](std::uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), 8);
  };
  std::string file = "GCOL" + std::string(4, '\1') + number(16 + 24 * kObjects);
  for (std::uint64_t i = 1; i <= kObjects; ++i) file += number(i) + number(8) + number(7 * i);
  std::size_t reads = 0;
  Hdf5GlobalHeaps heaps([&](std::uint64_t at, std::uint64_t size) -> Result<std::string> {
    ++reads;
    return file.substr(at, size);
  });
  for (std::uint64_t i = 1; i <= kObjects; ++i) {
    const auto text = heaps.Object(0, i, 8);
    ASSERT_TRUE(text.ok()) << text.error().ToString();
    EXPECT_EQ(*text, number(7 * i));
  }
  EXPECT_EQ(reads, 1 + 2 * kObjects);
  EXPECT_EQ(heaps.Object(0, kObjects + 1, 8).error().message, "a text that is not in its heap");
  EXPECT_EQ(heaps.Object(0, 1, 9).error().message, "a text beyond its object in the heap");
}

}  // namespace
}  // namespace rharness
