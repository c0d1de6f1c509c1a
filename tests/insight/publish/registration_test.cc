// May a model be registered: every finding from its own cause, and none without one.
#include "harness/insight/publish/registration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/manifest/admission.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const WallTime kToday(std::chrono::days(20'000));

VerdictRecord VerdictOf(const std::string& verdict, int days_ago) {
  VerdictRecord record;
  record.drill_id = "drill";
  record.verdict = ParseVerdict(verdict).value();
  record.decided = kToday - std::chrono::days(days_ago);
  return record;
}

class Registration : public testing::Test {
 protected:
  Registration() {
    Manifest manifest = ExampleManifest();
    for (Artifact& one : manifest.artifacts) {
      if (one.role != "weights") continue;
      one.path = "out/model.safetensors";
      one.size_bytes = 3;
      one.sha256 = std::string(64, 'a');
    }
    manifest.origin = Origin{.kind = "mlflow", .id = "abc"};
    known_.manifest = manifest;
    known_.verdicts = {VerdictOf("identical", 2)};
    entry_.name = "model digits version 1";
    entry_.run_id = "abc";
    entry_.files = {{"MLmodel", 10, ""}, {"data/model.safetensors", 3, std::string(64, 'a')}};
  }
  std::vector<std::string> Codes(std::optional<double> max_age = std::nullopt) const {
    std::vector<std::string> codes;
    for (const auto& one : DecideRegistration(entry_, known_, max_age, kToday)) {
      codes.push_back(one.code);
    }
    return codes;
  }
  std::string Message() const {
    const auto findings = DecideRegistration(entry_, known_, std::nullopt, kToday);
    return findings.empty() ? "" : findings[0].message;
  }

  Artifact& Weights() {
    return *std::ranges::find(known_.manifest->artifacts, "weights", &Artifact::role);
  }

  RegistryEntry entry_;
  RunKnown known_;
};

TEST_F(Registration, AdmitsWhatReproducedAndHasTheRecordedWeights) {
  EXPECT_THAT(Codes(), IsEmpty());
  EXPECT_THAT(Codes(2.0), IsEmpty());
  known_.verdicts = {VerdictOf("drifted", 5), VerdictOf("equivalent", 1)};
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(Registration, AsksForARunAManifestAndADrill) {
  known_.verdicts.clear();
  EXPECT_THAT(Codes(), ElementsAre("never_drilled"));
  known_.manifest.reset();
  EXPECT_THAT(Codes(), ElementsAre("no_manifest"));
  entry_.run_id.clear();
  EXPECT_THAT(Codes(), ElementsAre("no_run"));
}

TEST_F(Registration, GoesByTheLastVerdictThatSaysAnythingOfTheRun) {
  known_.verdicts = {VerdictOf("identical", 9), VerdictOf("infra", 1)};
  EXPECT_THAT(Codes(), IsEmpty());
  known_.verdicts = {VerdictOf("infra", 1)};
  EXPECT_THAT(Codes(), ElementsAre("never_drilled"));
  known_.verdicts = {VerdictOf("identical", 9), VerdictOf("drifted", 1)};
  EXPECT_THAT(Codes(), ElementsAre("drifted"));
  for (const char* verdict : {"inconclusive", "not_comparable", "failed"}) {
    known_.verdicts = {VerdictOf("identical", 9), VerdictOf(verdict, 1)};
    EXPECT_THAT(Codes(), ElementsAre("not_reproduced")) << verdict;
  }
}

TEST_F(Registration, RefusesAVerdictThatIsOlderThanAllowed) {
  EXPECT_THAT(Codes(1.9), ElementsAre("too_old"));
  EXPECT_THAT(Codes(0.0), ElementsAre("too_old"));
}

TEST_F(Registration, RefusesAVerdictThatHasNotComeYet) {
  known_.verdicts = {VerdictOf("identical", -3650)};
  EXPECT_THAT(Codes(1.0), ElementsAre("of_the_future"));
  EXPECT_THAT(Codes(), ElementsAre("of_the_future"));
}

TEST_F(Registration, RefusesAFileThatNoDrillTiedToTheTensorsThatItCompared) {
  known_.unproven = {"model.safetensors"};
  EXPECT_THAT(Codes(), ElementsAre("weights_unproven"));
  EXPECT_THAT(Message(), HasSubstr("model.safetensors"));
}

TEST_F(Registration, HoldsTheFilesToTheRecordedHashes) {
  entry_.files[1].sha256 = std::string(64, 'b');
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  EXPECT_THAT(Message(), HasSubstr("the registered data/model.safetensors has bbbb"));
  entry_.files.pop_back();
  EXPECT_THAT(Message(), HasSubstr("none of the 1 registered file has it"));
  entry_.unread = "they lie elsewhere";
  EXPECT_THAT(Codes(), ElementsAre("weights_unread"));
  known_.manifest->artifacts.clear();
  EXPECT_THAT(Codes(), Contains("no_weights"));
}

TEST_F(Registration, TakesNoOtherFileForTheRecordedOneWhateverItHolds) {
  const std::string whole(64, 'a'), other(64, 'b');
  entry_.files = {{"data/model.safetensors", 3, other}, {"old/anything.bin", 3, whole}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ", "weights_unrecorded"));
  EXPECT_THAT(Message(), HasSubstr("the registered data/model.safetensors has bbbb"));
  entry_.files = {{"old/anything.bin", 3, whole}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ", "weights_unrecorded"));
  EXPECT_THAT(Message(), HasSubstr("old/anything.bin alone has it, which is another file"));
  // Which of two files of that name is loaded nobody knows.
  entry_.files = {{"a/b/model.safetensors", 3, other}, {"old/model.safetensors", 3, whole}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  entry_.files = {{"out/model.safetensors", 3, whole}, {"data/model.safetensors", 3, other}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  entry_.files.pop_back();
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(Registration, HoldsEachOfTwoFilesOfANameToItsOwnPath) {
  Artifact second = Weights();
  second.path = "late/model.safetensors";
  second.sha256 = std::string(64, 'c');
  known_.manifest->artifacts.push_back(second);
  entry_.files = {{"x/out/model.safetensors", 3, std::string(64, 'a')},
                  {"x/late/model.safetensors", 3, std::string(64, 'c')}};
  EXPECT_THAT(Codes(), IsEmpty());
  std::swap(entry_.files[0].sha256, entry_.files[1].sha256);
  EXPECT_THAT(Codes(), ElementsAre("weights_differ", "weights_differ"));
}

TEST_F(Registration, HoldsEveryShardToItsHash) {
  Weights().parts = {{"shard-2.safetensors", 3, std::string(64, 'c')}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  entry_.files.push_back({"data/shard-2.safetensors", 3, std::string(64, 'c')});
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(Registration, TellsOfDeletedRetiredDoubleAndIncompleteRecords) {
  entry_.deleted = true;
  EXPECT_THAT(Codes(), ElementsAre("run_deleted"));
  entry_.deleted = false;
  known_.retired = "wrong labels";
  EXPECT_THAT(Codes(), ElementsAre("retired"));
  known_.retirement_doubt = "signed was 'old'";
  EXPECT_THAT(Codes(), ElementsAre("retirement_doubtful"));
  EXPECT_EQ(Message(), "the run is retired, and not as it was signed: signed was 'old'");
  known_.retirement_doubt.clear();
  known_.retired.reset();
  known_.manifest_differs = true;
  EXPECT_THAT(Codes(), ElementsAre("manifest_differs"));
  known_.manifest_differs = false;
  known_.manifest->command.clear();
  EXPECT_THAT(Codes(), Contains("incomplete"));
}

TEST_F(Registration, LetsNoNameOfAStrangerForgeALine) {
  entry_.files[1].sha256 = std::string(64, 'b');
  entry_.files[1].path = "x\nmodel: admitted\x1b[2K/model.safetensors";
  EXPECT_THAT(Message(), Not(HasSubstr("\n")));
  EXPECT_THAT(Message(), Not(HasSubstr("\x1b")));
}

// The run's model was logged as "clf", outside of its artifacts, and imported.
class LoggedModel : public Registration {
 protected:
  LoggedModel() {
    Artifact model;
    model.role = "other";
    model.path = "clf/model.skops";
    model.sha256 = std::string(64, 'b');
    known_.manifest->artifacts.push_back(model);
    entry_.is_model = true;
    entry_.files = {{"MLmodel", 10, ""}, {"model.skops", 3, std::string(64, 'b'), true}};
  }
  void WithoutWeights() {
    std::erase_if(known_.manifest->artifacts,
                  [](const Artifact& one) { return one.role == "weights"; });
    known_.manifest->determinism.declared = "statistical";  // by its metrics
  }
};

TEST_F(LoggedModel, IsHeldToTheFilesThatWereImported) {
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files[1].sha256 = std::string(64, 'c');
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  EXPECT_THAT(Message(), HasSubstr("recorded clf/model.skops with sha256 bbb"));
  entry_.files[1].sha256.clear();
  EXPECT_THAT(Codes(), ElementsAre("weights_differ")) << "of another size, and not read";
}

TEST_F(LoggedModel, NeedsNoOtherWeightsAndNoneOfItsFilesMayBeUnknown) {
  WithoutWeights();
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files.push_back({"extra.pkl", 5, "", true});
  EXPECT_THAT(Codes(), ElementsAre("no_weights"));
  entry_.files = {{"MLmodel", 10, ""}};
  EXPECT_THAT(Codes(), ElementsAre("no_weights"));
}

TEST_F(LoggedModel, ThatATrackerKeepsWasComparedByNoDrill) {
  known_.manifest->artifacts.back().role = std::string(kModelOfTracker);
  EXPECT_THAT(Codes(), ElementsAre("model_uncompared"));
  EXPECT_THAT(Message(), HasSubstr("no drill compared model.skops"));
  WithoutWeights();
  EXPECT_THAT(Codes(), ElementsAre("model_uncompared"));
  // A file that the rerun writes, with the same bytes.
  Artifact written = known_.manifest->artifacts.back();
  written.role = "other";
  written.path = "out/model.skops";
  known_.manifest->artifacts.push_back(written);
  EXPECT_THAT(Codes(), IsEmpty());
  known_.unproven = {"out/model.skops"};
  EXPECT_THAT(Codes(), ElementsAre("weights_unproven", "model_uncompared"));
}

TEST_F(Registration, RefusesWhatALoaderMayReadBesideTheRecordedWeights) {
  for (const char* path : {"adapter_model.safetensors", "model.safetensors.index.json",
                           "deep/evil.pkl", "pytorch_model.bin", "tf_model.h5"}) {
    entry_.files.push_back({path, 7, ""});
    EXPECT_THAT(Codes(), ElementsAre("weights_unrecorded")) << path;
    EXPECT_THAT(Message(), HasSubstr(path));
    entry_.files.pop_back();
  }
  // Code and settings count where the weights lie.
  for (const char* path : {"data/modeling_mine.py", "data/config.json", "data/EVIL.PKL"}) {
    entry_.files.push_back({path, 7, ""});
    EXPECT_THAT(Codes(), ElementsAre("weights_unrecorded")) << path;
    entry_.files.pop_back();
  }
  for (const char* path : {"confusion.png", "README.md", "src/train.py", "config.json"}) {
    entry_.files.push_back({path, 7, ""});
  }
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(Registration, HoldsWhatIsRecordedBesideTheWeightsToItsHashAndItsDrill) {
  Artifact beside;
  beside.role = "other";
  beside.path = "out/adapter_model.safetensors";
  beside.sha256 = std::string(64, 'e');
  known_.manifest->artifacts.push_back(beside);
  entry_.files.push_back({"data/adapter_model.safetensors", 3, std::string(64, 'e')});
  EXPECT_THAT(Codes(), IsEmpty());
  for (const char* sha256 : {"f", ""}) {
    entry_.files.back().sha256 = std::string(*sha256 == 0 ? 0 : 64, 'f');
    EXPECT_THAT(Codes(), ElementsAre("weights_differ")) << sha256;
    EXPECT_THAT(Message(), HasSubstr("adapter_model.safetensors"));
  }
  entry_.files.back().sha256 = std::string(64, 'e');
  known_.manifest->artifacts.back().role = "log";
  EXPECT_THAT(Codes(), ElementsAre("model_uncompared"));
}

TEST_F(LoggedModel, OfARunIsHeldBesideItsWeights) {
  entry_.is_model = false;
  entry_.files = {{"clf/model.skops", 3, std::string(64, 'b'), true}};
  EXPECT_THAT(Codes(), ElementsAre("weights_differ")) << "its recorded weights are not there";
  entry_.files.push_back({"model.safetensors", 3, std::string(64, 'a')});
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files[0].sha256 = std::string(64, 'c');
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
}

TEST_F(LoggedModel, ThatWasNotImportedIsHeldToTheRecordedWeightsAsBefore) {
  known_.manifest->artifacts.pop_back();
  EXPECT_THAT(Codes(), Contains("weights_differ"));
  entry_.files = {{"MLmodel", 10, ""},
                  {"artifacts/model.safetensors", 3, std::string(64, 'a'), true}};
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(LoggedModel, HasNoFileThatNobodyRecordedBesideItsWeightsEither) {
  known_.manifest->artifacts.pop_back();
  entry_.files = {{"MLmodel", 10, ""},
                  {"artifacts/model.safetensors", 3, std::string(64, 'a'), true}};
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files.push_back({"model.pkl", 5, "", true});
  EXPECT_THAT(Codes(), ElementsAre("no_weights"));
  EXPECT_THAT(Message(), HasSubstr("of 1 of the logged model's files the manifest has no SHA-256, "
                                   "the first: model.pkl"));
  entry_.is_model = false;
  EXPECT_THAT(Codes(), ElementsAre("no_weights"));
  // With the content of a recorded file, too: nobody recorded it under this name.
  entry_.files.back().sha256 = std::string(64, 'a');
  EXPECT_THAT(Codes(), ElementsAre("no_weights"));
}

TEST_F(LoggedModel, OfSeveralIsHeldToTheFileInTheFewestFolders) {
  Artifact other = known_.manifest->artifacts.back();
  other.path = "reg/model.skops";
  other.sha256 = std::string(64, 'd');
  known_.manifest->artifacts.push_back(other);
  EXPECT_THAT(Codes(), IsEmpty()) << "either may be the model";
  known_.manifest->artifacts.back().path = "clf/backup/model.skops";
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files[1].sha256 = std::string(64, 'd');
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
  EXPECT_THAT(Message(), HasSubstr("recorded clf/model.skops with sha256 bbb"));
}

// An import puts all but the last of a name into NAME@ID.
TEST_F(LoggedModel, OfTwoOfANameIsHeldToItsOwnFiles) {
  Artifact first = known_.manifest->artifacts.back();
  first.path = "clf@m-1/model.skops";
  first.sha256 = std::string(64, 'd');
  known_.manifest->artifacts.push_back(first);
  WithoutWeights();
  entry_.is_model = false;
  entry_.files = {{"clf/model.skops", 3, std::string(64, 'd'), true, "clf@m-1/model.skops"},
                  {"clf/model.skops", 3, std::string(64, 'b'), true, "clf/model.skops"}};
  EXPECT_THAT(Codes(), IsEmpty());
  std::swap(entry_.files[0].sha256, entry_.files[1].sha256);
  EXPECT_THAT(Codes(), ElementsAre("weights_differ", "weights_differ"));
}

TEST_F(LoggedModel, IsHeldToItsShardsWhereverTheirIndexLies) {
  WithoutWeights();
  known_.manifest->artifacts.back().parts = {{"part-1.bin", 3, std::string(64, 'e')}};
  entry_.files.push_back({"part-1.bin", 3, std::string(64, 'e'), true});
  EXPECT_THAT(Codes(), IsEmpty());
  entry_.files.back().sha256 = std::string(64, 'b');
  EXPECT_THAT(Codes(), ElementsAre("weights_differ"));
}

}  // namespace
}  // namespace rharness
