// Reasons of verdicts as one text, and back.
#include "harness/drill/told_verdict.h"

#include "harness/base/digest.h"
#include "harness/base/json_arrays.h"

namespace rharness {
namespace {

std::string TextOf(const Json& json, std::string_view key) {
  const Json* member = json.Find(key);
  const bool text = member != nullptr && member->kind() == Json::Kind::kString;
  return text ? member->AsString() : std::string();
}

std::vector<std::string> TextsOf(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  const Json* member = json.Find(key);
  if (member == nullptr || !member->IsArray()) return texts;
  for (const Json& one : member->AsArray()) {
    if (one.kind() == Json::Kind::kString) texts.push_back(one.AsString());
  }
  return texts;
}

}  // namespace

std::vector<std::string> DecisiveReasons(const std::vector<Finding>& findings) {
  std::vector<std::string> reasons;
  for (const Finding& finding : findings) {
    if (finding.decisive) reasons.push_back(finding.code + ": " + finding.message);
  }
  return reasons;
}

std::map<std::string, std::string> RunDigests(const Json& report) {
  std::map<std::string, std::string> digests;
  const Json* runs = report.Find("runs");
  if (runs == nullptr || !runs->IsArray()) return digests;
  for (const Json& run : runs->AsArray()) {
    digests[TextOf(run, "run_id")] = Sha256HexOf(run.Dump());
  }
  return digests;
}

std::string WriteReasons(const std::vector<Finding>& findings,
                         const std::optional<ToldVerdict>& told) {
  Json reasons = Json::MakeArray();
  for (const std::string& one : DecisiveReasons(findings)) reasons.Append(one);
  if (told) {
    Json rest = Json::MakeObject({{"headline", told->headline},
                                  {"version", told->version},
                                  {"run_sha256", told->run_sha256}});
    if (!told->unproven.empty()) rest.Set("unproven", PlainArray(told->unproven));
    reasons.Append(std::move(rest));
  }
  return reasons.Dump();
}

KeptReasons ReadReasons(const std::string& text) {
  KeptReasons kept;
  const auto json = ParseJson(text, "reasons");
  if (!json.ok() || !json->IsArray()) return kept;
  kept.decisive.emplace();
  bool older = false;
  for (const Json& one : json->AsArray()) {
    if (one.kind() == Json::Kind::kString) {
      kept.decisive->push_back(one.AsString());
    } else if (one.Find("run_sha256") != nullptr) {
      kept.told = ToldVerdict{.headline = TextOf(one, "headline"),
                              .version = TextOf(one, "version"),
                              .run_sha256 = TextOf(one, "run_sha256"),
                              .unproven = TextsOf(one, "unproven")};
    } else {
      older = true;
    }
  }
  if (older) kept.decisive.reset();
  return kept;
}

}  // namespace rharness
