// `rharness compare` on checkpoints with equal tensors: what else decides what is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "tests/cli/compare_verb.h"
#include "tests/compare/weights/pickle_bytes.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class CompareLoaded : public CompareVerb {
 protected:
  // Two folders of one model, as save_pretrained and a Trainer leave them.
  void WriteFolders() const {
    for (const std::string side : {"x/", "y/"}) {
      WriteWeights(side + "model.safetensors", {1, 2, 3, 4});
      Write(side + "config.json", R"({"rope_theta": 10000.0, "transformers_version": "4.40.0"})");
      Write(side + "tokenizer.json", R"({"vocab": {"cat": 0, "dog": 1}})");
      Write(side + "README.md", "the same");
      Write(side + "trainer_state.json", "{}");
      Write(side + "optimizer.pt",
            FileOf({{"state.0.exp_avg", "F32", "[1]", BytesOf<float>({1})}}));
    }
  }
  std::string Headline(int code) const {
    return CompareJson({At("x"), At("y")}, code).Find("headline")->AsString();
  }
};

TEST_F(CompareLoaded, PassesFoldersWhoseFilesSayTheSame) {
  WriteFolders();
  EXPECT_EQ(Compare({At("x"), At("y")}).outcome.exit_code, 0);
  Write("y/config.json", "{\n  \"transformers_version\": \"5.0\",\n  \"rope_theta\": 10000.0\n}");
  const ProcessResult result = Compare({At("x"), At("y")});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
}

TEST_F(CompareLoaded, NamesContextThatDiffersAndPasses) {
  WriteFolders();
  Write("y/README.md", "another");
  Write("y/trainer_state.json", R"({"best_metric": 1})");
  Write("y/optimizer.pt", FileOf({{"state.0.exp_avg", "F32", "[1]", BytesOf<float>({2})}}));
  const ProcessResult result = Compare({At("x"), At("y")});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("README.md was not compared, and the bytes differ"));
}

TEST_F(CompareLoaded, NeverPassesFoldersWithAnotherFileThatIsLoaded) {
  WriteFolders();
  Write("y/config.json", R"({"rope_theta": 500000.0, "transformers_version": "4.40.0"})");
  EXPECT_THAT(Headline(3), HasSubstr("config.json: they differ in rope_theta (10000.0 in A, "
                                     "500000.0 in B)"));
  EXPECT_THAT(Compare({At("x"), At("y")}).stdout_text,
              HasSubstr("Give both sides the same files beside the tensors"));
  WriteFolders();
  for (const char* name : {"tokenizer.json", "vocab.txt", "merges.txt", "generation_config.json",
                           "chat_template.jinja", "adapter_config.json", "modeling_x.py"}) {
    Write(std::string("x/") + name, "one");
    Write(std::string("y/") + name, "two");
    for (const char* expect : {"bitwise", "statistical"}) {
      const Json json = CompareJson({At("x"), At("y"), "--expect", expect}, 3);
      EXPECT_EQ(json.Find("verdict")->AsString(), "inconclusive");
      EXPECT_THAT(json.Find("headline")->AsString(),
                  HasSubstr(std::string(name) + ": the bytes differ; it is loaded"));
    }
    std::filesystem::remove(At(std::string("y/") + name));
    EXPECT_THAT(Headline(3), HasSubstr("this is so in A alone"));
    std::filesystem::remove(At(std::string("x/") + name));
    if (name == std::string("tokenizer.json")) WriteFolders();
  }
}

// The user named a file, so that its folder is none of the comparison.
TEST_F(CompareLoaded, PassesAFolderAndAFileOfItsTensors) {
  WriteFolders();
  const ProcessResult result = Compare({At("x"), At("y/model.safetensors")});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
}

TEST_F(CompareLoaded, NeverPassesAnotherConfigAmongFilesOfSeveralCheckpoints) {
  for (const std::string side : {"x/", "y/"}) {
    WriteWeights(side + "epoch1.pt", {1, 2, 3, 4});
    WriteWeights(side + "epoch2.pt", {1, 2, 3, 5});
    Write(side + "config.json", side == "x/" ? R"({"layers": 2})" : R"({"layers": 3})");
  }
  const Json json = CompareJson({At("x"), At("y")}, 3);
  EXPECT_EQ(json.Find("counts")->Find("inconclusive")->ToInt64(), 1);
  EXPECT_EQ(json.Find("counts")->Find("identical")->ToInt64(), 2);
}

TEST_F(CompareLoaded, SaysThatAFolderHoldsTwoSetsOfWeights) {
  for (const std::string side : {"x/", "y/"})
    WriteWeights(side + "model.safetensors", {1, 2, 3, 4});
  WriteWeights("y/1.safetensors", {5, 6, 7, 8});
  Write("y/model.safetensors.index.json",
        R"({"weight_map": {"fc1.weight": "1.safetensors", "fc2.weight": "1.safetensors"}})");
  EXPECT_THAT(Headline(3), HasSubstr("two sets of weights lie in one folder, 'model.safetensors', "
                                     "which loaders take, and 'model.safetensors.index.json'"));
  WriteWeights("x/1.safetensors", {5, 6, 7, 8});
  std::filesystem::copy_file(At("y/model.safetensors.index.json"),
                             At("x/model.safetensors.index.json"));
  const ProcessResult both = Compare({At("x"), At("y")});
  EXPECT_EQ(both.outcome.exit_code, 0) << both.stdout_text;
  EXPECT_THAT(both.stdout_text, HasSubstr("two sets of weights lie in one folder"));
}

TEST_F(CompareLoaded, NeverPassesWeightsThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string a = WriteWeights("a.safetensors", {nan, 1, nan, 1});
  const std::string b = WriteWeights("b.safetensors", {nan, 1, nan, 1});
  for (const char* expect : {"bitwise", "statistical"}) {
    const Json json = CompareJson({a, b, "--expect", expect}, 3);
    EXPECT_EQ(json.Find("verdict")->AsString(), "inconclusive");
    EXPECT_THAT(json.Find("headline")->AsString(),
                HasSubstr("1 of 2 tensors holds values that are not finite, first fc1.weight (2 of "
                          "4)"));
  }
  const float inf = std::numeric_limits<float>::infinity();
  const auto masked = [&](const char* name) {
    return Write(name, FileOf({{"attn.bias", "F32", "[2]", BytesOf<float>({0, -inf})},
                               {"w", "F32", "[1]", BytesOf<float>({1})}}));
  };
  EXPECT_EQ(Compare({masked("c.safetensors"), masked("d.safetensors")}).outcome.exit_code, 0);
}

// A module with a weight, a buffer that is not saved, and a number that its code reads.
std::string ModuleFile(float weight, float unsaved, std::int64_t attribute) {
  const auto tensor = [](const char* key) {
    return PTensor(PStorage("FloatStorage", key, 1), 0, {1}, {1});
  };
  const std::string state =
      PDict({{"_parameters", PDict({{"w", tensor("0")}})},
             {"_buffers", PDict({{"table", tensor("1")}})},
             {"_non_persistent_buffers_set", PCall("__builtin__", "set", {PList({PStr("table")})})},
             {"_modules", PDict({})},
             {"eps", PInt(attribute)}});
  return TorchFileOf(PickleOf(PGlobal("net", "Net") + ")\x81" + state + "b"),
                     {BytesOf<float>({weight}), BytesOf<float>({unsaved})});
}

TEST_F(CompareLoaded, MatchesAPickledModuleWithItsStateDict) {
  const std::string module = Write("module.pt", ModuleFile(1, 2, 3));
  const std::string tensor = PTensor(PStorage("FloatStorage", "0", 1), 0, {1}, {1});
  const auto state = [&](float weight) {
    return TorchFileOf(PickleOf(PDict({{"w", tensor}})), {BytesOf<float>({weight})});
  };
  const ProcessResult same = Compare({module, Write("state.pt", state(1))});
  EXPECT_EQ(same.outcome.exit_code, 0) << same.stdout_text;
  EXPECT_EQ(Compare({module, Write("state.pt", state(2))}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({module, Write("b.pt", ModuleFile(1, 2, 3))}).outcome.exit_code, 0);
  EXPECT_EQ(Compare({module, Write("b.pt", ModuleFile(1, 9, 3))}).outcome.exit_code, 1);
  const Json attributes = CompareJson({module, Write("b.pt", ModuleFile(1, 2, 4))}, 3);
  EXPECT_THAT(attributes.Find("headline")->AsString(), HasSubstr("attributes of modules"));
}

}  // namespace
}  // namespace rharness
