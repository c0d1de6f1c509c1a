// Outputs that `rharness record` finds: which of many, and what is loaded with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST_F(RecordFinds, AFileThatIsLoadedWithTheCheckpointAndNeverPassesAnother) {
  Write("train.py", std::string(kFoundProgram) + R"py(
first = not os.path.exists(")py" +
                        At("ran").string() + R"py(")
open(")py" + At("ran").string() +
                        R"py(", "w")
import time
config = {"act": "relu" if first else "tanh", "transformers_version": "4", "saved_at": time.time(), "api_token": "x"}
json.dump(config, open("out/config.json", "w"))
json.dump({"n": 1}, open("out/generation_config.json", "w"))
)py");
  const ProcessResult result = Record({});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("with config.json, generation_config.json)"));
  const Manifest manifest = Recorded();
  ASSERT_EQ(manifest.artifacts.size(), 1u);
  EXPECT_EQ(LoadedPartsOf(manifest.artifacts[0]),
            (std::vector<std::string>{"config.json", "generation_config.json"}));
  ASSERT_EQ(manifest.artifacts[0].beside.size(), 2u);
  EXPECT_EQ(manifest.artifacts[0].beside[0].text, "") << "it may hold a secret";
  EXPECT_EQ(manifest.artifacts[0].beside[1].text, R"({"n":1})");
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_EQ(drill.outcome.exit_code, 3) << drill.stdout_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("config.json: it differs, by its digests"));
}

// As a run that saved no settings of its tokenizer when it was recorded.
TEST_F(RecordFinds, AFileThatOnlyTheRerunWritesBesideTheCheckpointIsNoPass) {
  Write("out/vocab.txt", "an input beside the checkpoint");
  Write("train.py", std::string(kFoundProgram) + R"py(
open("out/vocab.txt").read()
json.dump({"act": "relu"}, open("out/config.json", "w"))
if os.environ.get("MORE"): json.dump({"lower": True}, open("out/tokenizer_config.json", "w"))
)py");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  const auto drill = [&](const std::string& name, const std::string& more) {
    return Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--out", name, "--env", more});
  };
  const ProcessResult same = drill("same", "LESS=1");
  EXPECT_EQ(same.outcome.exit_code, 0) << same.stdout_text << same.stderr_text;
  const ProcessResult other = drill("other", "MORE=1");
  EXPECT_EQ(other.outcome.exit_code, 3) << other.stdout_text;
  EXPECT_THAT(other.stdout_text, HasSubstr("tokenizer_config.json"));
}

// Another time of saving and another version say nothing of the model.
TEST_F(RecordFinds, AnEqualConfigurationThatWasSavedAtAnotherTime) {
  Write("train.py", std::string(kFoundProgram) + R"py(
import time
json.dump({"act": "relu", "saved_at": time.time()}, open("out/config.json", "w"))
)py");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  EXPECT_EQ(Recorded().artifacts.at(0).beside.at(0).text, R"({"act":"relu"})");
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
}

// With the bytes of both sides at hand the members are named.
TEST_F(RecordFinds, WhichMembersOfAKeptConfigurationDiffer) {
  Write("train.py", std::string(kFoundProgram) + R"py(
first = not os.path.exists(")py" +
                        At("ran").string() + R"py(")
open(")py" + At("ran").string() +
                        R"py(", "w")
json.dump({"a": {"act": "relu" if first else "tanh"}}, open("out/config.json", "w"))
)py");
  ASSERT_EQ(Record({"--find", "--keep", "kept"}).outcome.exit_code, 0);
  EXPECT_TRUE(fs::exists(At("project/kept/project-1/out/config.json")));
  const ProcessResult drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs"});
  EXPECT_EQ(drill.outcome.exit_code, 3) << drill.stdout_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr(R"(they differ in a.act ("relu" in A, "tanh" in B))"));
}

TEST_F(RecordFinds, TheBestCheckpointBeforeNewerOnes) {
  Write("train.py", std::string(kFoundProgram) + R"py(
import shutil
os.rename("out/model.npy", "out/best.npy")
for i in range(9):
    shutil.copy("out/best.npy", "out/epoch%d.npy" % i)
    os.utime("out/epoch%d.npy" % i, (2e9 + i, 2e9 + i))
)py");
  const ProcessResult result = Record({});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Manifest manifest = Recorded();
  ASSERT_EQ(manifest.artifacts.size(), 8u);
  EXPECT_EQ(manifest.artifacts[0].path, "out/best.npy");
  EXPECT_EQ(manifest.artifacts[1].path, "out/epoch8.npy");
  EXPECT_EQ(GuessOf(manifest, "artifacts[0]"),
            "the run wrote it, under a name of the best or the last one; not taken, and not "
            "compared: out/epoch1.npy, out/epoch0.npy");
  EXPECT_EQ(GuessOf(manifest, "artifacts[1]"), "the run wrote it, as one of the newest");
}

TEST_F(RecordFinds, APipelineOfDiffusersAsOneFolder) {
  Write("train.py", std::string(kFoundProgram) + R"py(
import shutil
for part in ("unet", "vae"):
    os.makedirs("out/" + part)
    shutil.copy("out/model.npy", "out/%s/weights.npy" % part)
    json.dump({"part": part}, open("out/%s/config.json" % part, "w"))
os.remove("out/model.npy")
json.dump({"unet": ["diffusers", "U"]}, open("out/model_index.json", "w"))
)py");
  ASSERT_EQ(Record({}).outcome.exit_code, 0);
  std::vector<std::string> found;
  for (const Artifact& artifact : Recorded().artifacts) {
    found.push_back(artifact.role + " " + artifact.path);
    if (artifact.role == "weights") {
      EXPECT_EQ(LoadedPartsOf(artifact), std::vector<std::string>{"config.json"});
    }
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre("weights out/unet/weights.npy",
                                                   "weights out/vae/weights.npy",
                                                   "other out/model_index.json"));
}

}  // namespace
}  // namespace rharness
