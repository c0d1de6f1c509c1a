// Whether manifests are complete, as `rharness check` prints it.
#include "harness/cli/check_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

std::string Line(const std::string& place, const Finding& finding, const char* note = "") {
  return OneLine(
      fmt::format("{}: {}{}: {}: {}", place, note, finding.subject, finding.code, finding.message));
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json list = Json::MakeArray();
  for (const Finding& finding : findings) {
    list.Append(Json::MakeObject(
        {{"path", finding.subject}, {"code", finding.code}, {"message", finding.message}}));
  }
  return list;
}

}  // namespace

void AdmissionCheck::Add(const std::string& place, const Manifest& manifest) {
  AdmissionOfOne one{.place = place, .findings = Admit(manifest)};
  for (std::size_t i = 0; i < manifest.notes.size(); ++i) {
    const std::string& note = manifest.notes[i];
    if (std::ranges::find(one.findings, note, &Finding::message) != one.findings.end()) {
      continue;
    }
    one.notes.push_back(
        {.code = "recorded", .subject = fmt::format("$.notes[{}]", i), .message = note});
  }
  one.run_id = manifest.run_id;
  one.sha256 = Sha256HexOf(ToJson(manifest).Dump());
  notes_.Add(manifest);
  noted_.emplace_back(manifests_++);
  all_.push_back(std::move(one));
}

void AdmissionCheck::AddUnreadable(const std::string& place, const Error& error) {
  std::string_view where = error.where;
  const std::string prefix = place + ": ";
  where = where.starts_with(prefix) ? where.substr(prefix.size()) : "$";
  noted_.emplace_back();
  all_.push_back(
      {.place = place,
       .findings = {
           {.code = "unreadable", .subject = std::string(where), .message = error.message}}});
}

void AdmissionCheck::FindTwins() {
  std::map<std::string, const AdmissionOfOne*> first;
  for (AdmissionOfOne& one : all_) {
    if (one.run_id.empty()) continue;
    const auto [twin, is_new] = first.emplace(one.run_id, &one);
    if (is_new || twin->second->sha256 == one.sha256) continue;
    one.findings.push_back(
        {.code = "duplicate_run_id",
         .subject = "$.run_id",
         .message = fmt::format("'{}' is that of {}, too, which is another run; expected "
                                "each once",
                                one.run_id, twin->second->place)});
  }
}

std::vector<AdmissionOfOne> AdmissionCheck::Finish() {
  FindTwins();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (noted_[i]) std::ranges::move(notes_.Of(*noted_[i]), std::back_inserter(all_[i].notes));
  }
  return std::move(all_);
}

std::string LinesOf(const AdmissionOfOne& one, bool quiet) {
  std::string text;
  for (const Finding& finding : one.findings) text += Line(one.place, finding);
  if (quiet) return text;
  for (const Finding& note : one.notes) text += Line(one.place, note, "note: ");
  return text;
}

Json AdmissionJson(const std::vector<AdmissionOfOne>& all, std::size_t skipped_files) {
  Json list = Json::MakeArray();
  for (const AdmissionOfOne& one : all) {
    list.Append(Json::MakeObject({{"file", one.place},
                                  {"admitted", one.findings.empty()},
                                  {"findings", FindingsJson(one.findings)},
                                  {"notes", FindingsJson(one.notes)}}));
  }
  return Json::MakeObject({{"schema", "rharness.admission/v1"},
                           {"manifests", std::move(list)},
                           {"skipped_files", skipped_files}});
}

}  // namespace rharness
