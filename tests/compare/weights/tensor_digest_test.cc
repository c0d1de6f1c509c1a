// The canonical digest: its definition, and what does and does not change it.
#include "compare/weights/tensor_digest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

// Computed from the definition in tensor_digest.h with Python's hashlib and struct, offline:
// u64 = lambda x: struct.pack('<Q', x); leaf = sha256(b"rharness.tensor/v1\0" + u64(len(dtype)) +
// dtype
// + u64(len(shape)) + dims + bytes); root = sha256(b"rharness.checkpoint/v1\0" + u64(count) +
// each u64(len(name)) + name + leaf).
constexpr std::string_view kLeafB =
    "46312cd5efb6971b6a22d6f388681be93f09d9d842b86c4661cb1d1b3be5075e";
constexpr std::string_view kLeafE =
    "ba1720c65581afdf48a32573d028f027c4b2b7901792f3916b3a523ad6452006";
constexpr std::string_view kLeafW =
    "dde4291a538d1617a50a1de507659dcdcf24e191e6de8676c1a805933263c9e6";
constexpr std::string_view kRoot =
    "e7ab573165f1d36aee716a93a4e6ee29a048cc0080c35f4e4b380c6849db3713";
constexpr std::string_view kEmptyRoot =
    "89468bf472614534da503d8dda7437e2729daade7f84a5a870da8008261b89c8";

const TestTensor kW = {"w", "F32", "[2,2]", BytesOf<float>({1.0f, -2.5f, 0.0f, -0.0f})};
const TestTensor kB = {"b", "I64", "[]", BytesOf<std::int64_t>({-7})};
const TestTensor kE = {"e", "BF16", "[0,3]", ""};

class TensorDigests : public CheckpointFiles {
 protected:
  CheckpointDigest DigestOf(std::string_view content, int threads = 0) {
    const auto digest = DigestCheckpoint(*MustOpen(content), threads);
    EXPECT_TRUE(digest.ok());
    return *digest;
  }
};

TEST_F(TensorDigests, EqualTheIndependentlyComputedOnes) {
  const CheckpointDigest digest = DigestOf(FileOf({kW, kB, kE}));
  ASSERT_EQ(digest.tensors.size(), 3u);
  EXPECT_EQ(digest.tensors[0].name, "b");
  EXPECT_EQ(digest.tensors[0].sha256, kLeafB);
  EXPECT_EQ(digest.tensors[1].sha256, kLeafE);
  EXPECT_EQ(digest.tensors[1].shape, (std::vector<std::uint64_t>{0, 3}));
  EXPECT_EQ(digest.tensors[2].sha256, kLeafW);
  EXPECT_EQ(digest.tensors[2].dtype, DType::kF32);
  EXPECT_EQ(digest.sha256, kRoot);
  EXPECT_EQ(digest.size_bytes, 24u);
  EXPECT_EQ(DigestOf(FileOf("{}")).sha256, kEmptyRoot);
}

TEST_F(TensorDigests, DoNotDependOnOrderMetadataOrPadding) {
  EXPECT_EQ(DigestOf(FileOf({kE, kB, kW})).sha256, kRoot);
  EXPECT_EQ(DigestOf(FileOf({kB, kW, kE}, R"("__metadata__":{"time":"now"},)")).sha256, kRoot);
  EXPECT_EQ(DigestOf(FileOf({kW, kB, kE}, "", 5)).sha256, kRoot);
}

TEST_F(TensorDigests, ChangeWithNameDtypeShapeAndBits) {
  TestTensor name = kW, dtype = kW, shape = kW, sign_of_zero = kW;
  name.name = "v";
  dtype.dtype = "I32";
  shape.shape = "[4]";
  sign_of_zero.bytes = BytesOf<float>({1.0f, -2.5f, -0.0f, -0.0f});
  for (const TestTensor& changed : {name, dtype, shape, sign_of_zero}) {
    EXPECT_NE(DigestOf(FileOf({changed, kB, kE})).sha256, kRoot);
  }
  EXPECT_NE(DigestOf(FileOf({kW, kB})).sha256, kRoot);
}

TEST_F(TensorDigests, DoNotDependOnThreadsOrBlocks) {
  std::vector<TestTensor> tensors;
  for (int i = 0; i < 20; ++i) {
    const std::size_t size = kReadBlockBytes + static_cast<std::size_t>(i * 1001) - 5005;
    std::string bytes(size, static_cast<char>('a' + i));
    bytes.back() = 'Z';
    tensors.push_back({"t" + std::to_string(i), "U8", "[" + std::to_string(size) + "]", bytes});
  }
  const std::string file = FileOf(tensors);
  const CheckpointDigest one = DigestOf(file, 1);
  EXPECT_EQ(DigestOf(file, 7).sha256, one.sha256);
  // The leaf of a tensor larger than a block, from its definition in one piece.
  const TestTensor& last = tensors.back();
  std::string whole("rharness.tensor/v1\0", 19);
  whole += LittleEndian64(2) + "U8" + LittleEndian64(1) + LittleEndian64(last.bytes.size());
  whole += last.bytes;
  for (const TensorDigest& tensor : one.tensors) {
    if (tensor.name == last.name) {
      EXPECT_EQ(tensor.sha256, Sha256HexOf(whole));
    }
  }
}

TEST_F(TensorDigests, CombineFromLeavesAlone) {
  std::vector<TensorDigest> leaves = {{"b", DType::kI64, {}, std::string(kLeafB)},
                                      {"e", DType::kBF16, {0, 3}, std::string(kLeafE)},
                                      {"w", DType::kF32, {2, 2}, std::string(kLeafW)}};
  EXPECT_EQ(CombineDigests(leaves), kRoot);
  EXPECT_EQ(CombineDigests({}), kEmptyRoot);
  leaves[1].sha256[0] = 'B';
  EXPECT_EQ(CombineDigests(leaves), "") << "upper case is no spelling of a leaf";
  leaves[1].sha256 = "ba17";
  EXPECT_EQ(CombineDigests(leaves), "");
}

TEST_F(TensorDigests, FailWhenTheFileShrinksMeanwhile) {
  const auto path = Write(FileOf({{"w", "U8", "[1000]", std::string(1000, 'x')}}));
  const auto checkpoint = OpenCheckpoint(path);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_EQ(::truncate(path.c_str(), 500), 0);
  EXPECT_EQ(DigestCheckpoint(**checkpoint).error().code, ErrorCode::kIntegrity);
}

}  // namespace
}  // namespace rharness
