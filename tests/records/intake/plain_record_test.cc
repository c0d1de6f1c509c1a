// Reproducibility records in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/records/intake/intake_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;

const std::string kHash(64, 'a');

class PlainRecord : public testing::Test {
 protected:
  ImportOutcome Import(const std::string& text) {
    const std::string file = folder_.path() / "records.json";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    ImportRequest request;
    request.source = file;
    return ImportAll(request);
  }
  ScopedTempDir folder_ = *ScopedTempDir::Make();
};

TEST_F(PlainRecord, BecomesAManifest) {
  const ImportOutcome outcome =
      Import(R"({"run_id": "r1", "code": {"git_sha": ")" + std::string(40, 'b') +
             R"(", "repo": "https://git.example/x.git"}, "container": "reg.example/t:1@sha256:)" +
             kHash + R"(", "data": {"train": "data/train.csv content=sha256:)" + kHash +
             R"(", "eval": {"path": "data/eval.csv", "content": "md5:1"}}, "seeds": {"init": 3},
      "hyperparams": {"lr": 0.1}, "metrics": {"acc": 0.5}, "command": ["python3", "train.py"],
      "output_model": {"path": "model.pt", "sha256": ")" +
             kHash + R"("}, "colour": "red"})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "record-r1");
  EXPECT_EQ(run.code.commit, std::string(40, 'b'));
  EXPECT_EQ(run.image.digest, "sha256:" + kHash);
  ASSERT_EQ(run.data.size(), 2u);
  EXPECT_EQ(run.data[0].path, "data/train.csv");
  EXPECT_EQ(run.data[0].sha256, kHash);
  EXPECT_EQ(run.data[1].other_digest, "md5:1");
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("exact"));
  EXPECT_THAT(WorthOf(run, "data[1]"), HasSubstr("hint"));
  EXPECT_EQ(run.seeds.at("init"), 3);
  EXPECT_EQ(run.artifacts.at(0).sha256, kHash);
  EXPECT_TRUE(HasRemark(run, "the member 'colour' is not read"));
}

TEST_F(PlainRecord, HasGpusByTheirNumberAndAnEndByItsDuration) {
  const ImportOutcome outcome =
      Import(R"({"run_id": "r1", "hardware": {"gpu": "H100", "gpus": 8}, "code": {},
                 "started": "2026-05-01T08:00:00Z", "duration_seconds": 90.5})");
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  ASSERT_EQ(run.environment.hardware.gpus.size(), 8u);
  EXPECT_EQ(run.environment.hardware.gpus[7].model, "H100");
  EXPECT_EQ(run.resources.gpus, 8);
  EXPECT_EQ(FormatTime(run.ended), "2026-05-01T08:01:30.500Z");
  EXPECT_EQ(run.duration_seconds, 90.5);
  EXPECT_TRUE(run.origin->remarks.empty());
}

// Nothing is lost in silence, and no content of what is not read is told: it may be a secret.
TEST_F(PlainRecord, NamesWhatIsInsideOfItsMembersAndNotRead) {
  const ImportOutcome outcome = Import(R"({"run_id": "r1", "started": "yesterday",
      "code": {"branch": "main"}, "data": {"train": {"path": "a", "etag": "1"}}, "container": {"id": 1},
      "hardware": {"ram": 1, "gpus": "many"}, "env": "TOKEN=hush", "seeds": 42, "hyperparams": [1],
      "metrics": {"acc": "high"}, "output_model": {"path": "m.pt", "md5": "1"}})");
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  for (const char* told :
       {"the member 'code.branch' is not read", "the member 'data.train.etag' is not read",
        "the member 'hardware.ram' is not read", "the member 'output_model.md5' is not read",
        "started: 'yesterday' is no time", "container: an object is not read; expected an image",
        "hardware.gpus: a text is not read", "env: a text is not read; expected an object",
        "seeds: a number or truth value is not read; expected an object",
        "hyperparams: a list is not read", "metrics.acc: a text is not read; expected a number"}) {
    EXPECT_TRUE(HasRemark(run, told)) << told;
  }
  EXPECT_FALSE(HasRemark(run, "hush"));
  EXPECT_TRUE(run.seeds.empty() && run.environment.hardware.gpus.empty());
}

TEST_F(PlainRecord, IsNamedWhereItHasNoIdAndTheOthersAreKept) {
  const ImportOutcome outcome =
      Import(R"([{"run_id": "a", "seeds": {}}, {"seeds": {}}, {"run_id": "b", "seeds": {}}])");
  EXPECT_EQ(outcome.runs.size(), 2u);
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_THAT(outcome.refused[0].first, HasSubstr("$[1]"));
}

TEST_F(PlainRecord, IsNotWhatIsAManifestOrAnythingElse) {
  EXPECT_FALSE(
      Import(R"({"schema": "rharness.manifest/v1", "run_id": "a", "data": []})").status.ok());
  EXPECT_FALSE(Import(R"({"loss": [1, 2]})").status.ok());
  EXPECT_FALSE(Import("{").status.ok());
}

TEST_F(PlainRecord, StandsOnALineOfItsOwnOrOnSeveral) {
  const ImportOutcome outcome = Import(
      "\xEF\xBB\xBF{\"run_id\": \"a\", \"seeds\": {}}\r\n\n"
      "{\n  \"run_id\": \"b\",\n  \"command\": [\"}\", \"\\\"\"],\n  \"seeds\": {}\n}\n"
      "{\"run_id\": \"c\", \"seeds\": {}} {\"run_id\": \"d\", \"seeds\": {}}");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  EXPECT_TRUE(outcome.refused.empty());
  ASSERT_EQ(outcome.runs.size(), 4u);
  EXPECT_EQ(outcome.runs[1].run_id, "record-b");
  EXPECT_EQ(outcome.runs[1].command, (std::vector<std::string>{"}", "\""}));
  EXPECT_EQ(outcome.runs[3].run_id, "record-d");
}

// A line that is wrong is named; the others are kept, also behind one whose brackets never close.
TEST_F(PlainRecord, IsLeftOutWithItsLineWhereItIsMalformed) {
  const std::string good = "{\"run_id\": \"a\", \"seeds\": {}}\n";
  for (const std::string wrong :
       {"{\"run_id\": \"x\", \"seeds\": [", "{\"run_id\": \"x", "nonsense", "{\"run_id\": 1e}"}) {
    const ImportOutcome outcome = Import(good + wrong + "\n" + good + good);
    EXPECT_EQ(outcome.runs.size(), 3u) << wrong;
    ASSERT_EQ(outcome.refused.size(), 1u) << wrong;
    EXPECT_THAT(outcome.refused[0].first, HasSubstr("records.json: line 2")) << wrong;
  }
}

TEST_F(PlainRecord, IsLeftOutWithItsPlaceInAnArray) {
  const std::string good = "{\"run_id\": \"a\", \"seeds\": {\"init\": 1}}";
  const ImportOutcome outcome =
      Import("[" + good + ", {\"run_id\": 1 2}, " + good + ",\n" + good + "]");
  EXPECT_EQ(outcome.runs.size(), 3u);
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_THAT(outcome.refused[0].first, HasSubstr("$[1]"));
  for (const std::string& cut : {"[" + good, "[" + good + ",", "[" + good + "] x"}) {
    const ImportOutcome kept = Import(cut);
    EXPECT_EQ(kept.runs.size(), 1u) << cut;
    EXPECT_EQ(kept.refused.size(), 1u) << cut;
  }
}

// More than a buffer, and values across its ends.
TEST_F(PlainRecord, ComesInAnyNumber) {
  std::string lines;
  std::string array = "[";
  constexpr std::size_t kCount = 3000;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string record = "{\"run_id\": \"r" + std::to_string(i) +
                               "\", \"seeds\": {}, \"note\": \"" + std::string(i % 1500, '{') +
                               "\"}";
    lines += record + "\n";
    array += (i > 0 ? ",\n" : "") + record;
  }
  for (const std::string& text : {lines, array + "]"}) {
    ASSERT_GT(text.size(), std::size_t{2} << 20U);
    const ImportOutcome outcome = Import(text);
    ASSERT_EQ(outcome.runs.size(), kCount);
    EXPECT_EQ(outcome.runs.back().run_id, "record-r2999");
    EXPECT_TRUE(outcome.refused.empty());
  }
}

}  // namespace
}  // namespace rharness
