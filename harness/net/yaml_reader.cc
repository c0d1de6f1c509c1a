// YAML with limits and places; see yaml_reader.h.
#include "harness/net/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kMostEntries = 10'000;
constexpr std::size_t kMostValues = 250'000;  // aliases count expanded

std::string TooMany() {
  return fmt::format(
      "more than {} values, with every alias as what it stands for; a policy has at "
      "most that",
      kMostValues);
}

// Sees a parser's events before any is kept, and ends it when there are too many.
class Counter : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Add(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Add(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    Add(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Add(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Add(mark);
  }
  void OnMapEnd() override {}

 private:
  void Add(const YAML::Mark& mark) {
    if (++values_ > kMostValues) throw YAML::ParserException(mark, TooMany());
  }

  std::size_t values_ = 0;
};

// Reads at most two: after "[]," the parser makes empty documents without end.
bool HasSecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Counter counter;
  return parser.HandleNextDocument(counter) && parser.HandleNextDocument(counter);
}

std::string Names(const std::vector<YamlReader::Member>& members) {
  std::string names;
  for (const YamlReader::Member& member : members) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", member.name);
  }
  return names;
}

}  // namespace

Result<YAML::Node> YamlReader::Load(const std::string& text) const {
  if (HasSecondDocument(text))
    return InvalidInput("a second YAML document; a policy is one", file_);
  return YAML::Load(text);
}

Error YamlReader::Fail(const YAML::Mark& mark, std::string message) const {
  if (mark.is_null()) return InvalidInput(std::move(message), file_);
  return InvalidInput(std::move(message), fmt::format("{}:{}", file_, mark.line + 1));
}

Status YamlReader::Count(const YAML::Node& node) {
  if (++values_ <= kMostValues) return {};
  return Fail(node.Mark(), TooMany());
}

Status YamlReader::ReadMap(const YAML::Node& node, std::string_view what,
                           const std::vector<Member>& members) {
  RETURN_IF_ERROR(Count(node));
  if (!node.IsMap()) return Fail(node.Mark(), fmt::format("expected {} as a mapping", what));
  std::set<std::string> seen;
  for (const auto& pair : node) {
    std::string key;
    RETURN_IF_ERROR(ReadText(pair.first, "a key", &key));
    const auto member = std::ranges::find(members, key, &Member::name);
    if (member == members.end()) {
      return Fail(pair.first.Mark(), fmt::format("unknown key '{}' in {}; expected one of {}",
                                                 TerminalSafe(key), what, Names(members)));
    }
    if (!seen.insert(key).second) {
      return Fail(pair.first.Mark(), fmt::format("'{}' is there twice in {}", key, what));
    }
    RETURN_IF_ERROR(member->read(pair.second));
  }
  for (const Member& member : members) {
    if (member.required && !seen.contains(std::string(member.name))) {
      return Fail(node.Mark(), fmt::format("{} lacks '{}'", what, member.name));
    }
  }
  return {};
}

Status YamlReader::ReadList(const YAML::Node& node, std::string_view what, const Handler& read) {
  RETURN_IF_ERROR(Count(node));
  if (!node.IsSequence()) return Fail(node.Mark(), fmt::format("expected {} as a list", what));
  if (node.size() > kMostEntries) {
    return Fail(node.Mark(), fmt::format("{} {}; at most {}", node.size(), what, kMostEntries));
  }
  for (const YAML::Node& one : node) RETURN_IF_ERROR(read(one));
  return {};
}

Status YamlReader::ReadText(const YAML::Node& node, std::string_view what, std::string* out) {
  RETURN_IF_ERROR(Count(node));
  if (!node.IsScalar() || node.Scalar().find_first_not_of(" \t\r\n") == std::string::npos) {
    return Fail(node.Mark(), fmt::format("expected {} as text that is not empty", what));
  }
  *out = node.Scalar();
  return {};
}

// A mapping whose keys are names.
Status YamlReader::ReadNamed(
    const YAML::Node& node, std::string_view what,
    const std::function<Status(const std::string&, const YAML::Node&)>& read) {
  RETURN_IF_ERROR(Count(node));
  if (!node.IsMap()) return Fail(node.Mark(), fmt::format("expected {} as a mapping", what));
  if (node.size() > kMostEntries) {
    return Fail(node.Mark(), fmt::format("{} {}; at most {}", node.size(), what, kMostEntries));
  }
  std::set<std::string> seen;
  for (const auto& pair : node) {
    std::string key;
    RETURN_IF_ERROR(ReadText(pair.first, "a name", &key));
    if (!seen.insert(key).second) {
      return Fail(pair.first.Mark(),
                  fmt::format("'{}' is there twice in {}", TerminalSafe(key), what));
    }
    RETURN_IF_ERROR(read(key, pair.second));
  }
  return {};
}

Status YamlReader::ReadNumber(const YAML::Node& node, std::string_view what, double above,
                              double most, double* out) {
  std::string text;
  RETURN_IF_ERROR(ReadText(node, what, &text));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out > above && *out <= most) {
    return {};
  }
  std::string_view bare = what;
  if (bare.starts_with("a ")) bare.remove_prefix(2);
  return Fail(node.Mark(), fmt::format("'{}' is no {}; expected a number above {}, at most {:.10g}",
                                       TerminalSafe(text), bare, above, most));
}

std::string YamlReader::Where(const YAML::Node& node) const {
  return fmt::format("{}:{}", file_, node.Mark().line + 1);
}

}  // namespace rharness
