// What of runs can still be had, as `rharness check --available` prints it.
#include "harness/cli/check_available.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "harness/cli/check_admission.h"
#include "harness/cli/verb.h"

namespace rharness {

void AddAvailableOptions(Command* verb, AvailableArguments* a) {
  verb->Heading("Whether it can still be rerun");
  verb->Add("--available", &a->asked, "Ask for each part of a run whether it can still be had");
  verb->Add("--network", &a->network,
            "Ask registries for images, sources for data (http, S3, lakeFS; keys as for `fetch`), "
            "repositories that are URLs for commits, too");
  verb->Add("--packages", &a->packages,
            "Ask pip's index and apt's lists for the recorded versions, too, of packages in use "
            "where that is known, 300 of each at most");
  verb->Add("--verify", &a->verify, "Hash data and images that are files; else sizes are compared");
  verb->Add("--map", &a->maps, "FROM=TO: a recorded location lies here at TO; repeatable")
      .OneEach();
  verb->Add("--data-cache", &a->cache, "Folder of data by their SHA-256 (fetch --cache)").Folder();
  verb->Add("--limit", &a->limit_seconds, "Time limit of one question")
      .Duration(TimeUnit::kSeconds)
      .ShowDefault();
  verb->Note(
      "--available asks for each part (image, commit, diff, code and lock files, data, the commit "
      "of what made them, Python environment, packages, hardware) whether it is had (where), gone "
      "(who says so) or unknown (why). Parts that are gone or unknown have a line; with --verbose "
      "(before the verb) the others do, too. Nothing is downloaded. Without --network and "
      "--packages nobody but this machine is asked.");
  verb->Note(
      "A history keeps the last answer of each run: `history list` shows it, `rebuild = gone` "
      "selects by it, and `drill --order risk` doubts more what may soon not be rerun.");
}

Result<RebuildOptions> RebuildOptionsOf(const AvailableArguments& arguments,
                                        const std::string& root,
                                        std::function<bool()> should_cancel) {
  const bool asks = arguments.network || arguments.packages || arguments.verify ||
                    !arguments.maps.empty() || !arguments.cache.empty();
  if (asks && !arguments.asked) {
    return InvalidInput(
        "is missing, and goes with --network, --packages, --verify, --map and "
        "--data-cache",
        "--available");
  }
  RebuildOptions options{
      .places = {.root = root.empty() ? "." : root, .maps = {}, .cache = arguments.cache},
      .network = arguments.network,
      .packages = arguments.packages,
      .verify = arguments.verify,
      .should_cancel = std::move(should_cancel)};
  for (const std::string& text : arguments.maps) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return InvalidInput(fmt::format("expected FROM=TO, found '{}'", text), "--map");
    }
    options.places.maps.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(arguments.limit_seconds));
  return options;
}

std::string LinesOf(const std::string& place, const RunParts& run, bool had) {
  std::string text;
  for (const PartState state : {PartState::kGone, PartState::kUnknown, PartState::kHad}) {
    if (state == PartState::kHad && !had) continue;
    for (const Part& part : run.parts) {
      if (part.state != state) continue;
      text += OneLine(fmt::format("{}: {}: {}{}{}: {}", place, PartStateName(state), part.kind,
                                  part.name.empty() ? "" : " ", part.name, part.why));
    }
  }
  return text;
}

std::string CountsOf(const std::vector<RunParts>& runs) {
  std::map<PartState, std::size_t> counts;
  for (const RunParts& run : runs) ++counts[run.State()];
  std::string text;
  for (const auto& [state, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, PartStateName(state));
  }
  return text;
}

int ExitCodeOfParts(const std::vector<RunParts>& runs) {
  if (runs.empty()) return kExitOk;
  const PartState worst = std::ranges::max(runs, {}, &RunParts::State).State();
  return worst == PartState::kGone      ? kExitDrift
         : worst == PartState::kUnknown ? kExitInconclusive
                                        : kExitOk;
}

}  // namespace rharness
