// Compares digests of data, and words lineage.
#include "harness/records/manifest/lineage.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {
namespace {

constexpr std::size_t kShownDigits = 12;

std::string_view AlgorithmOf(std::string_view digest) { return digest.substr(0, digest.find(':')); }

SameContent Same(bool same) { return same ? SameContent::kYes : SameContent::kNo; }

}  // namespace

std::string DigestOf(const DataItem& item) {
  return item.sha256.empty() ? item.other_digest : "sha256:" + item.sha256;
}

SameContent CompareContent(const DataItem& a, const DataItem& b) {
  if (!a.sha256.empty() && !b.sha256.empty()) {
    return Same(a.sha256 == b.sha256 &&
                OtherEmptyFolders(a.empty_folders, b.empty_folders).empty());
  }
  const bool comparable = !a.other_digest.empty() && !b.other_digest.empty() &&
                          AlgorithmOf(a.other_digest) == AlgorithmOf(b.other_digest);
  return comparable ? Same(a.other_digest == b.other_digest) : SameContent::kNotKnown;
}

const DataItem* EvalSetOf(const Metric& metric, const std::vector<DataItem>& data) {
  if (metric.evaluated_on.empty()) return nullptr;
  const auto found = std::ranges::find(data, metric.evaluated_on, &DataItem::name);
  return found == data.end() ? nullptr : &*found;
}

std::string InWords(const DataItem& item) {
  const std::string digest = DigestOf(item);
  const std::size_t shown = digest.find(':') + 1 + kShownDigits;  // without ':' from the start
  const std::string text =
      digest.size() <= shown ? digest : fmt::format("{}...", digest.substr(0, shown));
  return fmt::format("'{}' ({})", item.name, text.empty() ? "no digest" : text);
}

std::string InWords(const MadeBy& made_by) {
  std::string text = made_by.repository;
  const auto add = [&](std::string_view before, const std::string& more) {
    if (!more.empty()) text += fmt::format("{}{}", text.empty() ? "" : before, more);
  };
  add(" at ", made_by.commit);
  if (!made_by.version.empty()) add(", ", "version " + made_by.version);
  return text;
}

std::vector<std::string> TellLineage(const Manifest& manifest) {
  std::vector<std::string> sentences;
  for (const Metric& metric : manifest.metrics) {
    const DataItem* set = EvalSetOf(metric, manifest.data);
    if (set == nullptr) continue;
    sentences.push_back(fmt::format("{} is measured on {}", metric.name, InWords(*set)));
  }
  for (const DataItem& item : manifest.data) {
    if (!item.made_by) continue;
    sentences.push_back(fmt::format("{} was made by {}", InWords(item), InWords(*item.made_by)));
  }
  return sentences;
}

std::vector<OtherEvalSet> FindOtherEvalSets(const Manifest& a, const Manifest& b) {
  std::vector<OtherEvalSet> others;
  for (const Metric& metric : a.metrics) {
    const auto same = std::ranges::find(b.metrics, metric.name, &Metric::name);
    const DataItem* in_a = EvalSetOf(metric, a.data);
    const DataItem* in_b = same == b.metrics.end() ? nullptr : EvalSetOf(*same, b.data);
    if (in_a == nullptr || in_b == nullptr) continue;
    const SameContent content = CompareContent(*in_a, *in_b);
    if (content == SameContent::kYes) continue;
    others.push_back({metric.name, *in_a, *in_b, content == SameContent::kNo});
  }
  return others;
}

bool IsFullCommit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<MadeBy> ParseMadeBy(std::string_view text) {
  constexpr std::string_view kVersion = "version=";
  MadeBy made_by;
  const auto version = text.rfind(kVersion);
  if (version != text.npos && (version == 0 || text[version - 1] == ',')) {
    made_by.version = text.substr(version + kVersion.size());
    if (made_by.version.empty()) return InvalidInput("names no version behind 'version='");
    text = text.substr(0, version == 0 ? 0 : version - 1);
  }
  // An '@' before a host or a path is a user's: git@host:team/etl.
  const auto at = text.rfind('@');
  const bool has_commit = at != text.npos && text.find_first_of(":/", at) == text.npos;
  if (has_commit) {
    made_by.commit = text.substr(at + 1);
    if (!IsFullCommit(made_by.commit)) {
      return InvalidInput(
          fmt::format("'{}' is no full commit; expected 40 or 64 lower-case hexadecimal digits "
                      "behind the '@'",
                      made_by.commit));
    }
  }
  made_by.repository = text.substr(0, has_commit ? at : text.npos);
  if (made_by == MadeBy()) {
    return InvalidInput(
        "says nothing; expected REPOSITORY@COMMIT, version=V, or both with a comma");
  }
  return made_by;
}

}  // namespace rharness
