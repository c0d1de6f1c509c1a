// Numpy arrays and other buffers inside of PyTorch files.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "compare/weights/checkpoint.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_tree.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class TorchBuffers : public CheckpointFiles {
 protected:
  std::unique_ptr<Checkpoint> MustOpenPickle(const std::string& body) {
    return MustOpen(TorchFileOf(PickleOf(body), {}), "x.pt");
  }
  static std::vector<std::string> NamesOf(const Checkpoint& checkpoint) {
    std::vector<std::string> names;
    for (const TensorInfo& info : checkpoint.tensors()) names.push_back(info.name);
    return names;
  }
};

// Bytes at protocol 2 are a string's code points, here 0, 0x80, 0xff.
TEST_F(TorchBuffers, ReadsNumpyArraysOfNumbers) {
  const auto array = [](const std::string& module, const std::string& format,
                        const std::string& order, const std::vector<std::int64_t>& shape,
                        const std::string& fortran, const std::string& data) {
    const std::string dtype = PCall("numpy", "dtype", {PStr(format), "\x89", "\x88"}) +
                              PTuple({"K\3", PStr(order), "N", "N", "N"}) + "b";
    return PCall(module, "_reconstruct",
                 {PGlobal("numpy", "ndarray"), PTuple({std::string("K\0", 2)}), "C\1b"}) +
           PTuple({"K\1", PInts(shape), dtype, fortran, data}) + "b";
  };
  const std::string latin1 =
      PCall("_codecs", "encode", {PStr(std::string("\0\xc2\x80\xc3\xbf", 5)), PStr("latin1")});
  const std::string bytes = "C\4abcd";
  const auto checkpoint = MustOpenPickle(
      PDict({{"bytes", array("numpy.core.multiarray", "u1", "|", {3}, "\x89", latin1)},
             {"fortran", array("numpy._core.multiarray", "u1", "|", {2, 2}, "\x88", bytes)},
             {"swapped", array("numpy._core.multiarray", "i2", ">", {2}, "\x89", bytes)},
             {"too_long", array("numpy._core.multiarray", "i4", "<", {2}, "\x89", bytes)},
             {"objects", array("numpy._core.multiarray", "O8", "|", {1}, "\x89", PList({"N"}))}}));
  ASSERT_EQ(NamesOf(*checkpoint),
            (std::vector<std::string>{"bytes", "fortran", "swapped", "too_long.4"}));
  EXPECT_EQ(ReadAll(*checkpoint, 0), std::string("\0\x80\xff", 3));
  EXPECT_EQ(ReadAll(*checkpoint, 1), "acbd");
  EXPECT_EQ(ReadAll(*checkpoint, 2), "badc");
  EXPECT_EQ(ReadAll(*checkpoint, 3), "abcd");
}

// The state of an array of a type that is not read.
std::string ArrayOf(const std::string& module, const std::string& function, const std::string& type,
                    std::vector<std::string> data) {
  const std::string dtype =
      PCall("numpy", "dtype", {PStr(type), "\x89", "\x88"}) +
      PTuple({"K\4", PStr("<"), "N", "N", "N", PTuple({"}", PTuple({"C\2ns", "K\1"})})}) + "b";
  std::vector<std::string> state = {"K\1", PInts({1}), dtype, "\x89"};
  state.insert(state.end(), data.begin(), data.end());
  return PCall(module, function,
               {PGlobal("numpy", "ndarray"), PTuple({std::string("K\0", 2)}), "C\1b"}) +
         PTuple(state) + "b";
}

// Their bytes are tensors of bytes, and differ as such.
TEST_F(TorchBuffers, ReadsTheBytesOfArraysWhoseTypeIsNotRead) {
  const std::string numbers = ArrayOf("numpy.core.multiarray", "_reconstruct", "u1", {"C\1z"});
  const auto checkpoint = MustOpenPickle(
      PDict({{"date", ArrayOf("numpy.core.multiarray", "_reconstruct", "M8", {"C\4abcd"})},
             {"floats", ArrayOf("numpy.core.multiarray", "_reconstruct", "O8", {PList({"N"})})},
             {"masked", ArrayOf("numpy.ma.core", "_mareconstruct", "u1", {"C\1a", "C\1\1", "N"})},
             {"objects",
              ArrayOf("numpy.core.multiarray", "_reconstruct", "O8", {PList({numbers, "N"})})}}));
  ASSERT_EQ(NamesOf(*checkpoint),
            (std::vector<std::string>{"date.4", "masked.4", "masked.5", "objects.4.0"}));
  EXPECT_EQ(ReadAll(*checkpoint, 0), "abcd");
  EXPECT_EQ(ReadAll(*checkpoint, 2), "\1");
  EXPECT_EQ(ReadAll(*checkpoint, 3), "z");
  EXPECT_EQ(checkpoint->metadata().front().first, "date");  // what else there is, is told
}

// TransformerEngine keeps scales as such; io.BytesIO's state is (bytes, position, attributes).
TEST_F(TorchBuffers, ReadsBytesWhereverTheyStand) {
  const std::string buffer =
      PGlobal("_io", "BytesIO") + ")\x81" + PTuple({"C\2st", "K\2", "N"}) + "b";
  const std::string node = PGlobal("mine", "Node") + ")\x81}" + PStr("scale") + "C\1xsb";
  const auto checkpoint = MustOpenPickle(PDict({
      {"a._extra_state", buffer},
      {"b._extra_state", "C\2uv"},
      {"c._extra_state", PCall("_codecs", "encode", {PStr("\xc3\xbf"), PStr("latin1")})},
      {"d", PCall("builtins", "bytearray", {"C\2wx"})},
      {"e", PCall("__builtin__", "bytearray", {PStr("\xc3\xbf"), PStr("latin-1")})},
      {"f", PCall("torch.storage", "_load_from_bytes", {"C\2yz"})},
      {"g", PList({node})},
      {"h", std::string("C\0", 2)},
  }));
  ASSERT_EQ(NamesOf(*checkpoint),
            (std::vector<std::string>{"a._extra_state.(state).0", "b._extra_state",
                                      "c._extra_state", "d", "e", "f.(0)", "g.0.scale", "h"}));
  const std::vector<std::string> expected = {"st", "uv", "\xff", "wx", "\xff", "yz", "x", ""};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(checkpoint->tensors()[i].dtype, DType::kU8) << i;
    EXPECT_EQ(ReadAll(*checkpoint, i), expected[i]) << i;
  }
  EXPECT_TRUE(checkpoint->unread().empty());
}

// A date is no tensor, though a pickle has it as bytes; bytes in a set have no name to be told by.
TEST_F(TorchBuffers, TellsDatesAndScalarsAndComparesBytesWithoutANameAsAWhole) {
  const auto checkpoint = MustOpenPickle(PDict({
      {"a", PCall("datetime", "datetime", {"C\x0a\7\xe8\1\2\3\4\5\6\7\x08"})},
      {"b", PCall("numpy.core.multiarray", "scalar",
                  {PCall("numpy", "dtype", {PStr("f4"), "\x89", "\x88"}), "C\4abcd"})},
      {"c", PCall("numpy.core.multiarray", "scalar",
                  {PCall("numpy", "dtype", {PStr("V90"), "\x89", "\x88"}),
                   "C\x5a" + std::string(90, 'v')})},
      {"d", PCall("builtins", "set", {PList({"C\1x"})})},
  }));
  EXPECT_EQ(NamesOf(*checkpoint), std::vector<std::string>{"c.(1)"});
  ASSERT_EQ(checkpoint->unread().size(), 1u);
  EXPECT_EQ(checkpoint->unread()[0].name, "d");
}

// LONG1 of nine and ten bytes; as doubles the first two are one number.
TEST_F(TorchBuffers, TellsIntegersOfAnySizeByTheirDigits) {
  const auto wide = [](std::string bytes) {
    return std::string("\x8a") + static_cast<char>(bytes.size()) + bytes;
  };
  const std::string zeros(8, '\0'), ones(8, '\xff');
  const auto checkpoint = MustOpenPickle(PDict({
      {"a", wide(zeros + '\1')},                           // 2^64
      {"b", wide('\1' + zeros.substr(1) + '\1')},          // 2^64 + 1
      {"c", wide(ones + '\xfe')},                          // -2^64 - 1
      {"d", wide(zeros + std::string("\0\x80", 2))},       // -2^79
      {"e", wide(zeros + zeros + '\1')},                   // 2^128
      {"f", wide('\1' + zeros.substr(1) + zeros + '\1')},  // 2^128 + 1
      {"w", PCall("torch", "device", {PStr("cpu")})},
  }));
  std::map<std::string, std::string> told(checkpoint->metadata().begin(),
                                          checkpoint->metadata().end());
  EXPECT_EQ(told["a"], "18446744073709551616");
  EXPECT_EQ(told["b"], "18446744073709551617");
  EXPECT_EQ(told["c"], "-18446744073709551617");
  EXPECT_EQ(told["d"], "-604462909807314587353088");
  EXPECT_EQ(told["e"], "340282366920938463463374607431768211456");
  EXPECT_EQ(told["f"], "340282366920938463463374607431768211457");
}

// One string, made bytes by a thousand calls, is in memory once.
TEST_F(TorchBuffers, KeepsBytesOnceThatAreNamedOften) {
  std::string items = "](" + PStr(std::string(1000, 'x')) + std::string("q\0", 2);
  for (int i = 0; i < 1000; ++i) {
    items += PGlobal("_codecs", "encode") + std::string("(h\0", 3) + PStr("latin1") + "tR";
  }
  const auto parsed = ParsePickle(PickleOf(items + "e"), TorchGlobalNames(), "x");
  ASSERT_TRUE(parsed.ok()) << parsed.error().ToString();
  const auto parts = FlattenTorchTree(
      *parsed, [](std::string_view) { return std::nullopt; }, "x");
  ASSERT_TRUE(parts.ok()) << parts.error().ToString();
  EXPECT_EQ(parts->views.size(), 1000u);
  EXPECT_EQ(parts->sources.size(), 1u);
}

}  // namespace
}  // namespace rharness
