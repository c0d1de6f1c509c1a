// Reading fingerprints: what is taken, and what is refused where.
#include "compare/fingerprints/fingerprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare/fingerprints/canonical_tree.h"
#include "harness/base/files.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto json = ParseJson(text, "f.json");
  EXPECT_TRUE(json.ok()) << json.error().ToString();
  const auto fingerprint = ParseFingerprint(*json, "f.json");
  return fingerprint.ok() ? "" : fingerprint.error().ToString();
}

std::string Wrapped(const std::string& probe) {
  return R"({"schema": "rharness.fingerprint/v1", "stack": {}, "suite": "ok", "probes": [)" +
         probe + "]}";
}

constexpr char kProbe[] = R"({"name": "p", "family": "math", "status": "ok")";

std::string WithTree(int leaves, const std::string& sha256, const std::string& canonical) {
  Json tree;
  tree.Set("name", "x").Set("leaves", leaves).Set("sha256", sha256);
  if (!canonical.empty()) tree.Set("canonical", canonical);
  return Wrapped(std::string(kProbe) + R"(, "tree": {"c": )" + tree.Dump() + "}}");
}

TEST(Fingerprint, ReadsEveryPartOfAProbe) {
  const Fingerprint fingerprint = SampleStack().Parse();
  ASSERT_EQ(fingerprint.probes.size(), 5U);
  EXPECT_EQ(fingerprint.hardware_class, "NVIDIA H200");
  EXPECT_EQ(fingerprint.stack.at("gpus.0.model"), "NVIDIA H200");
  EXPECT_EQ(fingerprint.stack.at("driver"), "580.65");
  const FingerprintProbe& gemm = fingerprint.probes[0];
  EXPECT_EQ(gemm.name, "gemm_tree_fp16");
  EXPECT_EQ(gemm.trees.at("64x64x32").leaves, 32);
  EXPECT_EQ(gemm.trees.at("64x64x32").tree->LargestFanIn(), 9);
  EXPECT_EQ(gemm.choices.at("64x64x16"), R"({"algorithm":21,"split_k":1})");
  EXPECT_TRUE(gemm.deterministic);
  EXPECT_EQ(fingerprint.probes[3].status, ProbeStatus::kAbsent);
  EXPECT_EQ(fingerprint.probes[3].message, "no libnccl.so.2");
}

TEST(Fingerprint, TakesTheCpuForTheHardwareWhereThereIsNoGpu) {
  const auto json = ParseJson(R"({"schema": "rharness.fingerprint/v1", "suite": "ok",
      "stack": {"cpu": {"model": "EPYC 9654", "cores": 96}}, "probes": []})",
                              "f.json");
  EXPECT_EQ(ParseFingerprint(*json, "f.json")->hardware_class, "EPYC 9654");
}

TEST(Fingerprint, TheOrderOfAChoicesMembersIsNoDifference) {
  const auto first = SampleStack().Probe("x").Choice("c", R"({"a": 1, "b": {"c": 2, "d": 3}})");
  const auto second = SampleStack().Probe("x").Choice("c", R"({"b": {"d": 3, "c": 2}, "a": 1})");
  EXPECT_EQ(first.Parse().probes.back().choices, second.Parse().probes.back().choices);
}

TEST(Fingerprint, RefusesANewerSchemaByName) {
  const auto json = ParseJson(
      R"({"schema": "rharness.fingerprint/v2", "stack": {}, "suite": "ok", "probes": []})", "f");
  const auto fingerprint = ParseFingerprint(*json, "f");
  ASSERT_FALSE(fingerprint.ok());
  EXPECT_EQ(fingerprint.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(fingerprint.error().message.find("rharness.fingerprint/v2"), std::string::npos);
}

TEST(Fingerprint, RefusesWhatIsNoFingerprintAndSaysWhere) {
  const std::string sha(64, 'a');
  const struct {
    std::string text, where;
  } cases[] = {
      {R"({"schema": "rharness.manifest/v1", "stack": {}, "suite": "ok", "probes": []})",
       "$.schema"},
      {R"({"schema": "rharness.fingerprint/v1", "suite": "ok", "probes": []})", "$.stack"},
      {R"({"schema": "rharness.fingerprint/v1", "stack": {}, "probes": []})", "$.suite"},
      {R"({"schema": "rharness.fingerprint/v1", "stack": {}, "suite": "ok"})", "$.probes"},
      {R"({"schema": "rharness.fingerprint/v1", "stack": {}, "suite": "ok", "probe": []})",
       "$.probe"},
      {Wrapped(R"({"name": "p", "family": "math", "status": "fine"})"), "$.probes[0].status"},
      {Wrapped(R"({"name": "", "family": "math", "status": "ok"})"), "$.probes[0].name"},
      {Wrapped(std::string(kProbe) + R"(, "bit": {}})"), "$.probes[0].bit"},
      {Wrapped(std::string(kProbe) + R"(, "bits": {"c": "abc"}})"), "$.probes[0].bits.c"},
      {Wrapped(std::string(kProbe) + R"(, "bits": {"c": 3}})"), "$.probes[0].bits.c"},
      {Wrapped(std::string(kProbe) + R"(, "tree": {"c": 7}})"), "$.probes[0].tree.c"},
      {WithTree(0, sha, ""), "$.probes[0].tree.c.leaves"},
      {WithTree(2, "abc", ""), "$.probes[0].tree.c.sha256"},
      {WithTree(2, sha, "(0 1)"), "$.probes[0].tree.c.sha256"},
      {WithTree(3, Sha256HexOf("(0 1)"), "(0 1)"), "$.probes[0].tree.c.leaves"},
      {WithTree(2, Sha256HexOf("(1 0)"), "(1 0)"), "$.probes[0].tree.c.canonical"},
      {Wrapped(std::string(kProbe) + "}, " + kProbe + "}"), "$.probes[1].name"},
  };
  for (const auto& one : cases) {
    const std::string error = ErrorOf(one.text);
    EXPECT_NE(error.find("f.json"), std::string::npos) << one.text;
    EXPECT_NE(error.find(one.where), std::string::npos) << one.where << " in " << error;
  }
}

TEST(Fingerprint, IsValidWithoutProbes) { EXPECT_EQ(ErrorOf(Wrapped("")), ""); }

TEST(Fingerprint, AProbeThatNamesNoCaseIsUnstableInAll) {
  FingerprintProbe probe{.deterministic = false};
  EXPECT_TRUE(probe.IsUnstable("any"));
  probe.unstable = {"one"};
  EXPECT_TRUE(probe.IsUnstable("one"));
  EXPECT_FALSE(probe.IsUnstable("any"));
}

TEST(CanonicalTree, ReadsBackWhatATreeWrites) {
  for (const SumTree& tree : {SequentialTree(2), SequentialTree(5000), PairwiseTree(64),
                              FusedTree(37, 16), *SumTree::Build(1, {})}) {
    const auto back = ParseCanonicalTree(tree.Canonical());
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_EQ(*back, tree);
  }
}

TEST(CanonicalTree, RefusesALongerTextThanAFingerprintKeepsBeforeItReadsIt) {
  EXPECT_TRUE(ParseCanonicalTree(SequentialTree(9000).Canonical()).ok());
  const std::string longer = SequentialTree(10000).Canonical();
  ASSERT_GT(longer.size(), 65536U);
  for (const std::string& text : {longer, std::string(100'000'000, '(')}) {
    const auto tree = ParseCanonicalTree(text);
    ASSERT_FALSE(tree.ok());
    EXPECT_NE(tree.error().message.find("at most 65536"), std::string::npos);
  }
}

TEST(CanonicalTree, RefusesOtherText) {
  for (const char* text : {"", "()", "(0)", "(0 1", "0 1)", "(0 1) 2", "((1 0) 2)", "(0 2)",
                           "(0 0)", "(0  1)", "(0 99999999999)", "(0 x)", "(0 -1)", "(0 (1 2) 3"}) {
    EXPECT_FALSE(ParseCanonicalTree(text).ok()) << text;
  }
}

TEST(Fingerprint, SaysWhichOtherDocumentItWasGiven) {
  EXPECT_EQ(ErrorOf(R"({"schema": "rharness.manifest/v1", "run_id": "a"})"),
            "f.json: $.schema: this is the manifest of a run (rharness.manifest/v1); expected a "
            "fingerprint "
            "(rharness.fingerprint/v1), which rharness probe run --out FILE writes");
  EXPECT_NE(ErrorOf(R"({"schema": "rharness.new_thing/v3"})").find("is another document"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(R"({"schema": "mlflow.run/v1"})").find("is another document"),
            std::string::npos);
}

TEST(Fingerprint, TakesAStrangersFileForAnUnreadableOneAndRefusesAnotherDocument) {
  const ScopedTempDir folder = *ScopedTempDir::Make("fingerprint-");
  const auto load = [&](const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(folder.path() / "f.json", text).ok());
    return LoadAsEvidence(folder.path() / "f.json");
  };
  EXPECT_EQ(load(SampleStack().ToJson().Dump())->suite, "ok");
  for (const char* text : {"no JSON", "{}", R"({"schema": "rharness.fingerprint/v9"})"}) {
    const auto unreadable = load(text);
    ASSERT_TRUE(unreadable.ok()) << text;
    EXPECT_TRUE(unreadable->suite.starts_with("unreadable: ")) << text;
  }
  for (const char* schema : {"manifest", "evidence", "report", "gate", "fingerprint_diff"}) {
    const auto other = load(fmt::format(R"({{"schema": "rharness.{}/v1"}})", schema));
    ASSERT_FALSE(other.ok()) << schema;
    EXPECT_EQ(other.error().code, ErrorCode::kInvalidInput) << schema;
  }
  EXPECT_EQ(LoadAsEvidence(folder.path() / "none").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(load("no JSON").ok());
  std::string sha256;
  EXPECT_TRUE(LoadAsEvidence(folder.path() / "f.json", &sha256).ok());
  EXPECT_EQ(sha256, "29ecbeb830e3244605e5a88493e4088424a71780e5cf59bb3475f278f294335b");
}

}  // namespace
}  // namespace rharness
