// Fuzzes the reader of fingerprints, the difference from a good one, the fleet of the two, and what
// is written of them: accepted fingerprints obey fingerprint.h, nothing differs from itself, pages
// are well formed, and JSON and terminals show nothing that they must not.
//
// Digests of canonical trees, which no fuzzer meets by chance, are set right before reading.
// Run: rharness-fingerprint-fuzz -max_total_time=60 -dict=fingerprint.dict CORPUS fingerprint_seeds
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compare/fingerprints/canonical_tree.h"
#include "compare/fingerprints/fleet.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "reports/fingerprint_report.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/reports/html_checker.h"

namespace rharness {
namespace {

constexpr int kColumns = 80;
constexpr int kRows = 24;

Json Sealed(const Json& json) {
  if (json.IsArray()) {
    Json array = Json::MakeArray();
    for (const Json& element : json.AsArray()) array.Append(Sealed(element));
    return array;
  }
  if (!json.IsObject()) return json;
  Json object = Json::MakeObject();
  for (const auto& [name, value] : json.AsObject()) object.AppendMember(name, Sealed(value));
  const Json* text = object.Find("canonical");
  if (text == nullptr || text->kind() != Json::Kind::kString) return object;
  const std::string canonical = text->AsString();
  object.Set("sha256", Sha256HexOf(canonical));
  const auto tree = ParseCanonicalTree(canonical);
  if (tree.ok()) object.Set("leaves", tree->leaves());
  return object;
}

void CheckAccepted(const Fingerprint& fingerprint) {
  for (std::size_t i = 0; i < fingerprint.probes.size(); ++i) {
    const FingerprintProbe& probe = fingerprint.probes[i];
    Require(!probe.name.empty() && (i == 0 || fingerprint.probes[i - 1].name < probe.name));
    Require(std::ranges::is_sorted(probe.unstable));
    for (const auto& [name, tree] : probe.trees) {
      Require(tree.leaves >= 1 && IsSha256Hex(tree.sha256));
      if (!tree.tree) continue;
      Require(tree.tree->leaves() == tree.leaves && tree.tree->Sha256() == tree.sha256);
    }
    for (const auto& [name, digest] : probe.bits) Require(IsSha256Hex(digest));
  }
}

void CheckTerminal(const std::string& text) {
  Require(TerminalSafe(text) == text);
  int lines = 0, columns = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++lines;
      columns = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      Require(++columns <= kColumns);
    }
  }
  Require(lines <= kRows);
}

void CheckPage(const std::string& html) {
  const HtmlFacts facts = CheckHtml(html);
  Require(facts.error.empty());
  Require(std::set<std::string>(facts.ids.begin(), facts.ids.end()).size() == facts.ids.size());
  Require(facts.elements.contains("body"));
}

bool CheckDifference(const Fingerprint& before, const Fingerprint& after) {
  const FingerprintDifference found = DiffFingerprints(before, after);
  Require(found.comparable == found.why.empty() && !found.summary.empty());
  Require((ExitCodeOf(found) == 3) == !found.comparable);
  Require(found.same <= found.compared);
  for (const ProbeDifference& probe : found.probes) {
    Require(probe.change != BehaviourChange::kNone && !probe.sentence.empty());
    Require(probe.choice_cases.empty() == probe.choice_sentence.empty());
    Require(probe.tree_cases.empty() == probe.tree_sentence.empty());
    Require(probe.bits_cases.empty() == probe.bits_sentence.empty());
  }
  RequireReadable(ToJson(found));
  const Document document = DocumentOf(found, before, after, "0");
  CheckTerminal(WriteTerminal(document, kColumns, false, kRows));
  CheckPage(WriteHtml(document));
  return found.comparable;
}

void CheckFleet(const Fingerprint& good, const Fingerprint& fingerprint) {
  const Fleet fleet = CompareFleet({{"good", good}, {"other", fingerprint}});
  const std::string digest = ArithmeticDigest(fingerprint);
  Require(digest.empty() == !fleet.unusable.empty());
  Require(fleet.exit_code != 0 || digest == ArithmeticDigest(good));
  RequireReadable(ToJson(fleet));
  CheckTerminal(WriteTerminal(DocumentOf(fleet, "0"), kColumns, false, kRows));
  CheckPage(WriteHtml(DocumentOf(fleet, "0")));
}

void Check(const Fingerprint& fingerprint) {
  static const Fingerprint good = SampleStack().Parse("good");
  CheckAccepted(fingerprint);
  const FingerprintDifference self = DiffFingerprints(fingerprint, fingerprint);
  Require(self.probes.empty() && self.stack.empty());
  Require(CheckDifference(good, fingerprint) == CheckDifference(fingerprint, good));
  CheckFleet(good, fingerprint);
}

void CheckReader(const Json& json) {
  const auto fingerprint = ParseFingerprint(json, "fuzz");
  if (!fingerprint.ok()) {
    return RequireError(fingerprint.error(), {ErrorCode::kInvalidInput, ErrorCode::kUnsupported},
                        "fuzz: $");
  }
  Check(*fingerprint);
  const auto written = ParseJson(json.Dump(2), "written");
  const auto again = ParseFingerprint(*written, "fuzz");
  Require(ArithmeticDigest(*again) == ArithmeticDigest(*fingerprint));
  Require(StackDigest(*again) == StackDigest(*fingerprint));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = rharness::ParseJson(rharness::TextOf(data, size), "fuzz");
  if (!json.ok()) {
    rharness::RequireError(json.error(), {rharness::ErrorCode::kInvalidInput}, "fuzz: ");
    return 0;
  }
  rharness::RequireReadable(*json);
  rharness::CheckReader(rharness::Sealed(*json));
  return 0;
}
