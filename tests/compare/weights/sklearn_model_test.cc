// Pickles and joblib's dumps of objects with arrays: attributes as names, arrays in one digest with
// safetensors, parameters that decide; cuts and damage are errors.
#include "compare/weights/sklearn_model.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <set>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

std::string PBytes(const std::string& bytes) { return "B" + Little(bytes.size(), 4) + bytes; }
std::string PInstance(const std::string& module, const std::string& name,
                      const std::string& state) {
  return PGlobal(module, name) + ")\x81" + state + "b";
}
std::string PType(const std::string& format, const std::string& order = "<",
                  const std::string& names = "N", const std::string& fields = "N",
                  std::int64_t size = -1) {
  return PCall("numpy", "dtype", {PStr(format), "\x89", "\x88"}) +
         PTuple({PInt(3), PStr(order), "N", names, fields, PInt(size), PInt(1), PInt(0)}) + "b";
}
std::string PArray(const std::string& type, const std::vector<std::int64_t>& shape,
                   const std::string& data, bool fortran = false) {
  return PCall("numpy._core.multiarray", "_reconstruct",
               {PGlobal("numpy", "ndarray"), PInts({0}), PBytes("b")}) +
         PTuple({PInt(1), PInts(shape), type, fortran ? "\x88" : "\x89", data}) + "b";
}
// Joblib's stand-in, with the bytes of the array behind it.
std::string PWrapped(const std::string& type, const std::vector<std::int64_t>& shape,
                     const std::string& data, const std::string& padding = "\2xx") {
  return PInstance("joblib.numpy_pickle", "NumpyArrayWrapper",
                   PDict({{"subclass", PGlobal("numpy", "ndarray")},
                          {"shape", PInts(shape)},
                          {"order", PStr("C")},
                          {"dtype", type},
                          {"allow_mmap", "\x88"},
                          {"numpy_array_alignment_bytes", padding.empty() ? "N" : PInt(16)}})) +
         padding + data;
}
std::string ZlibOf(const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(content.data()), content.size());
  out.resize(size);
  return out;
}

const std::string kSixDoubles = BytesOf<double>({1, 2, 3, 4, 5, 6});
const std::string kCounts = BytesOf<std::int64_t>({7, 8});

std::string PipelineOf(const std::string& coef, const std::string& counts,
                       const std::string& rate) {
  const std::string scale =
      PInstance("sklearn.preprocessing", "Scaler", PDict({{"counts_", counts}, {"copy", "\x88"}}));
  const std::string fit = PInstance("sklearn.linear_model", "Model",
                                    PDict({{"coef_", coef}, {"C", rate}, {"note", PStr("x")}}));
  return PickleOf(PInstance(
      "sklearn.pipeline", "Pipeline",
      PDict({{"steps", PList({PTuple({PStr("scale"), scale}), PTuple({PStr("fit"), fit})})},
             {"_sklearn_version", PStr("1.9.1")}})));
}
std::string PlainModel(const std::string& rate = "K\1") {
  return PipelineOf(PArray(PType("f8"), {2, 3}, PBytes(kSixDoubles)),
                    PArray(PType("i8"), {2}, PBytes(kCounts)), rate);
}
std::string JoblibModel() {
  return PipelineOf(PWrapped(PType("f8"), {2, 3}, kSixDoubles), PWrapped(PType("i8"), {2}, kCounts),
                    "K\1");
}

class PickledModels : public CheckpointFiles {
 protected:
  std::string DigestOf(std::string_view content, std::string_view name = "m.joblib") {
    const auto digest = DigestCheckpoint(*MustOpen(content, name));
    EXPECT_TRUE(digest.ok()) << digest.error().ToString();
    return digest.ok() ? digest->sha256 : "";
  }
  std::string Parameters(const std::string& content) {
    const auto checkpoint = MustOpen(content, "m.joblib");
    EXPECT_EQ(checkpoint->unread().size(), 1u);
    EXPECT_EQ(checkpoint->unread()[0].kind, PartKind::kModel);
    return checkpoint->unread()[0].content;
  }
  std::string PlainDigest(const std::vector<TestTensor>& tensors) {
    return DigestOf(FileOf(tensors), "x.safetensors");
  }
};

TEST_F(PickledModels, HaveOneDigestInEveryContainer) {
  const std::string same = PlainDigest({{"steps/fit/coef_", "F64", "[2,3]", kSixDoubles},
                                        {"steps/scale/counts_", "I64", "[2]", kCounts}});
  EXPECT_EQ(DigestOf(PlainModel()), same);
  EXPECT_EQ(DigestOf(JoblibModel()), same);
  EXPECT_EQ(DigestOf(ZlibOf(JoblibModel())), same);
  EXPECT_EQ(DigestOf(PipelineOf(PWrapped(PType("f8"), {2, 3}, kSixDoubles, ""),
                                PArray(PType("i8"), {2}, PBytes(kCounts)), "K\1")),
            same);
  EXPECT_EQ(Parameters(JoblibModel()), Parameters(ZlibOf(JoblibModel())));
}

TEST_F(PickledModels, HaveParametersThatDecide) {
  const std::string text = Parameters(PlainModel());
  EXPECT_NE(text.find("steps/fit/C: 1"), std::string::npos) << text;
  EXPECT_NE(text.find("steps/fit: <sklearn.linear_model.Model>"), std::string::npos) << text;
  EXPECT_NE(text.find("steps: a list of 2: scale, fit"), std::string::npos) << text;
  EXPECT_EQ(text.find("1.9.1"), std::string::npos);
  EXPECT_NE(Parameters(PlainModel("K\2")), text);
  EXPECT_EQ(DigestOf(PlainModel("K\2")), DigestOf(PlainModel()));
}

TEST_F(PickledModels, SplitStructuresByTheirFields) {
  const std::string fields =
      PDict({{"x", PTuple({PType("f4"), PInt(0)})}, {"y", PTuple({PType("i8"), PInt(4)})}});
  const std::string type = PType("V12", "|", PTuple({PStr("x"), PStr("y")}), fields, 12);
  const std::string one = BytesOf<float>({1.5}) + BytesOf<std::int64_t>({9});
  const std::string two = BytesOf<float>({2.5}) + BytesOf<std::int64_t>({10});
  const std::string same = PlainDigest({{"s/x", "F32", "[2]", BytesOf<float>({1.5, 2.5})},
                                        {"s/y", "I64", "[2]", BytesOf<std::int64_t>({9, 10})}});
  EXPECT_EQ(DigestOf(PickleOf(PDict({{"s", PArray(type, {2}, PBytes(one + two))}}))), same);
  EXPECT_EQ(DigestOf(PickleOf(PDict({{"s", PWrapped(type, {2}, one + two)}}))), same);
}

TEST_F(PickledModels, ReadNumbersOfNumpyBigOnesFirstColumnsFirstAndObjects) {
  const std::string scalar =
      PCall("numpy.core.multiarray", "scalar", {PType("f8"), PBytes(BytesOf<double>({0.5}))});
  const std::string big = PArray(PType("i2", ">"), {2}, PBytes("\0\1\0\2"s));
  const std::string columns = PArray(PType("u1"), {2, 2}, PBytes("abcd"), true);
  const std::string inner = PickleOf(PArray(PType("O8", "|"), {2}, PList({scalar, PStr("t")})));
  const std::string objects = PWrapped(PType("O8", "|"), {2}, inner, "");
  const std::string text = PArray(PType("U1"), {1}, PBytes("a\0\0\0"s));
  const std::string buffer = PCall("numpy._core.numeric", "_frombuffer",
                                   {PBytes("z"), PType("u1"), PInts({1}), PStr("C")});
  const std::string model = PickleOf(PDict(
      {{"b", big}, {"c", columns}, {"n", scalar}, {"o", objects}, {"p", buffer}, {"t", text}}));
  EXPECT_EQ(DigestOf(model), PlainDigest({{"b", "I16", "[2]", "\1\0\2\0"s},
                                          {"c", "U8", "[2,2]", "acbd"},
                                          {"n", "F64", "[]", BytesOf<double>({0.5})},
                                          {"o/0", "F64", "[]", BytesOf<double>({0.5})},
                                          {"p", "U8", "[1]", "z"}}));
  EXPECT_NE(Parameters(model).find("t: 'U1' of shape [1]: <array of 4 bytes"), std::string::npos)
      << Parameters(model);
  EXPECT_NE(Parameters(model).find("o/1: t"), std::string::npos);
}

// numpy.ma: also one of objects, as in the results of a grid search.
TEST_F(PickledModels, ReadTheDataAndTheMaskOfAMaskedArray) {
  const auto masked = [](const std::string& type, const std::string& data,
                         const std::string& mask) {
    return PCall("numpy.ma.core", "_mareconstruct",
                 {PGlobal("numpy.ma.core", "MaskedArray"), PGlobal("numpy", "ndarray"), PInts({0}),
                  PBytes("b")}) +
           PTuple({PInt(1), PInts({2}), type, "\x89", data, PBytes(mask), PInt(9)}) + "b";
  };
  const std::string counts = PBytes(kCounts), names = PList({PStr("x"), PStr("y")});
  const auto model = [&](const std::string& mask) {
    return PickleOf(PDict({{"m", masked(PType("i8"), counts, mask)},
                           {"o", masked(PType("O8", "|"), names, "\0\0"s)}}));
  };
  EXPECT_EQ(DigestOf(model("\1\0"s)), PlainDigest({{"m/data", "I64", "[2]", kCounts},
                                                   {"m/mask", "BOOL", "[2]", "\1\0"s},
                                                   {"o/mask", "BOOL", "[2]", "\0\0"s}}));
  EXPECT_NE(DigestOf(model("\0\1"s)), DigestOf(model("\1\0"s)));
  EXPECT_NE(Parameters(model("\1\0"s)).find("m/fill_value: 9"), std::string::npos);
  EXPECT_NE(Parameters(model("\1\0"s)).find("o/data/1: y"), std::string::npos);
  EXPECT_FALSE(Open(model("\1"), "m.joblib").ok());
}

// 1, 1.0 and True are three names.
TEST_F(PickledModels, TellTheKindsOfKeysApart) {
  const std::string array = PArray(PType("i8"), {2}, PBytes(kCounts));
  std::set<std::string> digests;
  for (const std::string& key : {PInt(1), "G\x3f\xf0\0\0\0\0\0\0"s, "\x88"s}) {
    digests.insert(DigestOf(PickleOf("}(" + key + array + "u")));
  }
  EXPECT_EQ(digests.size(), 3u);
}

TEST_F(PickledModels, AreRefusedWithTheFault) {
  const auto one = [](const std::string& value) { return PickleOf(PDict({{"a", value}})); };
  std::string deep = PArray(PType("f8"), {0}, PBytes(""));
  for (int i = 0; i < 150; ++i) deep = PList({deep});
  std::string nested = PickleOf(PArray(PType("O8", "|"), {0}, "]"));
  for (int i = 0; i < 20; ++i) nested = PickleOf(PWrapped(PType("O8", "|"), {1}, nested, ""));
  const std::vector<std::pair<std::string, std::string>> rows = {
      {one("K\1"), "is a Python pickle without an array of numbers"},
      {one(PArray(PType("f8"), {3}, PBytes(kSixDoubles))),
       "tensor 'a': 48 bytes; expected those of"},
      {one(PArray(PType("f8"), {1LL << 40, 1LL << 40}, PBytes(kSixDoubles))),
       "tensor 'a': 48 bytes"},
      {one(PWrapped(PType("f8"), {1LL << 40, 1LL << 40}, kSixDoubles)), "expected it within the"},
      {one(PWrapped(PType("f8"), {99}, kSixDoubles)), "expected it within the"},
      {one(PWrapped(PType("V8", "|", PTuple({PStr("x")}), PDict({}), 8), {6}, kSixDoubles)),
       "an array of a type that is not read"},
      {one(PStorage("FloatStorage", "0", 1)), "with objects outside of it"},
      {one(deep), "nested too deep"},
      {nested, "more than 8 pickles in one another"},
      {PlainModel() + "x", "1 bytes after the pickle"},
      {ZlibOf(PlainModel()) + "x", "is deflated and damaged"},
      {"BZh91AY&SY", "a bzip2 file"},
      {"\x04\x22\x4d\x18\x40\x40\xc0", "an lz4 file"},
      {"\xfd"
       "7zXZ\0\0\4"s,
       "an xz file"},
  };
  for (const auto& [content, words] : rows) {
    const auto result = Open(content, "m.joblib");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
  }
}

TEST_F(PickledModels, AreNeverReadWhereTheyAreCutOff) {
  for (const std::string& whole : {PlainModel(), JoblibModel(), ZlibOf(JoblibModel())}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(Open(whole.substr(0, size), "m.joblib").ok()) << size;
    }
  }
}

TEST_F(PickledModels, AreAnErrorOrReadableWhateverAByteSays) {
  for (const std::string& whole : {PlainModel(), JoblibModel()}) {
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      for (const int flip : {1, 0x80}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const auto checkpoint = Open(changed, "m.joblib");
        EXPECT_TRUE(!checkpoint.ok() || DigestCheckpoint(**checkpoint).ok()) << at;
      }
    }
  }
}

}  // namespace
}  // namespace rharness
