// PyTorch's quantised, sparse and nested tensors: their parts as tensors, in one digest with
// safetensors of the parts.
#include "compare/weights/torch_composed.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

const std::string kOrdered = PCall("collections", "OrderedDict", {});
const std::string kTenth = "G\x3f\xb9\x99\x99\x99\x99\x99\x9a"s;  // 0.1

std::string QuantisedOf(const std::string& how, const std::string& storage = "QInt8Storage") {
  return PCall(
      "torch._utils", "_rebuild_qtensor",
      {PStorage(storage, "0", 6), PInt(0), PInts({2, 3}), PInts({3, 1}), how, "\x89", kOrdered});
}
std::string VectorOf(const std::string& storage, const std::string& key, std::int64_t size) {
  return PTensor(PStorage(storage, key, size), 0, {size}, {1});
}
std::string LayoutOf(const std::string& name) {
  return PCall("torch.serialization", "_get_layout", {PStr("torch." + name)});
}
std::string SparseOf(const std::string& layout, const std::vector<std::string>& parts) {
  return PCall("torch._utils", "_rebuild_sparse_tensor", {LayoutOf(layout), PTuple(parts)});
}
std::string SizeOf(const std::vector<std::int64_t>& size) {
  return PCall("torch", "Size", {PInts(size)});
}
std::string Int64s(const std::vector<std::int64_t>& values) { return BytesOf(values); }

class TorchComposed : public CheckpointFiles {
 protected:
  void ExpectEqual(const std::string& tensor, const std::vector<std::string>& records,
                   const std::vector<TestTensor>& parts) {
    const auto file = MustOpen(TorchFileOf(PickleOf(PDict({{"w", tensor}})), records), "x.pt");
    EXPECT_TRUE(file->unread().empty());
    const auto digest = DigestCheckpoint(*file);
    ASSERT_TRUE(digest.ok()) << digest.error().ToString();
    EXPECT_EQ(digest->sha256, DigestCheckpoint(*MustOpen(FileOf(parts)))->sha256);
  }
  void ExpectUnread(const std::string& tensor, const std::vector<std::string>& records,
                    std::string_view words) {
    const auto file = MustOpen(TorchFileOf(PickleOf(PDict({{"w", tensor}})), records), "x.pt");
    EXPECT_TRUE(file->tensors().empty());
    ASSERT_EQ(file->unread().size(), 1u) << words;
    EXPECT_NE(file->unread()[0].why.find(words), std::string::npos) << file->unread()[0].why;
  }
};

TEST_F(TorchComposed, QuantisedTensorsAreTheirIntegersAndHowTheyAreScaled) {
  const std::string tensor_wise = PTuple({PGlobal("torch", "per_tensor_affine"), kTenth, PInt(3)});
  ExpectEqual(QuantisedOf(tensor_wise), {"abcdef"},
              {{"w", "I8", "[2,3]", "abcdef"},
               {"w/scale", "F64", "[]", BytesOf<double>({0.1})},
               {"w/zero_point", "I64", "[]", Int64s({3})}});
  const std::string by_channel =
      PTuple({PGlobal("torch", "per_channel_affine"), VectorOf("DoubleStorage", "1", 2),
              VectorOf("LongStorage", "2", 2), PInt(0)});
  ExpectEqual(QuantisedOf(by_channel, "QUInt8Storage"),
              {"abcdef", BytesOf<double>({1, 2}), Int64s({7, 8})},
              {{"w", "U8", "[2,3]", "abcdef"},
               {"w/axis", "I64", "[]", Int64s({0})},
               {"w/scale", "F64", "[2]", BytesOf<double>({1, 2})},
               {"w/zero_point", "I64", "[2]", Int64s({7, 8})}});
}

TEST_F(TorchComposed, SparseTensorsAreTheirIndicesValuesAndShape) {
  ExpectEqual(SparseOf("sparse_coo", {PTensor(PStorage("LongStorage", "0", 4), 0, {2, 2}, {2, 1}),
                                      VectorOf("FloatStorage", "1", 2), SizeOf({3, 4}), "\x88"}),
              {Int64s({0, 2, 1, 3}), BytesOf<float>({5, 6})},
              {{"w/indices", "I64", "[2,2]", Int64s({0, 2, 1, 3})},
               {"w/shape", "I64", "[2]", Int64s({3, 4})},
               {"w/values", "F32", "[2]", BytesOf<float>({5, 6})}});
  for (const auto& [layout, outer, inner] : std::vector<std::array<std::string, 3>>{
           {"sparse_csr", "crow", "col"}, {"sparse_bsc", "ccol", "row"}}) {
    ExpectEqual(SparseOf(layout, {VectorOf("LongStorage", "0", 3), VectorOf("LongStorage", "1", 2),
                                  VectorOf("FloatStorage", "2", 2), SizeOf({2, 9})}),
                {Int64s({0, 1, 2}), Int64s({4, 8}), BytesOf<float>({5, 6})},
                {{"w/" + outer + "_indices", "I64", "[3]", Int64s({0, 1, 2})},
                 {"w/" + inner + "_indices", "I64", "[2]", Int64s({4, 8})},
                 {"w/shape", "I64", "[2]", Int64s({2, 9})},
                 {"w/values", "F32", "[2]", BytesOf<float>({5, 6})}});
  }
}

TEST_F(TorchComposed, NestedTensorsAreTheirBufferAndItsPlaces) {
  const std::string numbers = PTensor(PStorage("LongStorage", "1", 2), 0, {2, 1}, {1, 1});
  ExpectEqual(
      PCall("torch._utils", "_rebuild_nested_tensor",
            {VectorOf("FloatStorage", "0", 3), numbers, numbers, VectorOf("LongStorage", "1", 2)}),
      {BytesOf<float>({1, 2, 3}), Int64s({2, 1})},
      {{"w/offsets", "I64", "[2]", Int64s({2, 1})},
       {"w/sizes", "I64", "[2,1]", Int64s({2, 1})},
       {"w/strides", "I64", "[2,1]", Int64s({2, 1})},
       {"w/values", "F32", "[3]", BytesOf<float>({1, 2, 3})}});
}

TEST_F(TorchComposed, OfAnUnknownFormStayPartsThatAreNotRead) {
  const std::string scheme = PGlobal("torch", "per_tensor_affine");
  ExpectUnread(QuantisedOf(PTuple({scheme, "N", PInt(3)})), {"abcdef"},
               "an unknown way to quantise");
  ExpectUnread(QuantisedOf(PTuple({scheme, kTenth, PInt(3)}), "QUInt4x2Storage"), {"abcdef"},
               "class torch.QUInt4x2Storage");
  ExpectUnread(SparseOf("sparse_new", {"N", "N", "N", "N"}), {}, "an unknown layout");
  ExpectUnread(SparseOf("sparse_coo", {"N", "N", "N"}), {}, "parts that are no tensors");
  ExpectUnread(SparseOf("sparse_coo", {VectorOf("LongStorage", "0", 1),
                                       VectorOf("LongStorage", "0", 1), PTuple({"N"})}),
               {Int64s({0})}, "a shape of other than integers");
}

TEST_F(TorchComposed, AreRefusedBeyondTheirStorage) {
  const auto file = Open(
      TorchFileOf(PickleOf(PDict({{"w", SparseOf("sparse_coo", {VectorOf("LongStorage", "0", 99),
                                                                VectorOf("LongStorage", "0", 99),
                                                                SizeOf({1})})}})),
                  {Int64s({0})}),
      "x.pt");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("tensor 'w/indices': its storage"), std::string::npos)
      << file.error().ToString();
}

}  // namespace
}  // namespace rharness
