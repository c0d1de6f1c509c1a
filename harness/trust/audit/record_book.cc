// Entries held to records by kind and name.
#include "harness/trust/audit/record_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/trust/audit/site_records.h"

namespace rharness {
namespace {

std::string KeyOf(std::string_view kind, std::string_view name) {
  std::string key;
  key.reserve(kind.size() + 1 + name.size());
  key.append(kind).append(1, '\0').append(name);
  return key;
}

bool MayChange(std::string_view kind) {
  return kind == kPolicyKind || kind == kWaiverKind || kind == kSubstituteKind;
}

bool IsException(std::string_view kind) { return kind == kWaiverKind || kind == kSubstituteKind; }

// Names of repeated entries of a policy differ only in " #2", " #3".
std::string GroupOf(const std::string& key) {
  const auto at = key.rfind(" #");
  if (at == key.npos || at + 2 == key.size()) return key;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(key.begin() + static_cast<std::ptrdiff_t>(at) + 2, key.end(), is_digit)
             ? key.substr(0, at)
             : key;
}

void MoveBehind(std::vector<HeldRecord>* more, std::vector<HeldRecord>* records) {
  std::ranges::move(*more, std::back_inserter(*records));
}

Status TakeName(const std::string& name, const std::filesystem::path& path,
                std::vector<std::string>* names) {
  if (std::ranges::find(*names, name) != names->end()) {
    return InvalidInput(fmt::format("a second one by the name of '{}'; an audit log knows them by "
                                    "the last part of their path",
                                    TerminalSafe(name)),
                        path.string());
  }
  names->push_back(name);
  return {};
}

}  // namespace

RecordBook::RecordBook(std::vector<HeldRecord> records) : records_(std::move(records)) { Index(); }

void RecordBook::Index() {
  by_name_.clear();
  by_name_.reserve(records_.size());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    by_name_.try_emplace(KeyOf(records_[i].kind, records_[i].name), State{.at = i, .entry = {}});
  }
}

Result<RecordBook> RecordBook::Load(const RecordSources& sources) {
  ASSIGN_OR_RETURN(HeldRecords held, ReadHeldRecords(sources.history));
  std::vector<std::string> baselines, policies;
  for (const auto& folder : sources.baselines) {
    RETURN_IF_ERROR(TakeName(SiteName(folder), folder, &baselines));
    ASSIGN_OR_RETURN(std::vector<HeldRecord> more, ReadBaselineRecords(folder));
    MoveBehind(&more, &held.records);
  }
  for (const auto& file : sources.policies) {
    RETURN_IF_ERROR(TakeName(SiteName(file), file, &policies));
    ASSIGN_OR_RETURN(std::vector<HeldRecord> more, ReadPolicyRecords(file));
    MoveBehind(&more, &held.records);
  }
  RecordBook book(std::move(held.records));
  book.baseline_names_ = std::move(baselines);
  book.derived_ = std::move(held.derived);
  return book;
}

bool RecordBook::IsHeldHere(const AuditEntry& entry) const {
  if (entry.kind == kBaselineKind) {
    const std::string name = entry.name.substr(0, entry.name.rfind('/'));
    return std::ranges::find(baseline_names_, name) != baseline_names_.end();
  }
  return std::ranges::find(kHeldKinds, entry.kind) != std::end(kHeldKinds);
}

Status RecordBook::Take(const AuditEntry& entry) {
  const std::string key = KeyOf(entry.kind, entry.name);
  const auto found = by_name_.find(key);
  if (IsException(entry.kind)) exceptions_.insert_or_assign(key, entry);
  const auto fail = [&](const std::string& why) {
    return IntegrityError(EntryWords(entry.index, entry.kind, entry.name) + " " + why);
  };
  if (found == by_name_.end()) {
    if (!IsHeldHere(entry)) {
      if (!MayChange(entry.kind)) ++not_looked_at_;
      return {};
    }
    return fail("is not there any more: it was removed");
  }
  State& state = found->second;
  const std::string now = ToHex(records_[state.at].sha256);
  if (MayChange(entry.kind)) {
    state.entry.reset();  // the last of its contents counts
    if (entry.sha256 == now) state.entry = entry.index;
    return {};
  }
  if (entry.sha256 != now) {
    return fail(
        fmt::format("was changed: the digest of what is there now is {}, and of what was "
                    "entered {}",
                    now, entry.sha256));
  }
  if (state.entry) return fail(fmt::format("was entered before, as entry {}", *state.entry));
  state.entry = entry.index;
  return {};
}

std::vector<ChangedException> RecordBook::Exceptions() const {
  // By group: removing a waiver renumbers later ones of its name.
  std::map<std::string, std::set<std::string>> now, entered;
  for (const HeldRecord& one : records_) {
    if (IsException(one.kind)) now[GroupOf(KeyOf(one.kind, one.name))].insert(ToHex(one.sha256));
  }
  for (const auto& [key, entry] : exceptions_) entered[GroupOf(key)].insert(entry.sha256);
  std::vector<ChangedException> changed;
  for (const auto& [key, entry] : exceptions_) {
    const std::string policy = entry.name.substr(0, entry.name.find('/'));
    if (!by_name_.contains(KeyOf(kPolicyKind, policy))) continue;
    const std::string group = GroupOf(key);
    if (now[group].contains(entry.sha256)) continue;
    const auto held = by_name_.find(key);
    const bool is_there =
        held != by_name_.end() && !entered[group].contains(ToHex(records_[held->second.at].sha256));
    changed.push_back({entry.index, entry.kind, entry.name, is_there});
  }
  std::ranges::sort(changed, {}, &ChangedException::index);
  return changed;
}

bool RecordBook::HasApprovals() const {
  return std::ranges::any_of(records_, [](const HeldRecord& one) {
    return one.kind == "deletion" || one.kind == "signed_statement" ||
           one.kind == "signed_retirement";
  });
}

std::vector<const HeldRecord*> RecordBook::Missing() const {
  std::vector<const HeldRecord*> missing;
  for (const HeldRecord& record : records_) {
    const auto found = by_name_.find(KeyOf(record.kind, record.name));
    if (found != by_name_.end() && !found->second.entry) missing.push_back(&record);
  }
  return missing;
}

}  // namespace rharness
