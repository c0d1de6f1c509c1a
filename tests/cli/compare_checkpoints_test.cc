// `rharness compare` on checkpoints that hold more than it reads: what is not compared never
// passes.
#include <fmt/format.h>
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
    Write(side + std::string("/m.tflite"), std::string("\x1c\0\0\0TFL3", 8) + "same");
  }
  Json json = CompareJson({At("x"), At("y")}, 0);
  EXPECT_EQ(json.Find("counts")->Find("identical")->ToInt64(), 2);
  EXPECT_EQ(json.Find("notes")->AsArray().size(), 1u);

  Write("y/m.tflite", std::string("\x1c\0\0\0TFL3", 8) + "else");
  json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_EQ(json.Find("counts")->Find("inconclusive")->ToInt64(), 1);
  const std::string text = Compare({At("x"), At("y")}).stdout_text;
  EXPECT_NE(
      text.find("m.tflite was not compared, and the bytes differ: is a TensorFlow Lite model"),
      std::string::npos)
      << text;
  // A pointer of Git LFS is text, but it has the name of a checkpoint.
  Write("x/m.tflite", std::string("\x1c\0\0\0TFL3", 8) + "else");
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
  Write("x/model.mlmodel", "unread");
  const Json json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_NE(json.Find("headline")->AsString().find("model.mlmodel was not compared"),
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

// With its blanks such a comparison would be more than `report` takes.
TEST_F(CompareVerb, WritesALargeComparisonWithoutBlanks) {
  constexpr int kTensors = 35'000;
  for (const char* side : {"a", "b"}) {
    std::vector<TestTensor> tensors;
    for (int i = 0; i < kTensors; ++i) {
      tensors.push_back({fmt::format("layers.{}.weight", i), "F32", "[1]",
                         BytesOf<float>({*side == 'a' ? 1.0F : 1.5F})});
    }
    Write(side + std::string(".safetensors"), FileOf(tensors));
  }
  const ProcessResult compared = Compare({"--quiet", "a.safetensors", "b.safetensors",
                                          "--json-file", "large.json", "--html", "large.html"});
  ASSERT_EQ(compared.outcome.exit_code, 1) << compared.stderr_text;
  const std::string text = Read(At("large.json"));
  EXPECT_GT(text.size(), 16U << 20);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const ProcessResult again =
      RunProcess({{kRharness, "--quiet", "report", "large.json", "--html", "2.html"},
                  PickEnvironment({"PATH", "TMPDIR"}),
                  folder_.path()},
                 {});
  EXPECT_EQ(again.outcome.exit_code, 0) << again.stderr_text;
  EXPECT_EQ(Read(At("large.html")), Read(At("2.html")));
}

TEST_F(CompareVerb, NeverPassesSubfoldersWhoseFilesDiffer) {
  for (const char* side : {"x/", "y/"}) {
    WriteWeights(side + std::string("model.safetensors"), {1, 2, 3, 4});
    WriteWeights(side + std::string("2_Dense/model.safetensors"), {5, 6, 7, 8});
    Write(side + std::string("logs/train.log"), "the same");
  }
  EXPECT_EQ(Compare({At("x"), At("y")}).outcome.exit_code, 0);
  Write("y/logs/train.log", "another");
  const ProcessResult log = Compare({At("x"), At("y")});
  EXPECT_EQ(log.outcome.exit_code, 0) << log.stdout_text;
  EXPECT_NE(log.stdout_text.find("logs/train.log was not compared, and the bytes differ"),
            std::string::npos)
      << log.stdout_text;
  WriteWeights("y/2_Dense/model.safetensors", {5, 6, 7, 9});
  const Json json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_EQ(json.Find("verdict")->AsString(), "inconclusive");
  EXPECT_NE(json.Find("headline")
                ->AsString()
                .find("2_Dense/model.safetensors was not compared, and the bytes differ"),
            std::string::npos)
      << json.Find("headline")->AsString();
}

TEST_F(CompareVerb, SaysOfATensorThatOneSideStoresTwiceThatItIsLikelyTied) {
  const std::string embedding = BytesOf<float>({1, 2, 3, 4}), zeros = BytesOf<float>({0, 0, 0, 0});
  const TestTensor embed = {"embed.weight", "F32", "[2,2]", embedding};
  const TestTensor norm = {"norm.weight", "F32", "[2,2]", zeros};
  const auto head = [&](const std::string& bytes) {
    return TestTensor{"lm_head.weight", "F32", "[2,2]", bytes};
  };
  const std::string once = Write("once.safetensors", FileOf({embed, norm}));
  const std::string twice = Write("twice.safetensors", FileOf({embed, head(embedding), norm}));
  const ProcessResult tied = Compare({once, twice});
  EXPECT_EQ(tied.outcome.exit_code, 1) << tied.stdout_text;
  EXPECT_NE(tied.stdout_text.find("lm_head.weight is bit-equal to embed.weight of its own side"),
            std::string::npos)
      << tied.stdout_text;
  const Json json = CompareJson({twice, once}, 1);
  ASSERT_EQ(json.Find("causes")->AsArray().size(), 1U);
  const Json& cause = json.Find("causes")->AsArray().front();
  EXPECT_EQ(cause.Find("code")->AsString(), "tied_weights");
  EXPECT_EQ(cause.Find("evidence")->AsArray().front().AsString(),
            "lm_head.weight, which only A stores, is bit-equal to embed.weight of A, which both "
            "have and is equal");
  // Neither other bits, nor zeros beside zeros, nor a twin that is not equal on both sides.
  const TestTensor moved = {"embed.weight", "F32", "[2,2]", BytesOf<float>({1, 2, 3, 5})};
  for (const std::string& other :
       {FileOf({embed, head(BytesOf<float>({1, 2, 3, 5})), norm}),
        FileOf({embed, head(zeros), norm}), FileOf({moved, head(moved.bytes), norm})}) {
    const Json none = CompareJson({once, Write("other.safetensors", other)}, 1);
    EXPECT_EQ(none.Dump().find("tied"), std::string::npos) << none.Find("headline")->AsString();
  }
}

// A parameter of which somebody hung another tensor, and a state_dict with a tensor as attribute.
TEST_F(CompareVerb, ComparesTensorsThatAreAttributesOfOthers) {
  const auto file = [](float attribute, bool of_dict) {
    const std::string tensor = PTensor(PStorage("FloatStorage", "0", 2), 0, {2}, {1});
    const std::string hung = PTensor(PStorage("FloatStorage", "1", 1), 0, {1}, {1});
    const std::string state = "}(" + PStr("scale") + hung + "u";
    const std::string parameter =
        PCall("torch._utils", "_rebuild_parameter_with_state",
              {tensor, "\x88", PCall("collections", "OrderedDict", {}), of_dict ? "}" : state});
    std::string tree = PCall("collections", "OrderedDict", {}) + "(" + PStr("w") + parameter + "u";
    if (of_dict) tree += state + "b";
    return TorchFileOf(PickleOf(tree), {BytesOf<float>({1, 2}), BytesOf<float>({attribute})});
  };
  for (const bool of_dict : {false, true}) {
    const std::string a = Write("a.pt", file(1, of_dict)), b = Write("b.pt", file(2, of_dict));
    EXPECT_EQ(Compare({a, a}).outcome.exit_code, 0);
    const ProcessResult result = Compare({a, b});
    EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text;
    const char* name = of_dict ? "(state).scale" : "w.(attributes).scale";
    EXPECT_NE(result.stdout_text.find(name), std::string::npos) << result.stdout_text;
  }
}

TEST_F(CompareVerb, NeverPassesMetricsThatItLeavesOutWhereTheyDiffer) {
  const auto metrics = [&](const char* name, const std::string& value) {
    return Write(name, R"({"metrics": {"loss": 0.5, "accuracy": )" + value + "}}");
  };
  for (const char* other : {"\"0.8\"", "true", "[0.8]", "{\"top1\": 0.8}", "null"}) {
    const std::string a = metrics("a.json", "\"0.9\""), b = metrics("b.json", other);
    EXPECT_EQ(Compare({a, a}).outcome.exit_code, 0) << other;
    const ProcessResult result = Compare({a, b});
    EXPECT_EQ(result.outcome.exit_code, 3) << other << result.stdout_text;
    EXPECT_NE(result.stdout_text.find("metrics.accuracy cannot be read exactly and differs"),
              std::string::npos)
        << result.stdout_text;
  }
}

TEST_F(CompareVerb, NeverPassesTensorsInHooksAndInNames) {
  const auto file = [](float value, bool in_hooks) {
    const std::string storage = PStorage("FloatStorage", "0", 2);
    const std::string hung = PTensor(PStorage("FloatStorage", "1", 1), 0, {1}, {1});
    const std::string hooks = PCall("collections", "OrderedDict", {}) + "(" + PInt(1) + hung + "u";
    const std::string tensor = PCall("torch._utils", "_rebuild_tensor_v2",
                                     {storage, PInt(0), PInts({2}), PInts({1}), "\x89",
                                      in_hooks ? hooks : PCall("collections", "OrderedDict", {})});
    const std::string more = in_hooks ? "" : hung + PInt(7);
    return TorchFileOf(PickleOf("}(" + PStr("w") + tensor + more + "u"),
                       {BytesOf<float>({1, 2}), BytesOf<float>({value})});
  };
  for (const bool in_hooks : {true, false}) {
    const std::string a = Write("a.pt", file(1, in_hooks)), b = Write("b.pt", file(2, in_hooks));
    const ProcessResult result = Compare({a, b});
    EXPECT_EQ(result.outcome.exit_code, in_hooks ? 1 : 3) << result.stdout_text;
  }
}

TEST_F(CompareVerb, NeverPassesALinkOfOneSideThatLeadsNowhere) {
  for (const char* side : {"x/", "y/"}) {
    WriteLoss(side + std::string("loss.json"), 0.0);
    WriteLoss(side + std::string("deep/loss.json"), 0.0);
    std::filesystem::create_directory_symlink("deep", At(side + std::string("latest")));
  }
  EXPECT_EQ(Compare({At("x"), At("y")}).outcome.exit_code, 0);
  for (const char* target : {"nowhere", "/etc"}) {
    std::filesystem::remove(At("y/link"));
    std::filesystem::create_symlink(target, At("y/link"));
    const ProcessResult result = Compare({At("x"), At("y")});
    EXPECT_EQ(result.outcome.exit_code, 3) << target << result.stdout_text;
    EXPECT_NE(result.stdout_text.find("link"), std::string::npos) << result.stdout_text;
  }
}

}  // namespace
}  // namespace rharness
