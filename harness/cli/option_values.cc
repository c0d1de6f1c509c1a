// By the same checks as those of the command line.
#include "harness/cli/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

#include "harness/base/files.h"
#include "harness/base/spelling.h"

namespace rharness {
namespace {

template <class Number>
bool ReadNumber(const std::string& text, Number* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool Store(const std::string& text, bool* out) {
  *out = text == "true";
  return text == "true" || text == "false";
}
bool Store(const std::string& text, int* out) { return ReadNumber(text, out); }
bool Store(const std::string& text, std::uint64_t* out) { return ReadNumber(text, out); }
bool Store(const std::string& text, double* out) { return ReadNumber(text, out); }
bool Store(const std::string& text, std::optional<std::uint64_t>* out) {
  return ReadNumber(text, &out->emplace());
}
bool Store(const std::string& text, std::string* out) {
  *out = text;
  return true;
}
bool Store(const std::string& text, std::filesystem::path* out) {
  *out = text;
  return true;
}
bool Store(const std::string& text, std::vector<std::string>* out) {
  out->push_back(text);
  return true;
}

Status StoreValue(const OptionFacts& facts, std::string text, const ProfileOption& from) {
  const std::string given = text;
  for (const auto& check : facts.checks) {
    const std::string wrong = check(&text);
    if (!wrong.empty()) {
      return InvalidInput(TerminalSafe(fmt::format("{}: {}", from.name, wrong)), from.where);
    }
  }
  if (std::visit([&](auto* target) { return Store(text, target); }, facts.target)) return {};
  const std::string expected = facts.IsFlag() ? "true or false" : facts.ValueWord();
  return InvalidInput(TerminalSafe(fmt::format("{}: '{}' is not {}", from.name, given, expected)),
                      from.where);
}

Status Apply(const ProfileOption& from, Option* option) {
  const OptionFacts& facts = option->facts();
  if (option->given() > 0) return {};
  if (from.values.size() != 1 && !facts.IsRepeatable()) {
    return InvalidInput(
        TerminalSafe(fmt::format("{} takes one value, and has {}", from.name, from.values.size())),
        from.where);
  }
  for (const std::string& value : from.values) {
    RETURN_IF_ERROR(StoreValue(facts, value, from));
  }
  const auto* flag = std::get_if<bool*>(&facts.target);
  const bool unset = flag != nullptr && !**flag;
  option->SetGiven(unset ? 0 : from.values.size());
  return {};
}

}  // namespace

Status ApplyProfile(const Profile& profile, const std::vector<std::string>& barred,
                    Command* command) {
  for (const ProfileOption& from : profile.options) {
    std::vector<std::string> names;
    Option* found = nullptr;
    for (const auto& option : command->options()) {
      const OptionFacts& facts = option->facts();
      if (facts.IsPositional() || std::ranges::count(barred, facts.LongName()) > 0) continue;
      names.push_back(facts.LongName().substr(2));
      if (names.back() == from.name) found = option.get();
    }
    if (found == nullptr) {
      const std::string nearest = NearestName(from.name, names);
      return InvalidInput(
          TerminalSafe(fmt::format("'{}' in the profile '{}' is no option of `rharness {}` that a "
                                   "profile can set{}",
                                   from.name, profile.name, command->name(),
                                   nearest.empty() ? "" : "; did you mean " + nearest + "?")),
          from.where);
    }
    RETURN_IF_ERROR(Apply(from, found));
  }
  return {};
}

}  // namespace rharness
