// Proofs: made from a log, read again, and held to nothing but a root.
#include "harness/trust/audit/proof.h"

#include <gmock/gmock.h>

#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/proof_schemas.h"
#include "tests/records/manifest/schema_check.h"
#include "tests/trust/audit/audited.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class Proofs : public AuditedLog {
 protected:
  Proofs() {
    std::vector<HeldRecord> records = Manifests(11);
    records.push_back(Held("verdict", "night-1/run-4", "identical"));
    MustAppend(records, false);
    log_ = *OpenLog(Log());
    tree_ = {12, *TreeRoot(&log_.nodes, 12)};
  }
  LogView log_;
  SizedRoot tree_;
};

TEST(RunOf, KnowsWhichPartOfANameIsTheRun) {
  EXPECT_EQ(RunOf("manifest", "mlp-1"), "mlp-1");
  EXPECT_EQ(RunOf("verdict", "night-3/mlp-1"), "mlp-1");
  EXPECT_EQ(RunOf("property_verdict", "night-3/mlp-1/world_size"), "mlp-1");
  EXPECT_EQ(RunOf("rebuild", "mlp-1/1700000000000"), "mlp-1");
  EXPECT_EQ(RunOf("replicate", "c/s/mlp-1/2"), "mlp-1");
  EXPECT_EQ(RunOf("attestation", "night-3/mlp-1/5c6e"), "mlp-1");
  EXPECT_EQ(RunOf("signed_statement", "mlp-1/5c6e/9e5b"), "mlp-1");
  EXPECT_EQ(RunOf("signed_retirement", "mlp-1"), "mlp-1");
  EXPECT_EQ(RunOf("drill", "night-3"), "");
  EXPECT_EQ(RunOf("surroundings", "ab"), "");
  EXPECT_EQ(RunOf("verdict", "night-3"), "");
}

TEST(EntriesOfRun, AreThoseThatNameItAndWhatTakesItsRetirementBack) {
  EntriesOfRun of_run("mlp-1");
  EXPECT_FALSE(of_run.Take("withdrawal", "5c6e")) << "nothing is known of that statement";
  EXPECT_TRUE(of_run.Take("manifest", "mlp-1"));
  EXPECT_FALSE(of_run.Take("signed_statement", "mlp-2/9e5b/key"));
  EXPECT_TRUE(of_run.Take("signed_statement", "mlp-1/5c6e/key"));
  EXPECT_TRUE(of_run.Take("signed_statement", "5c6e/77aa/key"));
  EXPECT_TRUE(of_run.Take("withdrawal", "5c6e"));
  EXPECT_FALSE(of_run.Take("signed_statement", "9e5b/77ab/key"));
  EXPECT_FALSE(of_run.Take("withdrawal", "9e5b"));
  EXPECT_FALSE(of_run.Take("deletion", "5c6e"));
}

TEST_F(Proofs, HaveWhatTakesARetirementBack) {
  std::vector<HeldRecord> records = Manifests(11);
  for (const auto& [kind, name] : {std::pair("verdict", "night-1/run-4"),
                                   {"signed_statement", "run-4/s/k"},
                                   {"signed_statement", "s/w/k"},
                                   {"withdrawal", "s"},
                                   {"withdrawal", "t"}}) {
    records.push_back(Held(kind, name, "identical"));
  }
  MustAppend(records, false);
  log_ = *OpenLog(Log());
  const auto proof = ProveRun(&log_, "run-4", {16, *TreeRoot(&log_.nodes, 16)});
  ASSERT_TRUE(proof.ok()) << proof.error().ToString();
  ASSERT_EQ(proof->entries.size(), 5U);
  EXPECT_EQ(proof->entries[4].index, 14U);
  EXPECT_TRUE(CheckProof(*proof, "p").ok());
}

TEST_F(Proofs, AreOfAllThatIsEnteredAboutARunAndHoldWithoutTheLog) {
  const auto proof = ProveRun(&log_, "run-4", tree_);
  ASSERT_TRUE(proof.ok()) << proof.error().ToString();
  ASSERT_EQ(proof->entries.size(), 2U);
  EXPECT_EQ(proof->entries[0].index, 4U);
  EXPECT_EQ(proof->entries[1].index, 11U);
  const auto read = ParseInclusionProof(*ParseJson(ToJson(*proof).Dump(), "p"), "p");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE(CheckProof(*read, "p").ok());
  EXPECT_EQ(read->tree, tree_);
  EXPECT_EQ(ProveRun(&log_, "run-44", tree_).error().code, ErrorCode::kNotFound);
}

TEST_F(Proofs, DoNotHoldWhereAnythingInThemIsAnotherOne) {
  const InclusionProof proof = *ProveRun(&log_, "run-4", tree_);
  const auto fails = [&](const char* what, auto change) {
    InclusionProof other = proof;
    change(&other);
    const Status status = CheckProof(other, "p");
    ASSERT_FALSE(status.ok()) << what;
    EXPECT_EQ(status.error().code, ErrorCode::kIntegrity) << what;
  };
  fails("no entry", [](InclusionProof* p) { p->entries.clear(); });
  fails("run", [](InclusionProof* p) { p->run_id = "run-5"; });
  fails("index", [](InclusionProof* p) { p->entries[0].index = 5; });
  fails("root", [](InclusionProof* p) { p->tree.root[0] ^= 1; });
  fails("size", [](InclusionProof* p) { p->tree.size = 6; });
  fails("path", [](InclusionProof* p) { p->entries[1].path[0][3] ^= 4; });
  fails("digest", [](InclusionProof* p) {
    std::string& line = p->entries[0].line;
    const auto at = line.find("\"sha256\":\"") + 10;
    line[at] = line[at] == '0' ? '1' : '0';
  });
}

TEST_F(Proofs, OfConsistencyHoldAndDoNotHoldForOthers) {
  const SizedRoot first{5, *TreeRoot(&log_.nodes, 5)};
  const auto proof = ProveConsistency(&log_, first, tree_);
  ASSERT_TRUE(proof.ok()) << proof.error().ToString();
  const auto read = ParseConsistencyProof(*ParseJson(ToJson(*proof).Dump(), "p"), "p");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE(CheckProof(*read, "p").ok());
  ConsistencyProof other = *proof;
  other.first.root[9] ^= 1;
  EXPECT_EQ(CheckProof(other, "p").error().code, ErrorCode::kIntegrity);
  EXPECT_THAT(ProveConsistency(&log_, other.first, tree_).error().message,
              HasSubstr("does not come to the root"));
  EXPECT_EQ(ProveConsistency(&log_, first, {13, tree_.root}).error().code, ErrorCode::kIntegrity);
}

TEST_F(Proofs, AreNotMadeOfALogThatIsNotThatOfTheHead) {
  EXPECT_EQ(ProveRun(&log_, "run-4", {12, LeafHash("another")}).error().code,
            ErrorCode::kIntegrity);
  std::string lines = Text(kEntriesFile);
  lines[lines.find("run-4\",\"sha256\":\"") + 18] ^= 1;
  Put(kEntriesFile, lines);
  log_ = *OpenLog(Log());
  EXPECT_EQ(ProveRun(&log_, "run-4", tree_).error().code, ErrorCode::kIntegrity);
}

TEST_F(Proofs, AreWhatTheirSchemasSay) {
  const Json inclusion = ToJson(*ProveRun(&log_, "run-4", tree_));
  const Json between = ToJson(*ProveConsistency(&log_, {5, *TreeRoot(&log_.nodes, 5)}, tree_));
  for (const auto& [schema, json] : {std::pair(InclusionProofSchema(), &inclusion),
                                     std::pair(ConsistencyProofSchema(), &between)}) {
    ExpectDescribed(schema, *json);
    EXPECT_NE(ValidateBy(schema, *json), 1);
  }
  EXPECT_FALSE(ParseInclusionProof(between, "p").ok());
  EXPECT_FALSE(ParseConsistencyProof(inclusion, "p").ok());
}

}  // namespace
}  // namespace rharness
