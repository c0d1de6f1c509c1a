// Packages: whether an index still serves the recorded versions.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "harness/base/files.h"
#include "harness/execution/rebuild/asked.h"
#include "harness/records/intake/clean.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostOfAPage = std::uint64_t{64} << 20;
constexpr std::size_t kMostNamed = 5;

using NameAndVersion = std::pair<std::string, std::string>;

// The packages that the run was seen to use, if any is known; else all. Within the limit.
// `may_be_used`: also packages of unknown use, as pure Python.
std::vector<NameAndVersion> Wanted(const PackageList& list, bool may_be_used, std::size_t most) {
  const bool use_known = std::ranges::any_of(
      list, [](const auto& one) { return one.second.use == PackageUse::kUsed; });
  std::vector<NameAndVersion> wanted;
  for (const auto& [name, package] : list) {
    const bool used =
        package.use == PackageUse::kUsed || (may_be_used && package.use == PackageUse::kNotKnown);
    if (wanted.size() < most && (used || !use_known)) wanted.emplace_back(name, package.version);
  }
  return wanted;
}

// The number of available ones, and each missing one by name, the first few of a kind.
void AddPackageParts(const std::string& kind, std::size_t of,
                     const std::vector<std::pair<NameAndVersion, Answer>>& answers,
                     std::vector<Part>* parts) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const auto& one) { return one.second.state == PartState::kHad; }));
  if (count > 0) {
    parts->push_back(
        {kind, fmt::format("{} of {} versions", count, answers.size()), PartState::kHad,
         answers.size() == of ? "served" : fmt::format("served; {} are recorded", of)});
  }
  for (const PartState state : {PartState::kUnknown, PartState::kGone}) {
    std::size_t told = 0;
    for (const auto& [package, answer] : answers) {
      if (answer.state != state || told++ >= kMostNamed) continue;
      parts->push_back({kind, package.first + " " + package.second, state, answer.why});
    }
    if (told > kMostNamed) {
      parts->push_back({kind, fmt::format("{} more", told - kMostNamed), state, "likewise"});
    }
  }
}

// What `pip` would ask: its variable, its configuration, or PyPI. Without credentials.
std::string IndexOf(const Rebuilder::Asked& asked) {
  const auto set = PickEnvironment({"PIP_INDEX_URL"});
  if (!set.empty() && !set.begin()->second.empty()) return set.begin()->second;
  const ProcessResult configured =
      asked.Run({"python3", "-m", "pip", "config", "get", "global.index-url"},
                PickEnvironment({"PATH", "HOME", "PIP_CONFIG_FILE", "XDG_CONFIG_HOME"}));
  std::string url = configured.outcome.Succeeded() ? configured.stdout_text : "";
  url.erase(url.find_last_not_of(" \n") + 1);
  return url.empty() ? "https://pypi.org/simple" : url;
}

bool IsOfFileName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == '+' || c == '!';
}

// Whether a page of an index (PEP 503) names a wheel ("NAME-VERSION-...") or a source distribution
// ("NAME-VERSION.tar.gz") of this version.
bool Serves(std::string_view page, const std::string& name, const std::string& version) {
  const std::string mark = "-" + version;
  for (auto at = page.find(mark); at != page.npos; at = page.find(mark, at + 1)) {
    const std::string_view rest = page.substr(at + mark.size());
    if (!rest.starts_with('-') && !rest.starts_with(".tar.") && !rest.starts_with(".zip")) continue;
    std::size_t begin = at;
    while (begin > 0 && IsOfFileName(page[begin - 1])) --begin;
    if (NormalPythonName(page.substr(begin, at - begin)) == name) return true;
  }
  return false;
}

Answer AskIndex(const std::string& index, const std::string& name, const std::string& version,
                bool from_wheel, Rebuilder::Asked* asked) {
  const auto [server, path] = SplitUrl(index);
  auto client = HttpClient::Make(server, {}, asked->Limits(), {}, asked->options.should_cancel);
  if (!client.ok()) return {PartState::kUnknown, client.error().ToString()};
  std::string page;
  const Status status = client->Fetch(
      fmt::format("{}{}{}/", path, path.ends_with('/') ? "" : "/", name), {}, kMostOfAPage,
      [&] { page.clear(); }, [&](std::string_view piece) { page += piece; });
  if (status.ok() && Serves(page, name, version)) return {PartState::kHad, ""};
  if (!status.ok() && status.error().code != ErrorCode::kNotFound) {
    return {PartState::kUnknown, status.error().ToString()};
  }
  // Without a wheel's digest it may be the system's, or a folder's.
  if (!from_wheel) return {PartState::kUnknown, "the index has none, and it may be from elsewhere"};
  return {PartState::kGone,
          status.ok() ? "the index has other versions alone" : "the index does not have it (404)"};
}

void AskForDistributions(const PackageList& list, Rebuilder::Asked* asked,
                         std::vector<Part>* parts) {
  const std::string index =
      asked->Once("pip's index",
                  [&] {
                    return Answer{PartState::kHad, IndexOf(*asked)};
                  })
          .why;
  if (SplitUrl(index).first.empty() || HoldsCredential(index)) {
    parts->push_back({"python packages", "", PartState::kUnknown,
                      "pip's index is no http:// or https:// URL without credentials"});
    return;
  }
  std::vector<std::pair<NameAndVersion, Answer>> answers;
  for (const NameAndVersion& one : Wanted(list, true, asked->options.most_packages)) {
    const bool from_wheel = !list.at(one.first).digest.empty();
    answers.emplace_back(
        one, asked->Once(fmt::format("python {} {} {}", one.first, one.second, from_wheel), [&] {
          return AskIndex(index, one.first, one.second, from_wheel, asked);
        }));
  }
  AddPackageParts("python packages", list.size(), answers, parts);
}

// Lines " NAME | VERSION | SOURCE" of `apt-cache madison`.
std::set<NameAndVersion> ParseMadison(std::string_view text) {
  std::set<NameAndVersion> served;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find(" | ");
    const auto second = first == line.npos ? first : line.find(" | ", first + 3);
    if (second == line.npos) continue;
    const auto trimmed = [](std::string_view part) {
      const auto begin = part.find_first_not_of(' ');
      if (begin == part.npos) return std::string();
      return std::string(part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
    };
    served.emplace(trimmed(line.substr(0, first)),
                   trimmed(line.substr(first + 3, second - first - 3)));
  }
  return served;
}

// From apt's lists, fetched by `apt-get update`; makes no network query.
void AskForDpkg(const PackageList& list, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  const std::vector<NameAndVersion> wanted = Wanted(list, false, asked->options.most_packages);
  std::vector<std::string> argv = {"apt-cache", "madison", "--"};
  for (const auto& [name, version] : wanted) argv.push_back(name.substr(0, name.find(':')));
  auto environment = PickEnvironment({"PATH"});
  environment["LC_ALL"] = "C.UTF-8";
  if (wanted.empty()) return;
  const ProcessResult result = asked->Run(argv, environment);
  const std::set<NameAndVersion> served = ParseMadison(result.stdout_text);
  if (!result.outcome.Succeeded() || served.empty()) {
    parts->push_back({"dpkg packages", "", PartState::kUnknown,
                      result.outcome.Succeeded()
                          ? "apt knows no archive here (apt-get update)"
                          : "apt-cache madison " + result.outcome.ToString()});
    return;
  }
  std::vector<std::pair<NameAndVersion, Answer>> answers;
  for (const NameAndVersion& one : wanted) {
    const bool there = served.contains({one.first.substr(0, one.first.find(':')), one.second});
    answers.emplace_back(one, there ? Answer{PartState::kHad, ""}
                                    : Answer{PartState::kGone, "apt's archives do not have it"});
  }
  AddPackageParts("dpkg packages", list.size(), answers, parts);
}

}  // namespace

void AskForPackages(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts) {
  if (manifest.image.kind != ImageKind::kHost) return;  // it brings its own
  for (const auto& [manager, list] : manifest.environment.packages) {
    if (list.empty()) continue;
    if (manager == kPython) {
      AskForDistributions(list, asked, parts);
    } else if (manager == kDpkg) {
      AskForDpkg(list, asked, parts);
    } else {
      parts->push_back({manager + " packages", fmt::format("{} versions", list.size()),
                        PartState::kUnknown, "their index is not asked"});
    }
  }
}

}  // namespace rharness
