// Every importer against what strangers put where it looks: pipes, devices, links that lead in a
// circle, folders for files, and files of nothing, of noise, of depth and of numbers that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::AnyOf;
using testing::SizeIs;

// A kind, and the file that it looks for below its source.
struct Looked {
  std::string kind;
  std::string file;
};

const std::vector<Looked>& Kinds() {
  static const std::vector<Looked> kinds = {{"record", ""},
                                            {"mlflow", "0/meta.yaml"},
                                            {"wandb", "run-20260101_000000-abc/run-abc.wandb"},
                                            {"dvc", "dvc.lock"},
                                            {"clearml", "offline-x.zip"},
                                            {"trainer", "trainer_state.json"},
                                            {"tensorboard", "events.out.tfevents.1.h"},
                                            {"mlperf", "result_0.txt"},
                                            {"megatron", "golden_values.json"},
                                            {"ro-crate", "ro-crate-metadata.json"}};
  return kinds;
}

class HostileSources : public SourceTree {
 protected:
  // `put` puts something under a name; each kind then looks there.
  template <class F>
  void ExpectToldByEveryKind(const std::string& what, F put) {
    for (const Looked& one : Kinds()) {
      SCOPED_TRACE(one.kind + ": " + what);
      std::filesystem::remove_all(root());
      std::filesystem::create_directories((root() / one.file).parent_path());
      put(one.file.empty() ? std::string("file") : one.file);
      const auto begun = std::chrono::steady_clock::now();
      const ImportOutcome outcome = Import(one.kind, one.file.empty() ? "file" : "");
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
      ExpectTold(outcome);
      ++cases_;
    }
  }
  // Nothing is taken in silence, and none of it is an error of ours.
  static void ExpectTold(const ImportOutcome& outcome) {
    if (!outcome.status.ok()) {
      EXPECT_THAT(outcome.status.error().code,
                  AnyOf(ErrorCode::kInvalidInput, ErrorCode::kNotFound, ErrorCode::kIo,
                        ErrorCode::kIntegrity, ErrorCode::kUnsupported))
          << outcome.status.error().ToString();
      EXPECT_FALSE(outcome.status.error().message.empty());
      return;
    }
    EXPECT_FALSE(outcome.runs.empty() && outcome.refused.empty());
    for (const Manifest& run : outcome.runs) {
      EXPECT_FALSE(run.origin->remarks.empty()) << run.run_id;
      EXPECT_TRUE(run.metrics.empty() && run.curves.empty() && run.artifacts.empty());
    }
  }
  void ExpectContentTold(const std::string& what, const std::string& content) {
    ExpectToldByEveryKind(what, [&](const std::string& name) { Put(name, content); });
  }
  std::size_t cases_ = 0;
};

TEST_F(HostileSources, InPlaceOfAFileAreOpenedByNobody) {
  ExpectToldByEveryKind("a pipe", [&](const std::string& name) { PutPipe(name); });
  ExpectToldByEveryKind("a link to itself", [&](const std::string& name) {
    PutLink(name, std::filesystem::path(name).filename());
  });
  ExpectToldByEveryKind("a device", [&](const std::string& name) { PutLink(name, "/dev/zero"); });
  ExpectToldByEveryKind("a folder", [&](const std::string& name) {
    std::filesystem::create_directories(root() / name);
  });
  ExpectToldByEveryKind("folders in a circle", [&](const std::string& name) {
    Put(name, "");
    PutLink("up", "..");
    PutLink("again", ".");
  });
  EXPECT_EQ(cases_, 5 * Kinds().size());
}

TEST_F(HostileSources, AsContentAreTold) {
  std::string noise(200'000, '\0');
  unsigned state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1103515245u + 12345u) >> 16);
  ExpectContentTold("nothing", "");
  ExpectContentTold("noise", noise);
  ExpectContentTold("zeros", std::string(100'000, '\0'));
  ExpectContentTold("depth", std::string(300'000, '[') + std::string(300'000, ']'));
  ExpectContentTold("a long text", "{\"a\": \"" + std::string(3'000'000, 'x') + "\"}");
  ExpectContentTold("no number", R"({"run_id": NaN, "log_history": NaN, "@graph": NaN})");
  ExpectContentTold("a number too large", R"({"run_id": 1e999, "log_history": [{"loss": 1e999}]})");
  ExpectContentTold("other types", R"({"run_id": [], "log_history": {"a": 1}, "stages": [{}]})");
  ExpectContentTold("members twice", R"({"run_id": "a", "run_id": "b", "log_history": []})");
  EXPECT_EQ(cases_, 9 * Kinds().size());
}

TEST_F(HostileSources, StandBesideOthersThatAreTaken) {
  Put("file", R"({"run_id": "a", "seeds": {"x": 1}})"
              "\n{\n"
              R"({"run_id": "../../b", "seeds": {"x": 1}})");
  const ImportOutcome outcome = Import("record", "file");
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_THAT(outcome.refused, SizeIs(1));
  ASSERT_THAT(outcome.runs, SizeIs(2));
  EXPECT_EQ(outcome.runs[0].run_id, "record-a");
  EXPECT_EQ(outcome.runs[1].run_id.find('/'), std::string::npos);
}

}  // namespace
}  // namespace rharness
