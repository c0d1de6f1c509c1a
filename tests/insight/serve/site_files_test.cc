// Policies and baselines beside a history: whose signatures hold, and which runs they concern.
#include "harness/insight/serve/site_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trust/attestation/endorsement.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/insight/serve/serve_world.h"
#include "tests/reports/html_checker.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const WallTime kNow = At("2026-01-20T12:00:00Z");

constexpr char kPolicy[] = R"(version: 1
waivers:
  - {probes: "gemm_*", reason: "reviewed", signed_by: ada, until: 2026-12-31}
  - {probes: "family:compiler", reason: "over", signed_by: ada, until: 2026-01-01}
  - {probes: "math_*", reason: "by nobody", signed_by: cyd, until: 2026-12-31}
substitutes:
  - {recorded: "NVIDIA H100*", here: "NVIDIA H200", reason: "the same die", signed_by: "Bob ", until: 2026-12-31}
)";

// Ada and Bob may sign files, one of them is enough; Mallory may not.
class SignedSite : public ServeWorld {
 protected:
  void SetUp() override {
    people_.Trust();
    Put("trust.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
        "  - {name: bob, owner: Bob, public_key: bob.pub}\nrules:\n"
        "  - {predicates: [\"urn:rharness:endorsement:*\"], keys: [ada, bob]}\n");
    Put("policy.yaml", kPolicy);
    Accept(SampleStack(), "in use");
  }
  fs::path Where(const std::string& name) const { return people_.folder.At(name); }
  void Put(const std::string& name, const std::string& text) const {
    people_.folder.Put(name, text);
  }
  void Accept(const FingerprintBuilder& fingerprint, const std::string& reason) const {
    ASSERT_TRUE(WriteJsonFile(Where("f.json"), fingerprint.ToJson()).ok());
    const auto record = AcceptBaseline(Where("f.json"), Where("h200"), "ada", reason,
                                       At("2026-01-10T00:00:00Z"), At("2026-06-01T00:00:00Z"));
    ASSERT_TRUE(record.ok()) << record.error().ToString();
  }
  void Sign(const std::string& name, Signer* signer, const char* when = "2026-01-15T00:00:00Z") {
    const fs::path file = Where(name);
    const auto done = EndorseFile(file, EndorsementPath(file), "", At(when), signer);
    ASSERT_TRUE(done.ok()) << done.error().ToString();
  }
  void SignAll() {
    Sign("policy.yaml", people_.ada.get());
    Sign("policy.yaml", people_.bob.get());
    Sign("h200/baseline.jsonl", people_.bob.get());
  }
  SiteFilesAsked Asked() const {
    return {.policies = {Where("policy.yaml").string()},
            .baselines = {Where("h200").string()},
            .trust = Where("trust.yaml").string()};
  }
  SiteFiles Read() const { return ReadSiteFiles(Asked(), kNow); }
  // On an H200, of these families of probes.
  static Manifest RunOf(std::vector<std::string> families, const char* gpu = "NVIDIA H200") {
    Manifest manifest = MakeManifest("mlp", kDay1);
    manifest.probe_families = std::move(families);
    manifest.environment.hardware.gpus = {Gpu{.model = gpu}};
    return manifest;
  }
  // "waiver gemm_*: Ada and Bob", "waiver math_*: - whom ...".
  std::vector<std::string> Told(const Manifest& run) const {
    std::vector<std::string> told;
    for (const SiteAnswer& one : AnswersFor(run, Read(), kNow)) {
      EXPECT_NE(one.signed_by.empty(), one.doubt.empty()) << one.about;
      told.push_back(one.kind + " " + one.about + ": " +
                     (one.doubt.empty() ? one.signed_by : "- " + one.doubt) +
                     (one.holds ? "" : " (over)"));
    }
    return told;
  }
  std::string Baseline() const {
    return "baseline h200, fingerprint " + HashFile(Where("f.json"))->sha256.substr(0, 12);
  }

  const People people_{};
};

constexpr char kNotHeld[] = ": - it is not signed as the trust policy asks, or was changed since";

TEST_F(SignedSite, TellsWhatConcernsARunWithWhoseSignaturesHold) {
  SignAll();
  EXPECT_THAT(Told(RunOf({"gemm"})),
              ElementsAre("waiver gemm_*: Ada and Bob", Baseline() + ": Bob"));
  EXPECT_THAT(Told(RunOf({"compiler"})),
              ElementsAre(Baseline() + ": Bob", "waiver family:compiler: Ada and Bob (over)"));
  EXPECT_THAT(Told(RunOf({"reduction"}, "NVIDIA H100 80GB")),
              ElementsAre("substitute NVIDIA H100* → NVIDIA H200: Ada and Bob"));
  EXPECT_THAT(Told(RunOf({})),
              ElementsAre("waiver gemm_*: Ada and Bob",
                          "waiver math_*: - whom it names has not signed the file",
                          Baseline() + ": Bob", "waiver family:compiler: Ada and Bob (over)"))
      << "it depends on everything";
}

TEST_F(SignedSite, NamesNobodyWhereTheFileIsNotWhatWasSigned) {
  SignAll();
  Put("policy.yaml", std::string(kPolicy) + "# changed\n");
  EXPECT_THAT(Told(RunOf({"gemm"})),
              ElementsAre(std::string("waiver gemm_*") + kNotHeld, Baseline() + ": Bob"));
  const SiteFiles files = Read();
  EXPECT_THAT(files.policies[0].file.trouble, HasSubstr(Where("policy.yaml").string()));
  EXPECT_EQ(files.baselines[0].file.trouble, "");
}

TEST_F(SignedSite, NamesNobodyWhereNobodyWhoMayHasSigned) {
  EXPECT_THAT(Told(RunOf({"gemm"})),
              ElementsAre(std::string("waiver gemm_*") + kNotHeld, Baseline() + kNotHeld));
  Sign("policy.yaml", people_.mallory.get());
  Sign("h200/baseline.jsonl", people_.mallory.get());
  EXPECT_THAT(Told(RunOf({"gemm"})),
              ElementsAre(std::string("waiver gemm_*") + kNotHeld, Baseline() + kNotHeld));
}

TEST_F(SignedSite, NamesNobodyWhereAnOlderFileWasPutBack) {
  SignAll();
  const std::string newer = std::string(kPolicy) + "# newer\n";
  Put("policy.yaml", newer);
  Sign("policy.yaml", people_.ada.get(), "2026-01-16T00:00:00Z");
  EXPECT_THAT(Told(RunOf({"gemm"})), ElementsAre("waiver gemm_*: Ada", Baseline() + ": Bob"));
  Put("policy.yaml", kPolicy);
  EXPECT_THAT(Told(RunOf({"gemm"}))[0], HasSubstr("- it is not signed"));
}

TEST_F(SignedSite, NamesNobodyForAFingerprintThatNobodyAccepted) {
  SignAll();
  ASSERT_TRUE(
      WriteJsonFile(Where("h200/baseline.json"), SampleStack().Stack("driver", "590").ToJson())
          .ok());
  EXPECT_THAT(Told(RunOf({"gemm"})),
              testing::Contains("baseline h200 (whether it is for this run's hardware is not "
                                "known): - it is not signed as the trust policy asks, or was "
                                "changed since"));
}

TEST_F(SignedSite, TellsWhatCannotBeReadAndFailsForNone) {
  SignAll();
  Put("policy.yaml", "version: 1\nwaivers: 7\n");
  fs::remove_all(Where("h200"));
  const SiteFiles files = Read();
  for (const SignedFile* file : files.all()) EXPECT_EQ(file->doubt, "it cannot be read");
  Put("policy.yaml", kPolicy);
  Put("trust.yaml", "none");
  EXPECT_EQ(Read().policies[0].file.doubt, "the trust policy cannot be read");
  EXPECT_THAT(Told(RunOf({"gemm"}))[0], HasSubstr("- the trust policy cannot be read"));
}

TEST_F(SignedSite, AsksForWhoIsTrustedBeforeAnythingIsServed) {
  EXPECT_TRUE(CheckSiteFiles(Asked()).ok());
  EXPECT_TRUE(CheckSiteFiles({}).ok());
  SiteFilesAsked asked = Asked();
  asked.trust.clear();
  EXPECT_EQ(CheckSiteFiles(asked).error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(CheckSiteFiles({.policies = {}, .baselines = {}, .trust = "t"}).error().ToString(),
              HasSubstr("goes with --policy or --baseline"));
  asked = Asked();
  asked.policies.push_back(Where("none.yaml").string());
  EXPECT_EQ(CheckSiteFiles(asked).error().code, ErrorCode::kNotFound);
}

TEST_F(SignedSite, IsOnThePageOfARunWithoutSayingWhereAFileLies) {
  ASSERT_TRUE(store_->Add(RunOf({"gemm"}), At(kDay1)).ok());
  EXPECT_THAT(Get("/run/mlp").body, Not(HasSubstr("What people answer for")));
  Put("policy.yaml",
      "version: 1\nwaivers:\n  - {probes: \"gemm_*\", reason: \"<b>why</b>\", signed_by: ada, "
      "until: 2026-12-31}\n");
  SignAll();
  counted_.files = std::make_shared<const SiteFiles>(Read());
  const HttpResponse page = Get("/run/mlp");
  EXPECT_EQ(CheckHtml(page.body).error, "");
  const std::string part = page.body.substr(page.body.find("id=\"answers\""));
  for (const char* said : {"<td data-l=\"Of\">gemm_*</td>", "&lt;b&gt;why&lt;/b&gt;", "Ada and Bob",
                           "through 2026-12-31 (UTC)", "policy.yaml", "baseline.jsonl"}) {
    EXPECT_THAT(part, HasSubstr(said));
  }
  EXPECT_THAT(Get("/").body, Not(HasSubstr("nobody is named")));
  Put("policy.yaml", kPolicy);
  counted_.files = std::make_shared<const SiteFiles>(Read());
  for (const char* target : {"/", "/run/mlp", "/families", "/trends"}) {
    const std::string body = Get(target).body;
    EXPECT_THAT(body, HasSubstr("Of policy.yaml nobody is named: it is not signed as the trust "
                                "policy asks, or was changed since. The log says more."));
    EXPECT_THAT(body, Not(HasSubstr(Where("").string()))) << target;
    EXPECT_THAT(body, Not(HasSubstr("Ada"))) << target;
  }
  EXPECT_THAT(Get("/run/mlp").body, HasSubstr("<span class=\"flag\">not held</span>"));
}

}  // namespace
}  // namespace rharness
