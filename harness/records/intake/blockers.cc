// The table of findings and the options that would fill them.
#include "harness/records/intake/blockers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace rharness {
namespace {

struct Filling {
  std::string_view code;
  std::string_view options;  // of `rharness import --complete FILE`
};

constexpr std::array<Filling, 27> kFillings = {{
    {"missing_family", "--family NAME"},
    {"missing_time", "--started TIME --ended TIME"},
    {"bad_time", "--started TIME --ended TIME"},
    {"bad_duration", "--started TIME --ended TIME"},
    {"missing_repository", "--repository FOLDER-OR-URL"},
    {"missing_commit", "--commit HASH"},
    {"unpinned_code", "--code-file PATH"},
    {"missing_diff", "--code-file PATH"},
    {"missing_packages", "--here"},
    {"missing_location", "--image FILE"},
    {"latest_tag", "--image NAME:VERSION@sha256:DIGEST"},
    {"unpinned_image", "--image NAME@sha256:DIGEST"},
    {"bad_digest", "--image NAME@sha256:DIGEST"},
    {"missing_kind", "--data NAME=PATH"},
    {"unpinned_data", "--data NAME=PATH"},
    {"missing_command", "-- PROGRAM ARGUMENT..."},
    {"missing_seed", "--seed NAME=INTEGER"},
    {"missing_rng_sources", "--seed NAME=INTEGER"},
    {"missing_variables", "--here"},
    {"missing_hardware", "--here"},
    {"missing_gpus", "--here"},
    {"missing_driver", "--here"},
    {"missing_metrics_path", "--metrics PATH"},
    {"missing_primary", "--metric NAME,direction=higher,margin=X,primary"},
    {"missing_margin", "--metric NAME,direction=higher,margin=X,primary"},
    {"nothing_to_compare", "--weights PATH"},
    {"missing_tensor_digest", "--weights PATH"},
}};

constexpr std::string_view kFile = "FILE";
constexpr std::string_view kName = "NAME=";

// The name of the data that a path such as "$.data[3].sha256" is of; empty for other paths.
std::string DataName(const Manifest& manifest, std::string_view path) {
  constexpr std::string_view kData = "$.data[";
  if (!path.starts_with(kData)) return "";
  std::size_t at = 0;
  std::from_chars(path.data() + kData.size(), path.data() + path.size(), at);
  return at < manifest.data.size() ? manifest.data[at].name : "";
}

// What MLflow has is in no file that a rerun could write; a script makes one of it.
std::string Aside(const Finding& finding, const Manifest& manifest) {
  const bool asked = finding.code == "missing_metrics_path" && manifest.origin &&
                     manifest.origin->kind == "mlflow";
  return asked ? " (of a program that logs to MLflow alone, scenarios/mlflow/rerun.py writes it)"
               : "";
}

}  // namespace

std::string_view PartOf(std::string_view path) {
  // A loop of its own: find_first_of asks memchr for each character.
  const auto end_of_name = [&](std::size_t from) {
    const auto ends = [](char c) { return c == '.' || c == '['; };
    return static_cast<std::size_t>(
        std::find_if(path.begin() + static_cast<std::ptrdiff_t>(from), path.end(), ends) -
        path.begin());
  };
  if (path.starts_with("$.")) path.remove_prefix(2);
  constexpr std::string_view kEnvironment = "environment.";
  if (path.starts_with(kEnvironment)) {
    return path.substr(0, end_of_name(kEnvironment.size()));
  }
  if (path == "code.commit" || path == "code.repository") return path;
  return path.substr(0, end_of_name(0));
}

std::string FillingOf(const Finding& finding) {
  // An image's repository is part of its name.
  const bool image = finding.code == "missing_repository" && finding.subject.starts_with("$.image");
  const std::string_view code = image ? "unpinned_image" : std::string_view(finding.code);
  const auto found = std::ranges::find(kFillings, code, &Filling::code);
  return found == kFillings.end()
             ? ""
             : fmt::format("rharness import --complete FILE {}", found->options);
}

std::string FillingOf(const Finding& finding, const Manifest& manifest, std::string_view file) {
  std::string command = FillingOf(finding);
  const std::string name = DataName(manifest, finding.subject);
  if (const auto at = command.find(kName); !name.empty() && at != command.npos) {
    command.replace(at, kName.size() - 1, name);
  }
  if (const auto at = command.find(kFile); at != command.npos) {
    command.replace(at, kFile.size(), file);
  }
  return command + Aside(finding, manifest);
}

bool CountBlockers(const Manifest& manifest, std::size_t n, std::vector<Blocker>* blockers) {
  const std::vector<Finding> findings = Admit(manifest);
  for (const Finding& finding : findings) {
    const std::string_view field = PartOf(finding.subject);
    auto blocker = std::ranges::find_if(*blockers, [&](const Blocker& one) {
      return one.field == field && one.code == finding.code;
    });
    if (blocker == blockers->end()) {
      const std::string command = FillingOf(finding) + Aside(finding, manifest);
      blocker = blockers->insert(
          blocker, {std::string(field), finding.code, finding.message, command, 0, 0});
    }
    if (blocker->last_run != n) ++blocker->runs;
    blocker->last_run = n;
  }
  return !findings.empty();
}

}  // namespace rharness
