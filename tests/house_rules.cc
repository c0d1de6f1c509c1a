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
constexpr std::size_t kReadmeColumns = 120;

struct Floor {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

using Folders = std::vector<std::string_view>;

Folders operator+(Folders folders, const Folders& more) {
  folders.insert(folders.end(), more.begin(), more.end());
  return folders;
}

const Folders kBase = {"harness/base/"};
const Folders kVerdict = kBase + Folders{"harness/verdict/"};
const Folders kNet = kBase + Folders{"harness/net/"};
const Folders kManifest = kVerdict + Folders{"harness/records/manifest/"};
const Folders kCompare = kVerdict + Folders{"compare/", "probes/order/"};
const Folders kRerun = kManifest + kCompare +
                       Folders{"harness/records/logs/", "harness/records/observe/",
                               "harness/execution/launch/", "harness/execution/tables/"};
const Folders kIntake = kManifest + kNet + kCompare;
const Folders kFetch =
    kManifest + kNet +
    Folders{"harness/records/intake/", "harness/execution/tables/", "harness/execution/rerun/"};
const Folders kJudge = kManifest + kCompare + Folders{"harness/execution/rerun/"};
// What a drill is made of, and what is made of drills.
const Folders kDrill = kNet + kCompare +
                       Folders{"reports/", "harness/records/", "harness/history/",
                               "harness/execution/", "harness/judge/"};
const Folders kAboveDrill = kDrill + Folders{"harness/drill/"};
const Folders kTrust = {"harness/trust/attestation/", "harness/trust/approval/"};
const Folders kTold = kBase + kCompare + Folders{"reports/", "harness/history/"};

// In the order of the floors; every folder may include itself. The first that fits a path is its.
const std::vector<Floor>& Floors() {
  static const std::vector<Floor> floors = {
      {"harness/base/", {}},
      {"harness/package/", {}},
      {"harness/net/", kBase},
      {"harness/verdict/", kBase},
      {"probes/order/", kBase},
      {"compare/", kCompare},
      {"probes/endpoint/", kNet},
      {"probes/", kManifest},
      {"reports/", kCompare},
      {"harness/records/manifest/", kVerdict},
      {"harness/records/policy/", kNet},
      {"harness/records/lint/", kManifest},
      {"harness/records/observe/", kManifest},
      {"harness/records/logs/", kManifest + kCompare},
      {"harness/records/intake/", kIntake},
      {"harness/history/", kManifest + kVerdict},
      {"harness/execution/launch/", kManifest},
      {"harness/execution/tables/", kBase},
      {"harness/execution/rerun/", kRerun},
      {"harness/execution/dispatch/",
       kManifest + Folders{"harness/execution/launch/", "harness/execution/rerun/"}},
      {"harness/execution/fetch/", kFetch},
      {"harness/execution/rebuild/",
       kFetch + Folders{"harness/execution/launch/", "harness/execution/fetch/"}},
      {"harness/judge/comparison/", kJudge + Folders{"harness/judge/", "reports/"}},
      {"harness/judge/", kJudge},
      {"harness/drill/", kDrill},
      {"harness/gate/", kDrill},
      {"harness/experiments/isolate/", kAboveDrill},
      {"harness/experiments/gameday/", kAboveDrill + Folders{"harness/experiments/isolate/"}},
      {"harness/experiments/", kAboveDrill},
      {"harness/trust/attestation/", kAboveDrill},
      {"harness/trust/approval/", kManifest + kTold + Folders{"harness/trust/attestation/"}},
      {"harness/trust/retention/", kManifest + kTold + Folders{"harness/records/policy/"}},
      {"harness/trust/audit/", kAboveDrill + kTrust + Folders{"harness/gate/"}},
      {"harness/insight/objectives/", kTold + Folders{"harness/net/", "harness/records/policy/"}},
      {"harness/insight/trends/", kManifest + kTold},
      {"harness/insight/publish/",
       kManifest + kTold + Folders{"harness/net/", "harness/records/intake/"}},
      {"harness/insight/incident/", kAboveDrill + kTrust},
      {"harness/insight/serve/",
       kAboveDrill + kTrust + Folders{"harness/insight/trends/", "harness/gate/"}},
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
      {"nlohmann/", {"harness/base/json.cc", "tests/bench/micro/"}},
      {"rapidjson/", {"harness/base/json_quick.cc"}},
      {"boost/process", {"harness/base/subprocess.cc"}},
      {"boost/version", {"harness/base/subprocess.cc"}},
      {"boost/math", {"compare/stats/distributions.cc", "tests/bench/micro/"}},
      {"boost/", {}},
      {"soci/",
       {"harness/history/database.", "harness/history/libpq.", "harness/history/sqlite_database.",
        "harness/history/postgresql_database.", "harness/history/word_column.h"}},
      {"libpq-fe.h", {"harness/history/libpq.", "tests/"}},
      {"openssl/",
       {"harness/trust/attestation/keys.cc", "harness/base/digest", "harness/base/hmac.cc",
        "harness/base/base64.cc", "harness/cli/build_facts.cc", "tests/"}},
      {"archive", {"harness/judge/comparison/bundle.cc", "harness/cli/build_facts.cc", "tests/"}},
      {"pugixml", {"reports/junit_file.cc", "tests/"}},
      {"sqlite3.h",
       {"harness/cli/build_facts.cc", "harness/base/sqlite_file.cc",
        "harness/records/manifest/rpm_database.cc", "tests/"}},
      {"curl/", {"harness/net/libcurl.h"}},
      {"p11-kit/", {"harness/trust/attestation/p11_kit.h"}},
      {"microhttpd.h", {"harness/insight/serve/microhttpd.h"}},
      {"snappy", {"harness/execution/tables/decompress.cc"}},
      {"zstd", {"compare/weights/chunk_stream.cc", "harness/execution/tables/decompress.cc"}},
      {"CLI/", {"harness/cli/command_line.cc", "probes/command.cc"}},
      {"Eigen/", {"scenarios/digits_blas/", "probes/cpu/std_reduce_tree.cc"}},
      {"yaml-cpp/", {"harness/net/yaml"}},
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

// Characters of UTF-8: bytes that continue none.
std::size_t ColumnsOf(std::string_view line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
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
    if (const std::size_t columns = ColumnsOf(line); columns > kReadmeColumns) {
      found.push_back({std::string(path), static_cast<int>(i) + 1,
                       fmt::format("{} columns; at most {}", columns, kReadmeColumns)});
    }
    for (std::sregex_iterator match(line.begin(), line.end(), named), end; match != end; ++match) {
      const std::string name = (*match)[1];
      const bool there = known.contains(name) || std::ranges::any_of(files, [&](const auto& file) {
                           return file.starts_with(folder) && file.ends_with("/" + name);
                         });
      if (there) continue;
      found.push_back({std::string(path), static_cast<int>(i) + 1, name + " does not exist"});
    }
  }
  return found;
}

Violations CheckComments(std::string_view path, std::string_view text,
                         const std::set<std::string>& names) {
  if (!IsCode(path)) return {};
  static const std::regex comment(R"(^\s*//(.*)$)");
  static const std::regex named(
      R"((?:^|[^A-Za-z0-9_/.<"-])([a-z0-9_]+(?:/[a-z0-9_]+)*\.(?:h|cc))\b)");
  static const std::set<std::string> foreign = {"caffe2/serialize/inline_container.cc",
                                                "cudnn_ops.h",
                                                "driver_types.h",
                                                "fatbinary.h",
                                                "linux/magic.h",
                                                "rpmtag.h",
                                                "sqlite3.h",
                                                "src/enqueue.cc"};
  Violations found;
  const std::vector<std::string_view> lines = Lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!HasAnyOf(lines[i], {".h", ".cc"}) || !HasAnyOf(lines[i], {"//"})) continue;
    const std::string line(lines[i]);
    std::smatch words;
    if (!std::regex_match(line, words, comment)) continue;
    const std::string said = words[1];
    for (std::sregex_iterator one(said.begin(), said.end(), named), end; one != end; ++one) {
      const std::string name = (*one)[1];
      if (foreign.contains(name) || names.contains(name.substr(name.rfind('/') + 1))) continue;
      found.push_back({std::string(path), static_cast<int>(i) + 1, name + " does not exist"});
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

}  // namespace rharness
