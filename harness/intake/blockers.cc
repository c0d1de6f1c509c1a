// The table of findings and the options that would fill them.
#include "harness/intake/blockers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rharness {
namespace {

struct Filling {
  std::string_view code;
  std::string_view options;  // of `rharness complete FILE`
};

constexpr std::array<Filling, 26> kFillings = {{
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
}};

std::string CommandFor(const AdmissionFinding& finding) {
  // An image's repository is part of its name.
  const bool image = finding.code == "missing_repository" && finding.path.starts_with("$.image");
  const std::string_view code = image ? "unpinned_image" : std::string_view(finding.code);
  const auto found = std::ranges::find(kFillings, code, &Filling::code);
  return found == kFillings.end() ? "" : fmt::format("rharness complete FILE {}", found->options);
}

}  // namespace

std::string PartOf(std::string_view path) {
  if (path.starts_with("$.")) path.remove_prefix(2);
  constexpr std::string_view kEnvironment = "environment.";
  if (path.starts_with(kEnvironment)) {
    const auto end = path.find_first_of(".[", kEnvironment.size());
    return std::string(path.substr(0, end));
  }
  if (path == "code.commit" || path == "code.repository") return std::string(path);
  return std::string(path.substr(0, path.find_first_of(".[")));
}

std::vector<Blocker> BlockersOf(const Manifest& manifest) {
  std::vector<Blocker> blockers;
  for (const AdmissionFinding& finding : Admit(manifest)) {
    const std::string field = PartOf(finding.path);
    const auto same = std::ranges::find_if(blockers, [&](const Blocker& one) {
      return one.field == field && one.code == finding.code;
    });
    if (same != blockers.end()) {
      ++same->findings;
    } else {
      blockers.push_back({field, finding.code, finding.message, CommandFor(finding), 1});
    }
  }
  return blockers;
}

}  // namespace rharness
