// The reader of PyTorch files on archives written byte by byte: names, views, and what is refused.
#include "compare/weights/torch_zip.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class TorchZips : public CheckpointFiles {
 protected:
  std::unique_ptr<Checkpoint> MustOpenPickle(const std::string& body,
                                             const std::vector<std::string>& records = {}) {
    return MustOpen(TorchFileOf(PickleOf(body), records), "x.pt");
  }
  void ExpectRefused(const std::string& file, ErrorCode code, std::string_view text) {
    const auto checkpoint = Open(file, "x.pt");
    ASSERT_FALSE(checkpoint.ok()) << text;
    const Error& error = checkpoint.error();
    EXPECT_EQ(error.code, code) << error.ToString();
    EXPECT_NE(error.where.find("x.pt"), std::string::npos) << error.ToString();
    EXPECT_NE(error.message.find(text), std::string::npos) << error.ToString();
  }
  void ExpectPickleRefused(const std::string& body, ErrorCode code, std::string_view text,
                           const std::vector<std::string>& records = {}) {
    ExpectRefused(TorchFileOf(PickleOf(body), records), code, text);
  }
  // Beside a tensor that is read.
  void ExpectUnread(std::string body, const std::string& name, std::string_view text,
                    std::vector<std::string> records = {}) {
    records.resize(2);
    records[1] = BytesOf<float>({7});
    const std::string good = PTensor(PStorage("FloatStorage", "1", 1), 0, {1}, {1});
    body.insert(body.size() - 1, PStr("good") + good);
    const auto checkpoint = MustOpenPickle(body, records);
    EXPECT_EQ(NamesOf(*checkpoint), std::vector<std::string>{"good"});
    ASSERT_EQ(checkpoint->unread().size(), 1u);
    EXPECT_EQ(checkpoint->unread()[0].name, name);
    EXPECT_FALSE(DigestCheckpoint(*checkpoint).ok());  // it would not stand for all of it
    EXPECT_NE(checkpoint->unread()[0].why.find(text), std::string::npos)
        << checkpoint->unread()[0].why;
  }
  std::vector<std::string> NamesOf(const Checkpoint& checkpoint) {
    std::vector<std::string> names;
    for (const TensorInfo& info : checkpoint.tensors()) names.push_back(info.name);
    return names;
  }
};

const std::string kTorchFloats = BytesOf<float>({0, 1, 2, 3, 4, 5});
const std::string kStorage = PStorage("FloatStorage", "0", 6);
const std::string kPlainTensor = PTensor(kStorage, 0, {2, 3}, {3, 1});

TEST_F(TorchZips, FlattensDictsAndListsIntoNames) {
  const std::string ordered = PCall("collections", "OrderedDict", {}) + "(" + PStr("fc1.weight") +
                              kPlainTensor + "u" + "}" + PStr("_metadata") + "}sb";
  const auto checkpoint = MustOpenPickle(
      PDict({{"model", ordered},
             {"optimizer",
              PDict({{"state", std::string("}K\0", 3) +
                                   PDict({{"exp_avg", kPlainTensor}, {"step", "K\7"}}) + "s"}})},
             {"list", PList({kPlainTensor, PTuple({kPlainTensor})})},
             {"epoch", "K\5"},
             {"name", PStr("adam")},
             {"lr", std::string("G\x3f\xe0\0\0\0\0\0\0", 9)},
             {"none", "N"},
             {"device", PCall("torch", "device", {PStr("cuda"), "K\1"})}}),
      {kTorchFloats});
  EXPECT_EQ(NamesOf(*checkpoint),
            (std::vector<std::string>{"list.0", "list.1.0", "model.fc1.weight",
                                      "optimizer.state.0.exp_avg"}));
  const std::vector<std::pair<std::string, std::string>> metadata = {
      {"optimizer.state.0.step", "7"},
      {"epoch", "5"},
      {"name", "adam"},
      {"lr", "0.5"},
      {"none", "None"},
      {"device", "torch.device('cuda', 1)"}};
  EXPECT_EQ(checkpoint->metadata(), metadata);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ReadAll(*checkpoint, i), kTorchFloats);
}

TEST_F(TorchZips, NamesASingleTensorAndTakesParametersForTheirTensors) {
  const std::string parameter =
      PCall("torch._utils", "_rebuild_parameter",
            {kPlainTensor, "\x88", PCall("collections", "OrderedDict", {})});
  EXPECT_EQ(NamesOf(*MustOpenPickle(parameter, {kTorchFloats})),
            std::vector<std::string>{"tensor"});
  const std::string typed = PCall(
      "torch._tensor", "_rebuild_from_type_v2",
      {PGlobal("torch._utils", "_rebuild_tensor_v2"), PGlobal("torch.nn.parameter", "Parameter"),
       PTuple({kStorage, "K\1", PInts({2}), PInts({2}), "\x89",
               PCall("collections", "OrderedDict", {})}),
       "}"});
  const auto checkpoint = MustOpenPickle(PDict({{"p", typed}}), {kTorchFloats});
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf<float>({1, 3}));
}

TEST_F(TorchZips, ReadsViewsInCOrder) {
  const auto checkpoint =
      MustOpenPickle(PDict({{"column", PTensor(kStorage, 1, {2}, {3})},
                            {"empty", PTensor(kStorage, 6, {0, 3}, {3, 1})},
                            {"expanded", PTensor(kStorage, 5, {2, 2}, {0, 0})},
                            {"scalar", PTensor(kStorage, 4, {}, {})},
                            {"transposed", PTensor(kStorage, 0, {3, 2}, {1, 3})}}),
                     {kTorchFloats});
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf<float>({1, 4}));
  EXPECT_EQ(ReadAll(*checkpoint, 1), "");
  EXPECT_EQ(ReadAll(*checkpoint, 2), BytesOf<float>({5, 5, 5, 5}));
  EXPECT_EQ(ReadAll(*checkpoint, 3), BytesOf<float>({4}));
  EXPECT_EQ(ReadAll(*checkpoint, 4), BytesOf<float>({0, 3, 1, 4, 2, 5}));
  std::array<std::byte, 6> part;  // from the middle of an element to the middle of another
  ASSERT_TRUE(checkpoint->Read(4, 6, part).ok());
  EXPECT_EQ(std::memcmp(part.data(), BytesOf<float>({0, 3, 1, 4, 2, 5}).data() + 6, 6), 0);
}

TEST_F(TorchZips, ReadsEveryDtypeByStorageClassOrByDtypeArgument) {
  const auto untyped = [](const std::string& dtype, const std::string& key, std::int64_t bytes) {
    const std::string storage = PTuple({PStr("storage"), PGlobal("torch.storage", "UntypedStorage"),
                                        PStr(key), PStr("cpu"), PInt(bytes)}) +
                                "Q";
    return PCall("torch._utils", "_rebuild_tensor_v3",
                 {storage, "K\1", PInts({1}), PInts({1}), "\x89",
                  PCall("collections", "OrderedDict", {}), PGlobal("torch", dtype)});
  };
  const std::string bytes(32, 'x');
  for (const auto& [type, name] :
       std::vector<std::pair<std::string, std::string>>{{"DoubleStorage", "F64"},
                                                        {"FloatStorage", "F32"},
                                                        {"HalfStorage", "F16"},
                                                        {"BFloat16Storage", "BF16"},
                                                        {"LongStorage", "I64"},
                                                        {"IntStorage", "I32"},
                                                        {"ShortStorage", "I16"},
                                                        {"CharStorage", "I8"},
                                                        {"ByteStorage", "U8"},
                                                        {"BoolStorage", "BOOL"},
                                                        {"ComplexFloatStorage", "C64"},
                                                        {"ComplexDoubleStorage", "C128"}}) {
    const DType dtype = *ParseDType(name);
    const std::int64_t numel = 32 * 8 / BitsOf(dtype);
    const auto checkpoint = MustOpenPickle(
        PDict({{"t", PTensor(PStorage(type, "0", numel), 0, {numel}, {1})}}), {bytes});
    EXPECT_EQ(checkpoint->tensors()[0].dtype, dtype) << type;
    EXPECT_EQ(checkpoint->tensors()[0].size_bytes, 32u) << type;
  }
  for (const auto& [type, name] :
       std::vector<std::pair<std::string, std::string>>{{"float8_e4m3fn", "F8_E4M3"},
                                                        {"float8_e5m2", "F8_E5M2"},
                                                        {"float8_e4m3fnuz", "F8_E4M3FNUZ"},
                                                        {"float8_e5m2fnuz", "F8_E5M2FNUZ"},
                                                        {"float8_e8m0fnu", "F8_E8M0"},
                                                        {"uint16", "U16"},
                                                        {"uint32", "U32"},
                                                        {"uint64", "U64"}}) {
    const auto checkpoint = MustOpenPickle(PDict({{"t", untyped(type, "0", 32)}}), {bytes});
    EXPECT_EQ(DTypeName(checkpoint->tensors()[0].dtype), name);
  }
  ExpectUnread(PDict({{"t", untyped("complex32", "0", 32)}}), "t",
               "tensor 't': dtype torch.complex32", {bytes});
}

TEST_F(TorchZips, RefusesViewsBeyondTheirStorage) {
  const auto invalid = ErrorCode::kInvalidInput;
  for (const std::string& tensor :
       {PTensor(kStorage, 1, {2, 3}, {3, 1}), PTensor(kStorage, 0, {7}, {1}),
        PTensor(kStorage, 0, {2}, {6}), PTensor(kStorage, 6, {}, {}),
        PTensor(kStorage, 0, {2, 2}, {INT64_MAX, INT64_MAX}),
        PTensor(kStorage, INT64_MAX / 4, {2}, {1})}) {
    ExpectPickleRefused(PDict({{"w", tensor}}), invalid, "tensor 'w': shape", {kTorchFloats});
  }
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, 0, {INT64_MAX, 4}, {0, 0})}}), invalid,
                      "product of its shape", {kTorchFloats});
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, 0, {INT64_MAX}, {0})}}),
                      ErrorCode::kUnsupported, "64 times the file's bytes", {kTorchFloats});
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, -1, {1}, {1})}}), invalid, "not negative",
                      {kTorchFloats});
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, 0, {-1}, {1})}}), invalid, "size: expected",
                      {kTorchFloats});
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, 0, {1}, {-1})}}), invalid, "stride: expected",
                      {kTorchFloats});
  ExpectPickleRefused(PDict({{"w", PTensor(kStorage, 0, {1}, {})}}), invalid, "0 strides",
                      {kTorchFloats});
}

TEST_F(TorchZips, RefusesStoragesThatAreNotWhatThePickleSays) {
  const auto invalid = ErrorCode::kInvalidInput;
  ExpectPickleRefused(PDict({{"w", kPlainTensor}}), invalid,
                      "tensor 'w': its storage '0' is not in the file");
  ExpectPickleRefused(PDict({{"w", kPlainTensor}}), invalid,
                      "its storage '0' has 8 bytes; expected 6 elements of 4", {"12345678"});
  ExpectPickleRefused(PDict({{"w", PTensor("N", 0, {1}, {1})}}), invalid, "laid over None");
}

TEST_F(TorchZips, NamesTheTensorsThatItDoesNotReadAndReadsTheOthers) {
  for (const std::string& name : std::initializer_list<std::string>{
           "_rebuild_qtensor", "_rebuild_sparse_tensor", "_rebuild_meta_tensor_no_storage",
           "_rebuild_nested_tensor"}) {
    ExpectUnread(PDict({{"a", PDict({{"w", PCall("torch._utils", name, {"N"})}})}}), "a.w",
                 "tensor 'a.w': is made by torch._utils." + name);
  }
  ExpectUnread(PDict({{"w", PTensor(PStorage("FloatStorage", "0", 6, "meta"), 0, {1}, {1})}}), "w",
               "device 'meta'", {kTorchFloats});
  ExpectUnread(PDict({{"w", PTensor(PStorage("QInt8Storage", "0", 24), 0, {1}, {1})}}), "w",
               "class torch.QInt8Storage", {kTorchFloats});
  ExpectUnread(PDict({{"w", kStorage}}), "w", "a storage outside of a tensor", {kTorchFloats});
  ExpectUnread(PDict({{"s", "\x8f(" + kPlainTensor + "\x90"}}), "s", "gives them no names",
               {kTorchFloats});
  ExpectUnread(
      PDict({{"w", PCall("torch._utils", "_rebuild_tensor_v2",
                         {kStorage, "K\1", PInts({1}), PInts({1}), "\x89",
                          PCall("collections", "OrderedDict", {}), PDict({{"conj", "\x88"}})})}}),
      "w", "conjugated", {kTorchFloats});
}

// Objects of classes that nobody here knows are what is in them; nothing of them is called.
TEST_F(TorchZips, TellsForeignObjectsByTheirClassAndWhatIsInThem) {
  const std::string space = PGlobal("argparse", "Namespace") + ")\x81" +
                            PDict({{"lr", "K\3"}, {"layers", PInts({1, 2})}}) + "b";
  const std::string deque = PCall("collections", "deque", {"]", "K\5"}) + "(K\1K\2e";
  const std::string module = PGlobal("__main__", "Net") + ")\x81" +
                             PDict({{"_parameters", PDict({{"w", kPlainTensor}})}}) + "b";
  const auto checkpoint = MustOpenPickle(
      PDict({{"args", space},
             {"evil", PCall("os", "system", {PStr("touch /tmp/rharness-ran-a-pickle")})},
             {"net", module},
             {"path", PCall("pathlib", "PosixPath", {PStr("/"), PStr("a")})},
             {"pair", PCall("m", "Pair", {kPlainTensor, "K\4"})},
             {"queue", deque},
             {"set", PCall("__builtin__", "set", {PList({PStr("b"), PStr("a")})})},
             {"w", kPlainTensor}}),
      {kTorchFloats});
  EXPECT_EQ(NamesOf(*checkpoint), (std::vector<std::string>{"net._parameters.w", "pair.(0)", "w"}));
  const std::vector<std::pair<std::string, std::string>> metadata = {
      {"args", "<argparse.Namespace>"},
      {"args.lr", "3"},
      {"args.layers.0", "1"},
      {"args.layers.1", "2"},
      {"evil", "os.system('touch /tmp/rharness-ran-a-pickle')"},
      {"net", "<__main__.Net>"},
      {"path", "pathlib.PosixPath('/', 'a')"},
      {"pair", "<m.Pair>"},
      {"pair.(1)", "4"},
      {"queue", "<collections.deque>"},
      {"queue.(1)", "5"},
      {"queue.0", "1"},
      {"queue.1", "2"},
      {"set", "set('a', 'b')"}};
  EXPECT_EQ(checkpoint->metadata(), metadata);
  EXPECT_TRUE(checkpoint->unread().empty());
  EXPECT_FALSE(std::filesystem::exists("/tmp/rharness-ran-a-pickle"));
}

TEST_F(TorchZips, WalksOnceOverAnObjectThatContainsItself) {
  const std::string cycle = PGlobal("m", "Node") + std::string(")\x81q\0", 4) + "}" + PStr("next") +
                            std::string("h\0sb", 4);
  EXPECT_EQ(MustOpenPickle(PDict({{"n", cycle}}))->metadata(),
            (std::vector<std::pair<std::string, std::string>>{
                {"n", "<m.Node>"}, {"n.next", "<the m.Node from before>"}}));
}

TEST_F(TorchZips, SpellsKeysThatAreNoStrings) {
  EXPECT_EQ(MustOpenPickle(PDict({{"a", "}" + PInts({1, 2}) + "K\7sNK\1s"}}))->metadata(),
            (std::vector<std::pair<std::string, std::string>>{{"a.(1, 2)", "7"}, {"a.None", "1"}}));
}

TEST_F(TorchZips, RefusesNamesThatAreEqualOnceJoined) {
  ExpectPickleRefused(PDict({{"a.b", kPlainTensor}, {"a", PDict({{"b", kPlainTensor}})}}),
                      ErrorCode::kInvalidInput, "tensor 'a.b': the name occurs twice",
                      {kTorchFloats});
}

TEST_F(TorchZips, EndsWalksOverValuesThatContainThemselvesOrMultiply) {
  ExpectPickleRefused(std::string("]q\0h\0a", 6), ErrorCode::kUnsupported, "contains itself");
  // Every list holds the one before twice: 2^60 leaves.
  std::string body;
  for (char i = 0; i < 60; ++i) {
    body += i == 0 ? "](NNe"
                   : std::string("](h") + static_cast<char>(i - 1) + "h" +
                         static_cast<char>(i - 1) + "e";
    body += std::string("q") + i;
  }
  ExpectPickleRefused("(" + body + "t", ErrorCode::kUnsupported, "more than 8388608 values");
}

TEST_F(TorchZips, BoundsMetadata) {
  std::string body = "](";
  for (std::size_t i = 0; i < kMaxTorchMetadata + 5; ++i) body += "K\1";
  const auto checkpoint = MustOpenPickle(body + "e");
  ASSERT_EQ(checkpoint->metadata().size(), kMaxTorchMetadata + 1);
  EXPECT_TRUE(checkpoint->metadata().back().second.starts_with("5 more values are not listed, "))
      << checkpoint->metadata().back().second;
  body.back() = '\2';  // of a value that is not listed
  const auto other = MustOpenPickle(body + "e");
  EXPECT_NE(other->metadata().back(), checkpoint->metadata().back());
  const std::string text(kMaxTorchTextBytes + 1, 'x');
  EXPECT_TRUE(MustOpenPickle(PList({PStr(text)}))
                  ->metadata()[0]
                  .second.starts_with("<a string of 65537 bytes, sha256 "));
}

TEST_F(TorchZips, RefusesBigEndian) {
  const auto file = [](std::vector<TestMember> more) {
    more.push_back({.name = "x/data.pkl", .content = PickleOf("}")});
    return ZipOf(more);
  };
  EXPECT_TRUE(Open(file({{.name = "x/byteorder", .content = "little"}}), "x.pt").ok());
  ExpectRefused(file({{.name = "x/byteorder", .content = "big"}}), ErrorCode::kUnsupported,
                "member 'x/byteorder': says big-endian");
  ExpectRefused(file({{.name = "x/byteorder", .content = "pdp"}}), ErrorCode::kInvalidInput,
                "expected 'little' or 'big'");
  ExpectRefused(file({{.name = "y/data.pkl"}}), ErrorCode::kInvalidInput, "a second data.pkl");
  ExpectRefused(ZipOf({{.name = "x/y"}}), ErrorCode::kUnsupported, "zip archive without data.pkl");
}

TEST_F(TorchZips, ReadsARepackedArchive) {
  const auto checkpoint =
      MustOpen(ZipOf({{.name = "data/0", .content = kTorchFloats, .deflate = true},
                      {.name = "data.pkl",
                       .content = PickleOf(PDict({{"w", kPlainTensor}})),
                       .deflate = true}}),
               "x.pt");
  EXPECT_EQ(ReadAll(*checkpoint, 0), kTorchFloats);
}

TEST_F(TorchZips, HasTheDigestOfTheSameTensorsInSafetensors) {
  const auto torch = MustOpenPickle(
      PDict({{"w", kPlainTensor}, {"t", PTensor(kStorage, 0, {3, 2}, {1, 3})}}), {kTorchFloats});
  const auto safetensors =
      MustOpen(FileOf({{"w", "F32", "[2,3]", kTorchFloats},
                       {"t", "F32", "[3,2]", BytesOf<float>({0, 3, 1, 4, 2, 5})}}));
  EXPECT_EQ(DigestCheckpoint(*torch)->sha256, DigestCheckpoint(*safetensors)->sha256);
}

TEST_F(TorchZips, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string pickle = PickleOf(PDict({{"w", kPlainTensor}, {"n", "K\5"}}));
  const std::string whole = TorchFileOf(pickle, {kTorchFloats});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto checkpoint = Open(whole.substr(0, size), "x.pt");
    ASSERT_FALSE(checkpoint.ok()) << size;
    EXPECT_NE(checkpoint.error().where.find("x.pt: byte "), std::string::npos) << size;
  }
  const auto read = [&](const std::string& file) {
    const auto checkpoint = Open(file, "x.pt");
    const std::size_t tensors = checkpoint.ok() ? (*checkpoint)->tensors().size() : 0;
    for (std::size_t i = 0; i < tensors; ++i) ReadAll(**checkpoint, i);
    const std::string where = checkpoint.ok() ? "x.pt" : checkpoint.error().where;
    EXPECT_NE(where.find("x.pt"), std::string::npos);
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      read(changed);
    }
  }
  // With the CRC-32 made to fit, the change reaches the unpickler.
  for (std::size_t at = 0; at < pickle.size(); ++at) {
    for (const int change : {0x01, 0x04, 0x80, 0xff}) {
      std::string changed = pickle;
      changed[at] = static_cast<char>(changed[at] ^ change);
      read(TorchFileOf(changed, {kTorchFloats}));
    }
  }
}

}  // namespace
}  // namespace rharness
