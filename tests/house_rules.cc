// The checks of the source tree, as tables and text scans.
#include "tests/house_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <map>
#include <regex>
#include <set>
#include <span>

namespace rharness {
namespace {

constexpr int kHeaderLines = 150;
constexpr int kSourceLines = 400;
constexpr int kReadmeLines = 60;

struct Floor {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

std::vector<std::string_view> Above(std::vector<std::string_view> folders,
                                    const std::vector<std::string_view>& more) {
  folders.insert(folders.end(), more.begin(), more.end());
  return folders;
}

const std::vector<std::string_view> kBelowRerun = {
    "harness/base/",    "compare/",        "harness/manifest/", "harness/launch/",
    "harness/observe/", "harness/tables/", "probes/order/"};
const std::vector<std::string_view> kBelowDrill = {
    "harness/base/",     "compare/",        "reports/",        "harness/manifest/",
    "harness/history/",  "harness/launch/", "harness/intake/", "harness/rerun/",
    "harness/dispatch/", "harness/policy/", "probes/order/"};
const std::vector<std::string_view> kAboveDrill = {
    "harness/base/",     "compare/",        "reports/",        "harness/manifest/",
    "harness/history/",  "harness/launch/", "harness/intake/", "harness/rerun/",
    "harness/dispatch/", "harness/drill/",  "harness/policy/", "probes/order/"};
const std::vector<std::string_view> kFromManifest = {"harness/base/", "harness/manifest/"};
const std::vector<std::string_view> kFromHistory = {"harness/base/", "reports/",
                                                    "harness/manifest/", "harness/history/"};

// In the order of the floors; every folder may include itself.
const std::vector<Floor>& Floors() {
  const auto above_isolate = Above(kAboveDrill, {"harness/isolate/"});
  const auto above_comparison = Above(kAboveDrill, {"harness/comparison/", "harness/observe/"});
  const auto above_incident =
      Above(kAboveDrill, {"harness/comparison/", "harness/attestation/", "harness/approval/"});
  static const std::vector<Floor> floors = {
      {"harness/base/", {}},
      {"probes/order/", {"harness/base/"}},
      {"compare/", {"harness/base/", "probes/order/"}},
      {"probes/", {"harness/base/", "harness/manifest/"}},
      {"harness/manifest/", {"harness/base/"}},
      {"harness/policy/", {"harness/base/"}},
      {"reports/", {"harness/base/", "compare/", "probes/order/"}},
      {"harness/intake/", {"harness/base/", "harness/manifest/", "compare/"}},
      {"harness/lint/", kFromManifest},
      {"harness/history/", kFromManifest},
      {"harness/launch/", kFromManifest},
      {"harness/observe/", kFromManifest},
      {"harness/tables/", {"harness/base/"}},
      {"harness/rerun/", kBelowRerun},
      {"harness/fetch/",
       {"harness/base/", "harness/manifest/", "harness/intake/", "harness/tables/",
        "harness/rerun/"}},
      {"harness/rebuild/",
       {"harness/base/", "harness/manifest/", "harness/intake/", "harness/fetch/",
        "harness/launch/", "harness/rerun/"}},
      {"harness/dispatch/",
       {"harness/base/", "harness/manifest/", "harness/launch/", "harness/rerun/"}},
      {"harness/drill/", kBelowDrill},
      {"harness/comparison/", kAboveDrill},
      {"harness/isolate/", kAboveDrill},
      {"harness/gameday/", above_isolate},
      {"harness/objectives/",
       {"harness/base/", "compare/", "reports/", "harness/history/", "harness/intake/",
        "harness/policy/"}},
      {"harness/trends/",
       {"harness/base/", "compare/", "reports/", "harness/manifest/", "harness/history/"}},
      {"harness/serve/", Above(kAboveDrill, {"harness/approval/", "harness/trends/",
                                             "harness/attestation/", "harness/gate/"})},
      {"harness/properties/", kAboveDrill},
      {"harness/onset/", above_comparison},
      {"harness/incident/", above_incident},
      {"harness/gate/", kBelowDrill},
      {"harness/publish/",
       {"harness/base/", "compare/", "reports/", "harness/manifest/", "harness/history/",
        "harness/intake/"}},
      {"harness/attestation/", kAboveDrill},
      {"harness/approval/", Above(kFromHistory, {"harness/attestation/"})},
      {"harness/retention/", Above(kFromHistory, {"harness/policy/"})},
      {"harness/audit/",
       Above(kAboveDrill, {"harness/approval/", "harness/attestation/", "harness/gate/"})},
      {"harness/cli/", {"harness/", "compare/", "reports/", "probes/"}},
      {"scenarios/", {}},
      {"tests/", {"harness/", "compare/", "reports/", "probes/", "scenarios/"}},
  };
  return floors;
}

struct Fence {
  std::string_view library;              // what an include begins with
  std::vector<std::string_view> inside;  // what a path begins with
};

const std::vector<Fence>& Fences() {
  static const std::vector<Fence> fences = {
      {"nlohmann/", {"harness/base/json.cc", "tests/bench/parse_main"}},
      {"rapidjson/", {"harness/base/json_quick.cc"}},
      {"boost/process", {"harness/base/subprocess.cc"}},
      {"boost/version", {"harness/base/subprocess.cc"}},
      {"boost/math", {"compare/stats/distributions.cc"}},
      {"boost/", {}},
      {"soci/",
       {"harness/history/database.", "harness/history/libpq.", "harness/history/sqlite_database.",
        "harness/history/postgresql_database."}},
      {"libpq-fe.h", {"harness/history/libpq.", "tests/"}},
      {"openssl/",
       {"harness/attestation/keys.cc", "harness/base/digest", "harness/cli/build_facts.cc",
        "tests/"}},
      {"archive", {"harness/comparison/bundle.cc", "harness/cli/build_facts.cc", "tests/"}},
      {"pugixml", {"reports/junit_file.cc", "tests/"}},
      {"sqlite3.h",
       {"harness/cli/build_facts.cc", "harness/intake/mlflow_database.cc",
        "harness/manifest/rpm_database.cc", "tests/"}},
      {"curl/", {"harness/intake/libcurl.h"}},
      {"p11-kit/", {"harness/attestation/p11_kit.h"}},
      {"microhttpd.h", {"harness/serve/microhttpd.h"}},
      {"snappy", {"harness/tables/decompress.cc"}},
      {"zstd", {"harness/tables/decompress.cc"}},
      {"CLI/", {"harness/cli/command_line.cc", "probes/command.cc"}},
      {"Eigen/", {"scenarios/digits_blas/", "probes/cpu/std_reduce_tree.cc"}},
      {"yaml-cpp/", {"harness/policy/yaml_reader.", "harness/intake/yaml.cc"}},
      {"cblas", {"scenarios/digits_blas/"}},
      {"format>", {}},
      {"iostream>", {}},
  };
  return fences;
}

bool StartsWithAny(std::string_view text, std::span<const std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

// Asked before a regular expression is, which takes a thousand times as long.
bool HasAnyOf(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

bool IsHeader(std::string_view path) { return path.ends_with(".h"); }

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

struct Include {
  int line = 1;
  bool ours = false;   // in quotes
  std::string target;  // with the closing bracket when in brackets
};

std::vector<Include> Includes(std::string_view text) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*(["<])([^">]*[">]))re");
  std::vector<Include> includes;
  int line = 0;
  for (const std::string_view one : Lines(text)) {
    ++line;
    if (!HasAnyOf(one, {"include"})) continue;
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(one.begin(), one.end(), match, pattern)) continue;
    Include include{.line = line, .ours = match[1] == "\"", .target = match[2]};
    if (include.ours) include.target.pop_back();
    includes.push_back(std::move(include));
  }
  return includes;
}

std::string FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

}  // namespace

bool IsCode(std::string_view path) {
  return IsHeader(path) || path.ends_with(".cc") || path.ends_with(".cu");
}

std::string Violation::ToString() const { return fmt::format("{}:{}: {}", path, line, message); }

Violations CheckShape(std::string_view path, std::string_view text) {
  if (!IsCode(path)) return {};
  Violations found;
  const auto lines = static_cast<int>(Lines(text).size());
  const int limit = IsHeader(path) ? kHeaderLines : kSourceLines;
  if (lines > limit) {
    found.push_back({std::string(path), lines, fmt::format("{} lines; at most {}", lines, limit)});
  }
  if (!text.starts_with("//")) {
    found.push_back({std::string(path), 1, "expected a comment that says the file's role"});
  }
  return found;
}

Violations CheckGuard(std::string_view path, std::string_view text) {
  if (!IsHeader(path)) return {};
  std::string guard = "RHARNESS_";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    guard += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  guard += '_';
  const std::vector<std::string_view> lines = Lines(text);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!lines[i].starts_with("#")) continue;
    if (lines[i] == "#ifndef " + guard && lines[i + 1] == "#define " + guard) return {};
    return {{std::string(path), static_cast<int>(i) + 1, "expected the guard " + guard}};
  }
  return {{std::string(path), 1, "expected the guard " + guard}};
}

Violations CheckFloors(std::string_view path, std::string_view text) {
  if (!IsCode(path)) return {};
  const auto& floors = Floors();
  const auto floor = std::find_if(floors.begin(), floors.end(),
                                  [&](const Floor& one) { return path.starts_with(one.folder); });
  if (floor == floors.end()) return {{std::string(path), 1, "this folder stands on no floor"}};
  Violations found;
  for (const Include& include : Includes(text)) {
    if (!include.ours || include.target.starts_with(floor->folder) ||
        StartsWithAny(include.target, floor->may_include)) {
      continue;
    }
    found.push_back({std::string(path), include.line,
                     fmt::format("{} may not include {}", floor->folder, include.target)});
  }
  return found;
}

Violations CheckFences(std::string_view path, std::string_view text) {
  if (!IsCode(path)) return {};
  Violations found;
  const auto& fences = Fences();
  for (const Include& include : Includes(text)) {
    const auto fence = std::find_if(fences.begin(), fences.end(), [&](const Fence& one) {
      return include.target.starts_with(one.library);
    });
    if (fence == fences.end() || StartsWithAny(path, fence->inside)) continue;
    found.push_back({std::string(path), include.line,
                     fmt::format("{} is included outside of its fence", fence->library)});
  }
  return found;
}

Violations CheckWords(std::string_view path, std::string_view text) {
  // Split, so that this file passes. A user of one letter is an example.
  static const std::regex words(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b");
  static const std::regex places("(^|[^A-Za-z0-9_.])/(home|root|work|Users)/[A-Za-z0-9_.-]{2,}");
  Violations found;
  int line = 0;
  for (const std::string_view one : Lines(text)) {
    ++line;
    if (one.find_first_of("DX") != one.npos &&  // each of the words has one
        std::regex_search(one.begin(), one.end(), words)) {
      found.push_back({std::string(path), line, "a note of work left to do"});
    }
    if (HasAnyOf(one, {"/home/", "/root/", "/work/", "/Users/"}) &&
        std::regex_search(one.begin(), one.end(), places)) {
      found.push_back({std::string(path), line, "a folder of somebody's machine"});
    }
  }
  return found;
}

Violations CheckReadme(std::string_view path, std::string_view text,
                       const std::vector<std::string>& files) {
  static const std::regex named(R"(`([a-z0-9_/]+\.(h|cc|cu|py))`)");
  const std::set<std::string_view> known(files.begin(), files.end());
  const std::string folder = FolderOf(path);
  const std::vector<std::string_view> lines = Lines(text);
  Violations found;
  if (!folder.empty() && lines.size() > kReadmeLines) {
    found.push_back({std::string(path), static_cast<int>(lines.size()),
                     fmt::format("{} lines; at most {}", lines.size(), kReadmeLines)});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line(lines[i]);
    for (std::sregex_iterator match(line.begin(), line.end(), named), end; match != end; ++match) {
      const std::string name = (*match)[1];
      const std::string suffix = "/" + name;
      const bool there =
          known.contains(name) || std::any_of(files.begin(), files.end(), [&](const auto& file) {
            return file.starts_with(folder) && file.ends_with(suffix);
          });
      if (!there) {
        found.push_back({std::string(path), static_cast<int>(i) + 1, name + " does not exist"});
      }
    }
  }
  return found;
}

Violations CheckFolders(const std::vector<std::string>& files) {
  const std::set<std::string_view> known(files.begin(), files.end());
  std::set<std::string> folders;
  for (const std::string& file : files) {
    if (IsCode(file) || file.ends_with("CMakeLists.txt")) folders.insert(FolderOf(file));
  }
  Violations found;
  for (const std::string& folder : folders) {
    if (folder.starts_with("tests/")) continue;
    const std::string readme = folder.empty() ? "README.md" : folder + "/README.md";
    if (!known.contains(readme)) found.push_back({readme, 1, "expected: what the folder is for"});
  }
  return found;
}

Violations CheckTypes(const std::map<std::string, std::string>& tree) {
  static const std::regex type(
      R"(^(?:struct|class|enum class) ([A-Za-z0-9_]+)(?: final)?(?: ?:[^:;]*| ?\{.*|)$)");
  static const std::regex space(R"(^namespace ([A-Za-z0-9_:]+) \{)");
  std::map<std::string, std::string> first;  // where a type is defined, by its whole name
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".h") || path.starts_with("tests/")) continue;
    const std::string stripped = StripCode(text);
    const std::vector<std::string_view> lines = Lines(stripped);
    std::string in;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string line(lines[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      std::smatch match;
      if (std::regex_search(line, match, space)) in = match[1];
      if (!std::regex_match(line, match, type)) continue;
      const std::string name = in + "::" + match[1].str();
      const auto [at, is_new] = first.emplace(name, path);
      if (is_new || at->second == path) continue;
      found.push_back({path, static_cast<int>(i) + 1,
                       fmt::format("{} is defined in {}, too", name, at->second)});
    }
  }
  return found;
}

}  // namespace rharness
