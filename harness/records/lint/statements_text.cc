// Statements of scripts and logs: words of a line that name a subject, with the text after them.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "harness/records/lint/statements.h"
#include "harness/records/lint/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostLineBytes = 64 << 10;

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// f(line, number from 1) of each line that is not too long.
template <class F>
void ForLines(std::string_view text, F f) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() <= kMostLineBytes) f(line, number);
  }
}

std::size_t SkipBlanks(std::string_view line, std::size_t at) {
  while (at < line.size() && IsBlank(line[at])) ++at;
  return at;
}

// A number, a quoted text or a word at `at`; empty: none of these.
std::string ValueAt(std::string_view line, std::size_t at) {
  at = SkipBlanks(line, at);
  if (at >= line.size()) return "";
  const char quote = line[at];
  if (quote == '"' || quote == '\'') {
    const auto end = line.find(quote, at + 1);
    return end == line.npos ? "" : std::string(line.substr(at + 1, end - at - 1));
  }
  std::size_t end = at;
  while (end < line.size() &&
         (IsWord(line[end]) || std::string_view(".+-").find(line[end]) != std::string_view::npos)) {
    ++end;
  }
  while (end > at && (line[end - 1] == '.' || line[end - 1] == '-')) --end;
  return std::string(line.substr(at, end - at));
}

// The literal integer that is the only argument of the call whose '(' is at `at`.
std::optional<std::string> OnlyInteger(std::string_view line, std::size_t at) {
  const auto close = line.find(')', at);
  if (close == line.npos) return std::nullopt;
  std::string digits;
  for (const char c : line.substr(at + 1, close - at - 1)) {
    if (IsDigit(c)) {
      digits += c;
    } else if (!IsBlank(c)) {
      return std::nullopt;
    }
  }
  return digits.empty() ? std::nullopt : std::optional(digits);
}

// Sources: the documentation of random, numpy.random, torch, jax, tensorflow, transformers and
// lightning.
constexpr std::array<std::string_view, 10> kSeeding = {
    "random.seed(",     "manual_seed(", "manual_seed_all(", "default_rng(", "RandomState(",
    "set_random_seed(", "set_seed(",    "seed_everything(", "PRNGKey(",     "random.key("};

void AddSeedsOfLine(std::string_view line, const std::string& place,
                    std::vector<Statement>* statements) {
  for (const std::string_view call : kSeeding) {
    for (auto at = line.find(call); at != line.npos; at = line.find(call, at + 1)) {
      if (at > 0 && IsWord(line[at - 1])) continue;
      if (const auto seed = OnlyInteger(line, at + call.size() - 1)) {
        statements->push_back({"seed", *seed, Witness::kScript, place});
      }
    }
  }
}

// The "name = value" that a line begins with.
void AddConstantOfLine(std::string_view line, const std::string& place,
                       const std::set<std::string>& subjects, std::vector<Statement>* statements) {
  std::size_t end = 0;
  while (end < line.size() && IsWord(line[end])) ++end;
  const std::size_t equals = SkipBlanks(line, end);
  if (end == 0 || equals + 1 >= line.size() || line[equals] != '=' || line[equals + 1] == '=') {
    return;
  }
  const std::string subject = SubjectOf(line.substr(0, end));
  const std::size_t from = SkipBlanks(line, equals + 1);
  std::string value = ValueAt(line, from);
  const bool literal = !value.empty() && (IsDigit(value[0]) || value[0] == '.' || value[0] == '-');
  // "64 * 2" and "64 if debug else 8" are no constants.
  const std::size_t behind = SkipBlanks(line, from + value.size());
  const bool whole = behind >= line.size() || line[behind] == '#' || line[behind] == ';';
  if (!literal || !whole || !subjects.contains(subject)) return;
  statements->push_back({subject, std::move(value), Witness::kScript, place});
}

// A log's statements on one subject.
struct Said {
  std::string value;
  std::size_t line = 0;
  bool varies = false;
};

class LogReader {
 public:
  LogReader(std::string_view file, const std::set<std::string>& subjects)
      : file_(file), subjects_(subjects) {}

  void Read(std::string_view line, std::size_t number) {
    if (const auto event = line.find(":::MLLOG"); event != line.npos) {
      return ReadEvent(line.substr(event + 8), number);
    }
    for (std::size_t at = 0; at < line.size();) {
      if (!IsWord(line[at]) || IsDigit(line[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < line.size() && (IsWord(line[end]) || line[end] == '-')) ++end;
      ReadWord(line, at, end, number);
      at = end;
    }
  }

  std::vector<Statement> Take() && {
    std::vector<Statement> statements;
    for (const auto& [subject, said] : said_) {
      if (said.varies) continue;
      statements.push_back(
          {subject, said.value, Witness::kLog, fmt::format("{}: line {}", file_, said.line)});
    }
    return statements;
  }

 private:
  void Note(const std::string& subject, std::string value, std::size_t number) {
    if (value.empty()) return;
    const auto [there, is_new] = said_.try_emplace(subject, Said{value, number, false});
    if (!is_new && there->second.value != value) there->second.varies = true;
  }

  void ReadEvent(std::string_view text, std::size_t number) {
    const auto json = ParseJson(text, file_);
    if (!json.ok() || json->Find("key") == nullptr || json->Find("value") == nullptr) return;
    const Json& key = *json->Find("key");
    const Json& value = *json->Find("value");
    if (key.kind() != Json::Kind::kString || value.IsObject() || value.IsArray()) return;
    const std::string subject = SubjectOf(key.AsString());
    if (!subjects_.contains(subject)) return;
    Note(subject, value.kind() == Json::Kind::kString ? value.AsString() : value.Dump(), number);
  }

  // "name: value", "name=value", "'name': value", "name version: 2.1.0", "name==2.1.0".
  void ReadWord(std::string_view line, std::size_t at, std::size_t end, std::size_t number) {
    const std::string subject = SubjectOf(line.substr(at, end - at));
    const bool version = subject.starts_with("version of ") ||
                         subjects_.contains(fmt::format("version of {}", subject));
    if (!version && !subjects_.contains(subject)) return;
    std::size_t behind = end;
    if (behind < line.size() && (line[behind] == '"' || line[behind] == '\'')) ++behind;
    behind = SkipBlanks(line, behind);
    if (version) return ReadVersion(line, behind, subject, number);
    if (behind >= line.size() || (line[behind] != ':' && line[behind] != '=')) return;
    if (behind + 1 < line.size() && line[behind + 1] == '=') return;  // a comparison
    Note(subject, ValueAt(line, behind + 1), number);
  }

  void ReadVersion(std::string_view line, std::size_t at, const std::string& subject,
                   std::size_t number) {
    constexpr std::string_view kWord = "version";
    if (line.substr(at).starts_with(kWord)) at += kWord.size();
    while (at < line.size() && (IsBlank(line[at]) || line[at] == ':' || line[at] == '=')) ++at;
    if (at < line.size() && line[at] == 'v') ++at;
    const std::string value = ValueAt(line, at);
    if (value.empty() || !IsDigit(value[0]) || value.find('.') == value.npos) return;
    Note(subject.starts_with("version of ") ? subject : "version of " + subject, value, number);
  }

  std::string file_;
  const std::set<std::string>& subjects_;
  std::map<std::string, Said> said_;
};

}  // namespace

std::vector<Statement> StatementsOfScript(std::string_view text, std::string_view file,
                                          const std::set<std::string>& subjects) {
  std::vector<Statement> statements;
  ForLines(text, [&](std::string_view line, std::size_t number) {
    const std::string_view code = line.substr(0, line.find('#'));
    const std::string place = fmt::format("{}: line {}", file, number);
    AddSeedsOfLine(code, place, &statements);
    AddConstantOfLine(code, place, subjects, &statements);
  });
  return statements;
}

std::vector<Statement> StatementsOfLog(std::string_view text, std::string_view file,
                                       const std::set<std::string>& subjects) {
  LogReader reader(file, subjects);
  ForLines(text, [&](std::string_view line, std::size_t number) { reader.Read(line, number); });
  return std::move(reader).Take();
}

}  // namespace rharness
