// `rharness compare` on checkpoints that hold more than it reads: what is not compared never
// passes.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "tests/cli/compare_verb.h"
#include "tests/compare/weights/pickle_bytes.h"

namespace rharness {
namespace {

// A pair of files that nobody reads, in two folders whose other pair is equal.
TEST_F(CompareVerb, NeverPassesFoldersInWhichFilesThatItCannotReadDiffer) {
  for (const char* side : {"x", "y"}) {
    WriteLoss(side + std::string("/loss.json"), 0.0);
    Write(side + std::string("/notes.txt"), side);  // text of no kind is left out, as ever
    Write(side + std::string("/weights.h5"), "\x89HDF\r\n\x1a\nsame");
  }
  Json json = CompareJson({At("x"), At("y")}, 0);
  EXPECT_EQ(json.Find("counts")->Find("identical")->ToInt64(), 2);
  EXPECT_EQ(json.Find("notes")->AsArray().size(), 1u);

  Write("y/weights.h5", "\x89HDF\r\n\x1a\nelse");
  json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_EQ(json.Find("counts")->Find("inconclusive")->ToInt64(), 1);
  const std::string text = Compare({At("x"), At("y")}).stdout_text;
  EXPECT_NE(text.find("weights.h5 was not compared, and the bytes differ: is an HDF5 file"),
            std::string::npos)
      << text;
  // A pointer of Git LFS is text, but it has the name of a checkpoint.
  Write("x/weights.h5", "\x89HDF\r\n\x1a\nelse");
  Write("x/m.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:1");
  Write("y/m.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:2");
  json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_EQ(json.Find("counts")->Find("inconclusive")->ToInt64(), 1);
}

std::string TorchFile(const std::string& tensor_bytes, const std::string& rest) {
  const std::string tensor = PTensor(PStorage("FloatStorage", "0", 2), 0, {2}, {1});
  return TorchFileOf(PickleOf("}(" + PStr("w") + tensor + rest + "u"), {tensor_bytes});
}

TEST_F(CompareVerb, NeverPassesATensorThatItDoesNotReadBesideEqualOnes) {
  const std::string bytes = BytesOf<float>({1, 2});
  const std::string quantised = PStr("q") + PCall("torch._utils", "_rebuild_qtensor", {"K\1"});
  const std::string other = PStr("q") + PCall("torch._utils", "_rebuild_qtensor", {"K\2"});
  const std::string a = Write("a.pt", TorchFile(bytes, quantised));
  EXPECT_EQ(Compare({a, Write("same.pt", TorchFile(bytes, quantised))}).outcome.exit_code, 0);
  const std::string b = Write("b.pt", TorchFile(bytes, other));
  for (const char* expect : {"bitwise", "statistical"}) {
    const Json json = CompareJson({a, b, "--expect", expect}, 3);
    EXPECT_EQ(json.Find("verdict")->AsString(), "inconclusive");
    EXPECT_NE(json.Find("headline")->AsString().find("q was not compared, and the bytes differ"),
              std::string::npos)
        << json.Find("headline")->AsString();
  }
  const Json alone = CompareJson({a, Write("c.pt", TorchFile(bytes, ""))}, 3);
  EXPECT_NE(alone.Find("headline")->AsString().find("this is so in A alone"), std::string::npos);
}

// The archive keeps a CRC-32 of the tensor's bytes, which no read of a part can check.
TEST_F(CompareVerb, SaysThatAFileIsDamagedWhoseTensorDiffers) {
  const std::string whole = TorchFile(BytesOf<float>({1, 2}), "");
  std::string damaged = whole;
  damaged[damaged.find(BytesOf<float>({1, 2}))] ^= 1;
  const std::string a = Write("a.pt", whole), b = Write("b.pt", damaged);
  const ProcessResult result = Compare({a, b});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text;
  EXPECT_NE(result.stdout_text.find("B is damaged, or was written without checksums: member "
                                    "'x/data/0': CRC-32"),
            std::string::npos)
      << result.stdout_text;
  const std::string other = Write("other.pt", TorchFile(BytesOf<float>({1, 3}), ""));
  EXPECT_EQ(Compare({a, other}).stdout_text.find("damaged"), std::string::npos);
}

TEST_F(CompareVerb, SaysSoOfAShardThatIsDamaged) {
  const std::string whole = TorchFile(BytesOf<float>({1, 2}), "");
  std::string damaged = whole;
  damaged[damaged.find(BytesOf<float>({1, 2}))] ^= 1;
  for (const char* side : {"x/", "y/"}) {
    Write(side + std::string("model.bin.index.json"), R"({"weight_map": {"w": "1.bin"}})");
    Write(side + std::string("1.bin"), side[0] == 'x' ? whole : damaged);
  }
  const ProcessResult result = Compare({At("x"), At("y")});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text;
  EXPECT_NE(result.stdout_text.find("B is damaged, or was written without checksums"),
            std::string::npos)
      << result.stdout_text;
}

TEST_F(CompareVerb, TellsObjectsBesideTheTensorsByWhatIsInThem) {
  const auto with_rate = [](const std::string& rate) {
    return TorchFile(BytesOf<float>({1, 2}), PStr("args") + PGlobal("argparse", "Namespace") +
                                                 ")\x81" + PDict({{"lr", rate}}) + "b");
  };
  const ProcessResult result =
      Compare({Write("a.pt", with_rate("K\1")), Write("b.pt", with_rate("K\2"))});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stdout_text.find("args.lr: 1 in A, 2 in B"), std::string::npos)
      << result.stdout_text;
}

TEST_F(CompareVerb, ComparesWhatLiesBesideAnIndex) {
  for (const char* side : {"x/", "y/"}) {
    WriteWeights(side + std::string("1.safetensors"), {1, 2, 3, 4});
    Write(side + std::string("model.safetensors.index.json"),
          R"({"weight_map": {"fc1.weight": "1.safetensors", "fc2.weight": "1.safetensors"}})");
    Write(side + std::string("adapter.safetensors"),
          FileOf({{"extra", "F32", "[1]", BytesOf<float>({side[0] == 'x' ? 1.0f : 2.0f})}}));
  }
  const ProcessResult result = Compare({At("x"), At("y")});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text;
  EXPECT_NE(result.stdout_text.find("adapter.safetensors/extra"), std::string::npos)
      << result.stdout_text;
  std::filesystem::copy_file(At("x/adapter.safetensors"), At("y/adapter.safetensors"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Compare({At("x"), At("y")}).outcome.exit_code, 0);
  Write("x/model.onnx", std::string("\x08\x07\x12\x07pytorch", 11));
  const Json json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_NE(json.Find("headline")->AsString().find("model.onnx was not compared"),
            std::string::npos);
}

// A folder that says what it is does not become a folder of things because it is damaged.
TEST_F(CompareVerb, EndsWithTwoOnADestroyedMetadataOfADistributedCheckpoint) {
  for (const char* side : {"x/", "y/"}) {
    WriteLoss(side + std::string("loss.json"), 0.0);
    Write(side + std::string(".metadata"), "\x80\x04 destroyed");
    Write(side + std::string("__0_0.distcp"), TorchFile(BytesOf<float>({1, 2}), ""));
  }
  const ProcessResult result = Compare({At("x"), At("y")});
  EXPECT_EQ(result.outcome.exit_code, 2) << result.stdout_text;
  EXPECT_NE(result.stderr_text.find(".metadata"), std::string::npos) << result.stderr_text;
}

TEST_F(CompareVerb, SaysWhatBecameOfNumbersThatWereNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::string a = WriteWeights("a.safetensors", {inf, 2, 3, 4});
  for (const float other : {-inf, std::numeric_limits<float>::quiet_NaN(), 1.0f}) {
    const Json json = CompareJson({a, WriteWeights("b.safetensors", {other, 2, 3, 4})}, 1);
    EXPECT_NE(
        json.Find("headline")
            ->AsString()
            .find("1 element of fc1.weight changed to, from or among infinities and not-a-number"),
        std::string::npos)
        << json.Find("headline")->AsString();
  }
}

}  // namespace
}  // namespace rharness
