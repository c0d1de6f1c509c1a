// What made the data of an imported run, and on which of them its metrics were measured.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/imported_run.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {

MadeBy CleanMadeBy(MadeBy made_by, std::string* refused) {
  MadeBy clean;
  const std::string repository = CleanText(WithoutCredentials(made_by.repository), 1024);
  const bool url = repository.find(':') != repository.npos;
  const bool risky = repository.starts_with('-') || repository.find("::") != repository.npos;
  if (!risky && (url || CleanPath(repository))) clean.repository = repository;
  const std::string commit = CleanHex(made_by.commit).value_or("");
  if (IsFullCommit(commit)) clean.commit = commit;
  clean.version = CleanText(made_by.version, 256);
  if (clean.repository.empty() && !repository.empty()) *refused = repository;
  if (clean.commit.empty() && !made_by.commit.empty()) *refused = made_by.commit;
  return clean;
}

void ImportedRun::SetMadeBy(std::string_view data, MadeBy made_by, const Worth& worth) {
  const auto item = std::ranges::find(manifest_.data, CleanName(data), &DataItem::name);
  if (item == manifest_.data.end()) return;
  const std::string path = fmt::format("data[{}].made_by", item - manifest_.data.begin());
  std::string refused;
  const MadeBy clean = CleanMadeBy(std::move(made_by), &refused);
  if (!refused.empty()) Refuse(path, refused, "a URL or a folder, and a full commit");
  if (clean == MadeBy()) return;
  item->made_by = clean;
  Note(path, worth);
}

void ImportedRun::SetEvalSet(std::string_view metric, std::string_view data, const Worth& worth) {
  const auto measured = std::ranges::find(manifest_.metrics, CleanName(metric), &Metric::name);
  const auto set = std::ranges::find(manifest_.data, CleanName(data), &DataItem::name);
  if (measured == manifest_.metrics.end() || set == manifest_.data.end()) return;
  if (DigestOf(*set).empty()) {
    return Remark(fmt::format("metrics.{}: measured on {}, whose digest is not known",
                              measured->name, QuotedShort(set->name)));
  }
  measured->evaluated_on = set->name;
  Note(fmt::format("metrics.{}.evaluated_on", measured->name), worth);
}

}  // namespace rharness
