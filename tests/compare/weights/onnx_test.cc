// ONNX models: initialisers at their names, in one digest with safetensors, wherever a model keeps
// its elements; a graph whose text says what it computes and nothing else; every cut and every
// changed byte is an error or another reading, never a crash.
#include "compare/weights/onnx.h"

#include <gtest/gtest.h>

#include <functional>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/protobuf_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

constexpr int kFloat = 1, kInt64 = 7, kString = 8, kBool = 9, kFloat16 = 10, kInt4 = 22;

std::string DimsOf(const std::vector<int>& dims) {
  std::string bytes;
  for (const int size : dims) bytes += NumberField(1, static_cast<std::uint64_t>(size));
  return bytes;
}
std::string TensorOf(const std::string& name, int type, const std::vector<int>& dims,
                     const std::string& data) {
  return DimsOf(dims) + NumberField(2, static_cast<std::uint64_t>(type)) + BytesField(8, name) +
         data;
}
std::string RawOf(const std::string& bytes) { return BytesField(9, bytes); }
std::string ExternalEntry(const std::string& key, const std::string& value) {
  return BytesField(13, BytesField(1, key) + BytesField(2, value));
}
std::string ExternalOf(const std::string& location, const std::string& offset,
                       const std::string& length) {
  return ExternalEntry("location", location) + ExternalEntry("offset", offset) +
         ExternalEntry("length", length) + NumberField(14, 1);
}
std::string AttributeOf(const std::string& name, const std::string& value, int type) {
  return BytesField(5, BytesField(1, name) + value + NumberField(20, static_cast<unsigned>(type)));
}
std::string NodeOf(const std::string& kind, const std::string& name, const std::string& rest = {}) {
  return BytesField(1, BytesField(1, "x") + BytesField(2, name + "_out") + BytesField(3, name) +
                           BytesField(4, kind) + rest);
}
std::string InitializerOf(const std::string& tensor) { return BytesField(5, tensor); }
std::string OnnxOf(const std::string& graph, const std::string& producer = "pytorch") {
  return NumberField(1, 8) + BytesField(2, producer) + BytesField(7, graph) +
         BytesField(8, BytesField(1, "") + NumberField(2, 17));
}

const std::string kWeights = BytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});

class OnnxFiles : public CheckpointFiles {
 protected:
  std::string DigestOf(std::string_view content, std::string_view name = "x.onnx") {
    return DigestCheckpoint(*MustOpen(content, name))->sha256;
  }
  std::string GraphOf(const std::string& content) {
    const auto checkpoint = MustOpen(content, "x.onnx");
    EXPECT_EQ(checkpoint->unread().size(), 1u);
    EXPECT_EQ(checkpoint->unread()[0].name, "graph.json");
    EXPECT_EQ(checkpoint->unread()[0].kind, PartKind::kModel);
    return checkpoint->unread()[0].content;
  }
  std::vector<std::string> NamesOf(const std::string& content) {
    const auto checkpoint = MustOpen(content, "x.onnx");
    std::vector<std::string> names;
    for (const TensorInfo& info : checkpoint->tensors()) names.push_back(info.name);
    return names;
  }
};

TEST_F(OnnxFiles, HaveOneDigestWithSafetensorsWhereverTheirElementsLie) {
  const std::string same =
      DigestOf(FileOf({{"w", "F32", "[2,3]", kWeights},
                       {"n", "I64", "[2]", BytesOf(std::vector<std::int64_t>{-1, 300})},
                       {"h", "F16", "[2]", "\x00\x3c\x00\xbc"s},
                       {"b", "BOOL", "[]", "\x01"}}),
               "x.safetensors");
  const std::string raw =
      OnnxOf(InitializerOf(TensorOf("w", kFloat, {2, 3}, RawOf(kWeights))) +
             InitializerOf(
                 TensorOf("n", kInt64, {2}, RawOf(BytesOf(std::vector<std::int64_t>{-1, 300})))) +
             InitializerOf(TensorOf("h", kFloat16, {2}, RawOf("\x00\x3c\x00\xbc"s))) +
             InitializerOf(TensorOf("b", kBool, {}, RawOf("\x01"))));
  EXPECT_EQ(DigestOf(raw), same);
  const std::string typed =
      OnnxOf(InitializerOf(TensorOf(
                 "w", kFloat, {2, 3},
                 BytesField(4, kWeights.substr(0, 8)) + BytesField(4, kWeights.substr(8)))) +
             InitializerOf(TensorOf("n", kInt64, {2}, PackedField(7, {~std::uint64_t{0}, 300}))) +
             InitializerOf(TensorOf("h", kFloat16, {2}, PackedField(5, {0x3c00, 0xbc00}))) +
             InitializerOf(TensorOf("b", kBool, {}, NumberField(5, 1))));
  EXPECT_EQ(DigestOf(typed), same);
  Write("junk" + kWeights, "w.data");
  const std::string outside =
      OnnxOf(InitializerOf(TensorOf("w", kFloat, {2, 3}, ExternalOf("w.data", "4", "24"))) +
             InitializerOf(TensorOf("n", kInt64, {2}, PackedField(7, {~std::uint64_t{0}, 300}))) +
             InitializerOf(TensorOf("h", kFloat16, {2}, RawOf("\x00\x3c\x00\xbc"s))) +
             InitializerOf(TensorOf("b", kBool, {}, RawOf("\x01"))));
  EXPECT_EQ(DigestOf(outside), same);
  EXPECT_EQ(*PartsOfCheckpoint(Write(outside, "x.onnx")), std::vector<std::string>{"w.data"});
  EXPECT_TRUE(PartsOfCheckpoint(Write(raw, "x.onnx"))->empty());
}

// Two elements a byte; an odd number of them has no dtype of the project and stays bytes.
TEST_F(OnnxFiles, HaveFloatsOf4BitsAsElements) {
  constexpr int kFloat4 = 23;
  const auto model = [](const std::string& raw, int rows) {
    return OnnxOf(InitializerOf(TensorOf("q", kFloat4, {rows, 3}, raw)));
  };
  EXPECT_EQ(DigestOf(model(RawOf("\x12\x34\x56"), 2)),
            DigestOf(FileOf({{"q", "F4", "[2,3]", "\x12\x34\x56"}}), "x.safetensors"));
  EXPECT_EQ(DigestOf(model(PackedField(5, {0x12, 0x34, 0x56}), 2)),
            DigestOf(model(RawOf("\x12\x34\x56"), 2)));
  EXPECT_FALSE(Open(model(RawOf("\x12\x34"), 2), "x.onnx").ok());
  const auto odd = MustOpen(model(RawOf("\x12\x34\x56\x07\x08"), 3), "x.onnx");
  EXPECT_TRUE(odd->tensors().empty());
}

// MODEL/snapshots/REVISION/FILE -> MODEL/blobs/HASH, as the client of Hugging Face keeps files.
TEST_F(OnnxFiles, AreReadInACacheOfLinksAndByALink) {
  namespace fs = std::filesystem;
  const std::string model =
      OnnxOf(InitializerOf(TensorOf("w", kFloat, {2, 3}, ExternalOf("w.data", "0", "24"))));
  const fs::path snapshot = folder() / "m" / "snapshots" / "rev";
  fs::create_directories(snapshot);
  fs::create_directories(folder() / "m" / "blobs");
  Write(model, "m/blobs/aa");
  Write(kWeights, "m/blobs/bb");
  fs::create_symlink("../../blobs/aa", snapshot / "model.onnx");
  fs::create_symlink("../../blobs/bb", snapshot / "w.data");
  EXPECT_TRUE(OpenCheckpoint(snapshot / "model.onnx").ok());
  Write(model, "plain.onnx");
  Write(kWeights, "w.data");
  fs::create_symlink("../plain.onnx", folder() / "m" / "linked.onnx");
  EXPECT_TRUE(OpenCheckpoint(folder() / "m" / "linked.onnx").ok());
  // A blob of another model is no file of this one.
  fs::remove(snapshot / "w.data");
  fs::create_directories(folder() / "n" / "blobs");
  Write(kWeights, "n/blobs/bb");
  fs::create_symlink("../../../n/blobs/bb", snapshot / "w.data");
  const auto other = OpenCheckpoint(snapshot / "model.onnx");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kIntegrity) << other.error().ToString();
}

TEST_F(OnnxFiles, InAFolderAreOneCheckpointWithTheirExternalData) {
  Write(kWeights, "w.data");
  const auto path =
      Write(OnnxOf(InitializerOf(TensorOf("w", kFloat, {2, 3}, ExternalOf("w.data", "0", "24")))),
            "x.onnx");
  const auto checkpoint = OpenCheckpoint(path.parent_path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->unread().size(), 1u);
  EXPECT_EQ((*checkpoint)->unread()[0].name, "graph.json");
}

TEST_F(OnnxFiles, NameTensorsOfNodesAndSubgraphs) {
  const std::string tensor = TensorOf("", kFloat, {6}, RawOf(kWeights));
  const std::string inner = InitializerOf(TensorOf("w", kFloat, {6}, RawOf(kWeights))) +
                            NodeOf("Constant", "c", AttributeOf("value", BytesField(5, tensor), 4));
  const std::string sparse =
      BytesField(1, TensorOf("s", kFloat, {6}, RawOf(kWeights))) +
      BytesField(2, TensorOf("", kInt64, {6}, PackedField(7, {0, 1, 2, 3, 4, 5}))) +
      NumberField(3, 9);
  const std::string model = OnnxOf(
      NodeOf("If", "choice", AttributeOf("then_branch", BytesField(6, inner), 5)) +
      NodeOf("If", "choice", AttributeOf("then_branch", BytesField(6, inner), 5)) +
      NodeOf("Constant", "k", AttributeOf("value", BytesField(5, tensor), 4)) +
      NodeOf("Fill", "", AttributeOf("value", BytesField(5, tensor), 4)) +
      NodeOf("Many", "m", AttributeOf("all", BytesField(10, tensor) + BytesField(10, tensor), 9)) +
      BytesField(15, sparse));
  EXPECT_EQ(NamesOf(model), (std::vector<std::string>{
                                "Fill_3.value", "If_1.then_branch/c_out", "If_1.then_branch/w",
                                "choice.then_branch/c_out", "choice.then_branch/w", "k_out",
                                "m.all.0", "m.all.1", "s/indices", "s/values"}));
  EXPECT_NE(GraphOf(model).find("'s' of shape 9"), std::string::npos);
}

TEST_F(OnnxFiles, HaveAGraphThatTellsWhatItComputesAndNotWhoWroteIt) {
  const std::string axis = AttributeOf("axis", NumberField(3, 1), 2);
  const std::string mode = AttributeOf("mode", BytesField(4, "reflect"), 3);
  const std::string weights = InitializerOf(TensorOf("w", kFloat, {2, 3}, RawOf(kWeights)));
  const std::string graph = GraphOf(OnnxOf(NodeOf("Pad", "p", axis + mode) + weights));
  EXPECT_EQ(GraphOf(OnnxOf(weights + NodeOf("Pad", "p", mode + axis + BytesField(6, "a remark")) +
                               BytesField(2, "main") + BytesField(10, "doc") +
                               BytesField(13, BytesField(1, "inferred")),
                           "another producer") +
                    BytesField(3, "2.9") + NumberField(5, 7) + BytesField(6, "doc") +
                    BytesField(14, BytesField(1, "author") + BytesField(2, "me"))),
            graph);
  const std::string zero(4, '\0');
  for (const std::string& other :
       {OnnxOf(NodeOf("Pad", "p", axis) + weights),
        OnnxOf(NodeOf("Slice", "p", axis + mode) + weights),
        OnnxOf(NodeOf("Pad", "p", mode + AttributeOf("axis", NumberField(3, 2), 2)) + weights),
        OnnxOf(NodeOf("Pad", "p", axis + mode) + NodeOf("Pad", "q", axis + mode) + weights),
        OnnxOf(NodeOf("Pad", "p", axis + mode + BytesField(99, "later")) + weights),
        OnnxOf(NodeOf("Pad", "p", axis + mode) + weights + BytesField(11, BytesField(1, "x"))),
        OnnxOf(NodeOf("Pad", "p", axis + mode) + weights) +
            BytesField(8, BytesField(1, "more") + NumberField(2, 1))}) {
    EXPECT_NE(GraphOf(other), graph);
  }
  // Values are of the tensors, and not of the graph.
  EXPECT_EQ(GraphOf(OnnxOf(NodeOf("Pad", "p", axis + mode) +
                           InitializerOf(TensorOf("w", kFloat, {1}, RawOf(zero))))),
            graph);
}

TEST_F(OnnxFiles, CompareSmallNumbersAndTextsByTheirBytes) {
  int files = 0;
  const auto unread = [&](const std::string& tensor) {
    const auto checkpoint =
        MustOpen(OnnxOf(InitializerOf(tensor)), std::to_string(++files) + ".onnx");
    EXPECT_EQ(checkpoint->tensors().size(), 0u);
    EXPECT_EQ(checkpoint->unread().size(), 2u);
    return checkpoint->unread()[1];
  };
  const UnreadPart small = unread(TensorOf("q", kInt4, {2, 3}, RawOf("\x12\x34\x56")));
  EXPECT_EQ(small.name, "q");
  EXPECT_EQ(small.kind, PartKind::kPart);
  EXPECT_NE(small.why.find("INT4 [2, 3]"), std::string::npos);
  const UnreadPart other = unread(TensorOf("q", kInt4, {2, 3}, RawOf("\x12\x34\x57")));
  EXPECT_FALSE(*SameBytes(small, other));
  const auto text = [&](const std::string& a, const std::string& b) {
    return unread(TensorOf("t", kString, {2}, BytesField(6, a) + BytesField(6, b))).content;
  };
  EXPECT_NE(text("ab", "c"), text("a", "bc"));
}

TEST_F(OnnxFiles, AreRefusedWithTheOffsetOfTheFault) {
  const auto tensor = [](const std::string& name, int type, const std::vector<int>& dims,
                         const std::string& data) {
    return OnnxOf(InitializerOf(TensorOf(name, type, dims, data)));
  };
  std::string deep = "x";
  for (int i = 0; i < 100; ++i) deep = NodeOf("If", "n", AttributeOf("b", BytesField(6, deep), 5));
  const std::string w = TensorOf("w", kFloat, {6}, RawOf(kWeights));
  const std::vector<std::pair<std::string, std::string>> rows = {
      {tensor("w", kFloat, {7}, RawOf(kWeights)), "24 bytes are stored; expected 28"},
      {tensor("w", kFloat, {1 << 30, 1 << 30, 1 << 30}, RawOf(kWeights)), "above 2^64"},
      {tensor("w", kFloat, {6}, BytesField(4, kWeights) + RawOf(kWeights)), "one of the two"},
      {tensor("w", kFloat, {6}, PackedField(7, {1})), "elements in field 7"},
      {tensor("w", 77, {6}, RawOf(kWeights)), "DataType 77"},
      {tensor("w", kFloat, {-1}, RawOf(kWeights)), "a dimension below 0"},
      {tensor("w", kFloat, {6}, BytesField(3, "") + RawOf(kWeights)), "segments"},
      {OnnxOf(InitializerOf(w) + InitializerOf(w)), "the name occurs twice"},
      {OnnxOf(deep), "more than 64 levels"},
      {tensor("w", kFloat, {6}, ExternalOf("absent", "0", "24")), "of its data is missing"},
      {tensor("w", kFloat, {6}, ExternalOf("../w", "0", "24")), "below the model's folder"},
      {tensor("w", kFloat, {6}, ExternalOf("/etc/passwd", "0", "24")), "below the model's folder"},
      {tensor("w", kFloat, {6}, ExternalOf("w.data", "-1", "24")), "expected a whole number"},
      {tensor("w", kFloat, {6}, ExternalOf("w.data", "8", "24")), "expected them within its 24"},
      {tensor("w", kFloat, {6}, ExternalOf("w.data", "18446744073709551615", "24")),
       "within its 24"},
      {tensor("w", kFloat, {6}, ExternalOf("link", "0", "24")), "leads out of its folder"},
      {NumberField(1, 8) + BytesField(2, "x") + "\x3a\x7f", "expected at most the 0"},
      {"\x08\x08\x0b"s, "of the wire type 3"},
  };
  Write(kWeights, "w.data");
  std::filesystem::create_symlink("/etc/passwd", folder() / "link");
  for (const auto& [content, words] : rows) {
    const auto result = Open(content, "x.onnx");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
    EXPECT_FALSE(result.error().where.empty());
  }
}

std::string WholeOnnx() {
  const std::string tensor = TensorOf("", kFloat, {6}, RawOf(kWeights));
  return OnnxOf(
      InitializerOf(TensorOf("w", kFloat, {2, 3}, RawOf(kWeights))) +
      InitializerOf(TensorOf("n", kInt64, {2}, PackedField(7, {~std::uint64_t{0}, 300}))) +
      NodeOf("Constant", "k", AttributeOf("value", BytesField(5, tensor), 4)) +
      NodeOf("Pad", "p", AttributeOf("f", BytesField(7, kWeights), 6)));
}

TEST_F(OnnxFiles, AreNeverReadWhereTheyAreCutOff) {
  const std::string whole = WholeOnnx();
  const std::string digest = DigestOf(whole), graph = GraphOf(whole);
  // A cut between two fields of the model is a model with less: other tensors or another graph.
  for (std::size_t size = 3; size < whole.size(); ++size) {
    const auto checkpoint = Open(whole.substr(0, size), "x.onnx");
    if (!checkpoint.ok()) continue;
    EXPECT_TRUE(DigestCheckpoint(**checkpoint)->sha256 != digest ||
                (*checkpoint)->unread().at(0).content != graph)
        << size;
  }
}

TEST_F(OnnxFiles, AreAnErrorOrReadableWhateverAByteSays) {
  const std::string whole = WholeOnnx();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0x20, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto checkpoint = Open(changed, "x.onnx");
      EXPECT_TRUE(!checkpoint.ok() || DigestCheckpoint(**checkpoint).ok()) << at;
    }
  }
}

}  // namespace
}  // namespace rharness
