// Files from before PyTorch 1.6, written byte by byte: pickles, then storages.
#include "compare/weights/torch_legacy.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

const std::string kLegacyFloats = BytesOf<float>({0, 1, 2, 3});
const std::string kLongs = BytesOf<std::int64_t>({7});

class TorchLegacy : public CheckpointFiles {
 protected:
  // Of two storages: four floats and one integer.
  static std::string FileWith(const std::string& body, const std::string& little_endian = "\x88",
                              const std::string& tail = "") {
    return std::string(kTorchLegacyMagic) + "." + PickleOf("M\xe9\x03") +
           PickleOf(PDict({{"little_endian", little_endian}})) + PickleOf(body) +
           PickleOf(PList({PStr("10"), PStr("9")})) + Little(4, 8) + kLegacyFloats + Little(1, 8) +
           kLongs + tail;
  }
  static std::string Body() {
    const std::string floats = PTensor(PStorage("FloatStorage", "10", 4), 0, {2, 2}, {1, 2});
    // Files of that time state a sixth item, None.
    const std::string long_storage = PTuple({PStr("storage"), PGlobal("torch", "LongStorage"),
                                             PStr("9"), PStr("cpu"), PInt(1), "N"}) +
                                     "Q";
    return PDict(
        {{"w", floats},
         {"n", PTensor(long_storage, 0, {}, {})},
         {"args", PGlobal("argparse", "Namespace") + ")\x81" + PDict({{"lr", "K\3"}}) + "b"}});
  }
  void ExpectRefused(const std::string& file, ErrorCode code, std::string_view text) {
    const auto checkpoint = Open(file, "x.pt");
    ASSERT_FALSE(checkpoint.ok()) << text;
    EXPECT_EQ(checkpoint.error().code, code) << checkpoint.error().ToString();
    EXPECT_NE(checkpoint.error().message.find(text), std::string::npos)
        << checkpoint.error().ToString();
  }
};

TEST_F(TorchLegacy, HasTheTensorsAndValuesThatWereSaved) {
  const auto checkpoint = MustOpen(FileWith(Body()), "x.pt");
  ASSERT_EQ(checkpoint->tensors().size(), 2u);
  EXPECT_EQ(ReadAll(*checkpoint, 0), kLongs);
  EXPECT_EQ(ReadAll(*checkpoint, 1), BytesOf<float>({0, 2, 1, 3}));
  EXPECT_EQ(checkpoint->metadata(), (std::vector<std::pair<std::string, std::string>>{
                                        {"args", "<argparse.Namespace>"}, {"args.lr", "3"}}));
  const auto safetensors = MustOpen(
      FileOf({{"n", "I64", "[]", kLongs}, {"w", "F32", "[2,2]", BytesOf<float>({0, 2, 1, 3})}}));
  EXPECT_EQ(DigestCheckpoint(*checkpoint)->sha256, DigestCheckpoint(*safetensors)->sha256);
}

// The first look at a pickle is 64 KB long.
TEST_F(TorchLegacy, ReadsAPickleOfAnySize) {
  std::string body = Body();
  body.insert(body.size() - 1, PStr("text") + PStr(std::string(600'000, 'x')));
  const auto checkpoint = MustOpen(FileWith(body), "x.pt");
  EXPECT_EQ(ReadAll(*checkpoint, 0), kLongs);
}

TEST_F(TorchLegacy, RefusesWhatDoesNotFit) {
  const auto invalid = ErrorCode::kInvalidInput;
  ExpectRefused(FileWith(Body(), "\x89"), ErrorCode::kUnsupported, "little-endian");
  ExpectRefused(FileWith(Body(), "\x88", "x"), invalid, "1 bytes after the last storage");
  ExpectRefused(FileWith("}"), invalid, "a storage that no tensor has");
  const std::string more = PTensor(PStorage("FloatStorage", "10", 5), 0, {5}, {1});
  std::string body = Body();
  body.insert(body.size() - 1, PStr("more") + more);
  ExpectRefused(FileWith(body), invalid, "expected 5 elements of 4");
  const std::string half = PTensor(PStorage("HalfStorage", "10", 4), 0, {4}, {1});
  body = Body();
  body.insert(body.size() - 1, PStr("half") + half);
  ExpectRefused(FileWith(body), invalid, "storage '10' is of two classes");
}

TEST_F(TorchLegacy, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string whole = FileWith(Body());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_FALSE(Open(whole.substr(0, size), "x.pt").ok()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x04, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const auto checkpoint = Open(changed, "x.pt");
      if (!checkpoint.ok()) {
        EXPECT_NE(checkpoint.error().where.find("x.pt"), std::string::npos);
        continue;
      }
      for (std::size_t i = 0; i < (*checkpoint)->tensors().size(); ++i) ReadAll(**checkpoint, i);
    }
  }
}

}  // namespace
}  // namespace rharness
