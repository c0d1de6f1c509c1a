// Differences of two JSON texts, as a sentence.
#include "harness/history/other_content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTold = 3;
constexpr std::size_t kValueBytes = 80;

class DifferenceList {
 public:
  void Compare(const std::string& path, const Json& there, const Json& here) {
    if (there.IsObject() && here.IsObject()) return CompareMembers(path, there, here);
    if (there.IsArray() && here.IsArray() && there.AsArray().size() == here.AsArray().size()) {
      for (std::size_t i = 0; i < there.AsArray().size(); ++i) {
        Compare(fmt::format("{}[{}]", path, i), there.AsArray()[i], here.AsArray()[i]);
      }
      return;
    }
    if (there.Dump() != here.Dump()) Add(path, &there, &here);
  }
  std::string Words() const {
    const std::string more =
        count_ > texts_.size() ? fmt::format(", and {} more", count_ - texts_.size()) : "";
    return fmt::format("{}{}", fmt::join(texts_, "; "), more);
  }

 private:
  void CompareMembers(const std::string& path, const Json& there, const Json& here) {
    for (const auto& [name, value] : there.AsObject()) {
      const Json* other = here.Find(name);
      const std::string at = path + "." + name;
      other == nullptr ? Add(at, &value, nullptr) : Compare(at, value, *other);
    }
    for (const auto& [name, value] : here.AsObject()) {
      if (there.Find(name) == nullptr) Add(path + "." + name, nullptr, &value);
    }
  }
  // Null: not there.
  void Add(const std::string& path, const Json* there, const Json* here) {
    if (++count_ > kMostTold) return;
    texts_.push_back(
        fmt::format("{} is {} there, {} here", TerminalSafe(path), Shown(there), Shown(here)));
  }
  static std::string Shown(const Json* value) {
    if (value == nullptr) return "missing";
    if (value->IsArray()) return fmt::format("a list of {}", value->AsArray().size());
    const std::string text = value->Dump();
    return TerminalSafe(text.size() > kValueBytes ? text.substr(0, kValueBytes) + "..." : text);
  }

  std::vector<std::string> texts_;
  std::size_t count_ = 0;
};

}  // namespace

std::string DifferencesOf(const Json& there, const Json& here) {
  DifferenceList list;
  list.Compare("$", there, here);
  return list.Words();
}

Error OtherContent(const std::string& run_id, std::string_view there, std::string_view here,
                   std::string where) {
  const auto held = ParseJson(there, "there");
  const auto given = ParseJson(here, "here");
  const std::string differences = held.ok() && given.ok() ? DifferencesOf(*held, *given) : "";
  const std::string id = TerminalSafe(run_id);
  return InvalidInput(
      fmt::format("run '{}' is in the history with another manifest{}{}; a history is append-only: "
                  "give the corrected manifest another run_id and add it, and take the old run out "
                  "of drills with `rharness history retire {} --reason ...`",
                  id, differences.empty() ? "" : ": ", differences, id),
      std::move(where));
}

}  // namespace rharness
