// Names that clash: of types, and of functions that hide one of their folder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <utility>

#include "tests/house_rules.h"

namespace rharness {
namespace {

// "int, const Json&" of "int a, const Json& b = {}": what tells overloads apart.
std::string TypesOf(const std::string& parameters) {
  static const std::regex space(R"(\s+)"), name(R"(^(.*[\s&*>])\w+$)");
  std::string types, one;
  int depth = 0;
  for (const char c : parameters + ",") {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) {
      one += c;
      continue;
    }
    one = std::regex_replace(one.substr(0, one.find('=')), space, " ");
    one.erase(0, one.find_first_not_of(' '));
    one.erase(one.find_last_not_of(' ') + 1);
    std::smatch match;
    if (std::regex_match(one, match, name)) one = match[1];
    one.erase(one.find_last_not_of(' ') + 1);
    types += (types.empty() ? "" : ", ") + std::exchange(one, "");
  }
  return types;
}

// "Interrupted()" of "bool Interrupted()"; empty for what is no function.
std::string SignatureOf(const std::string& head) {
  static const std::regex function(
      R"(^\s*(?:[\w:<>,&*\[\]\s]*[\s&*>])(\w+)\s*\(([^{};]*)\)\s*(?:noexcept)?\s*$)");
  static const std::regex other(R"(^\s*(using|typedef|return|struct|class|enum|static_assert)\b)");
  std::smatch match;
  if (std::regex_search(head, other) || !std::regex_match(head, match, function)) return "";
  return fmt::format("{}({})", match[1].str(), TypesOf(match[2]));
}

struct Signature {
  std::string text;
  int line = 1;
  bool unnamed = false;
};

// Those at namespace scope.
std::vector<Signature> SignaturesIn(const std::string& stripped) {
  static const std::regex space(R"(^\s*(?:inline )?namespace\b\s*([\w:]*)\s*$)");
  std::vector<Signature> found;
  std::vector<char> scopes;  // 'n': a named namespace, 'u': an unnamed one, 'o': another scope
  std::string head;
  int line = 1, began = 1;
  for (const char c : stripped) {
    const bool outside = std::string(scopes.begin(), scopes.end()).find('o') == std::string::npos;
    if (c == '\n') ++line;
    if (c != '{' && c != '}' && c != ';') {
      if (head.empty() && (c == ' ' || c == '\n')) continue;
      if (head.empty()) began = line;
      head += c;
      continue;
    }
    if (outside && c != '}') {
      const std::string text = SignatureOf(head);
      const bool unnamed = !scopes.empty() && scopes.back() == 'u';
      if (!text.empty()) found.push_back({text, began, unnamed});
    }
    std::smatch match;
    if (c == '{') {
      const bool is_space = outside && std::regex_match(head, match, space);
      scopes.push_back(!is_space ? 'o' : match[1].length() == 0 ? 'u' : 'n');
    }
    if (c == '}' && !scopes.empty()) scopes.pop_back();
    head.clear();
  }
  return found;
}

// A line at the left that defines a type, or declares a function; the name of its namespace.
struct Declared {
  std::string name;  // "rharness::Said"
  int line = 1;
  bool is_type = false;
};

std::vector<Declared> DeclaredIn(const std::string& stripped) {
  static const std::regex type(
      R"(^(?:struct|class|enum class) ([A-Za-z0-9_]+)(?: final)?(?: ?:[^:;]*| ?\{.*|)$)");
  static const std::regex function(R"(^[A-Za-z][\w:<>,&* ]*[ &*>]([A-Z]\w*)\(.*$)");
  static const std::regex space(R"(^namespace ([A-Za-z0-9_:]+) \{)");
  std::vector<Declared> declared;
  std::istringstream lines(stripped);
  std::string in, line;
  for (int i = 1; std::getline(lines, line); ++i) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::smatch match;
    if (std::regex_search(line, match, space)) in = match[1];
    const bool is_type = std::regex_match(line, match, type);
    if (!is_type && !std::regex_match(line, match, function)) continue;
    declared.push_back({in + "::" + match[1].str(), i, is_type});
  }
  return declared;
}

}  // namespace

Violations CheckTypes(const std::map<std::string, std::string>& tree) {
  std::map<std::string, std::string> first;  // where a type is defined, by its whole name
  std::vector<std::pair<std::string, Declared>> functions;
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".h") || path.starts_with("tests/")) continue;
    for (Declared& one : DeclaredIn(StripCode(text))) {
      if (!one.is_type) {
        functions.emplace_back(path, std::move(one));
        continue;
      }
      const auto [at, is_new] = first.emplace(one.name, path);
      if (is_new || at->second == path) continue;
      found.push_back(
          {path, one.line, fmt::format("{} is defined in {}, too", one.name, at->second)});
    }
  }
  for (const auto& [path, one] : functions) {
    const auto at = first.find(one.name);
    if (at == first.end()) continue;
    found.push_back(
        {path, one.line, fmt::format("{} is the name of a type in {}", one.name, at->second)});
  }
  return found;
}

Violations CheckHidden(const std::map<std::string, std::string>& tree) {
  std::map<std::string, std::string> declared;  // FOLDER/SIGNATURE: the header
  std::vector<std::pair<std::string, Signature>> unnamed;
  for (const auto& [path, text] : tree) {
    if (!IsCode(path) || path.starts_with("tests/")) continue;
    const bool is_header = path.ends_with(".h");
    for (Signature& one : SignaturesIn(StripCode(text))) {
      const std::string key = std::filesystem::path(path).parent_path() / one.text;
      if (is_header) declared.emplace(key, path);
      if (!is_header && one.unnamed) unnamed.emplace_back(path, std::move(one));
    }
  }
  Violations found;
  for (const auto& [path, one] : unnamed) {
    const auto hidden = declared.find(std::filesystem::path(path).parent_path() / one.text);
    if (hidden == declared.end()) continue;
    found.push_back({path, one.line,
                     fmt::format("{} hides that of {} from the sources compiled "
                                 "with it",
                                 one.text, hidden->second)});
  }
  return found;
}

Violations CheckMemberLists(const std::map<std::string, std::string>& tree) {
  static const std::regex list(R"(Is<(\w+)> T>\s+void Members\()");
  std::map<std::string, std::string> first;  // where a noun has its list
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!IsCode(path) || path.starts_with("tests/")) continue;
    const std::string code = StripCode(text);
    for (std::sregex_iterator at(code.begin(), code.end(), list), end; at != end; ++at) {
      const auto [known, is_new] = first.emplace((*at)[1], path);
      if (is_new) continue;
      const auto line = std::count(code.begin(), code.begin() + at->position(), '\n') + 1;
      found.push_back(
          {path, static_cast<int>(line),
           fmt::format("{} has a list of members in {}, too", known->first, known->second)});
    }
  }
  return found;
}

}  // namespace rharness
