// One function a finding.
#include "harness/records/observe/observed_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "harness/base/spelling.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

using Findings = std::vector<Finding>;

constexpr std::size_t kMostOfAFolder = 2;  // files that have a line each
constexpr std::string_view kOfWorker = " (worker)";

// Whether a number occurs in a text: 7 in "7" and in "[1, 7]".
bool Names(std::string_view text, std::int64_t number) {
  const std::string wanted = std::to_string(number);
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    const auto is_part = [&](std::size_t i) {
      return i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) != 0 ||
                                 text[i] == '-' || text[i] == '.');
    };
    if (!is_part(at + wanted.size()) && (at == 0 || !is_part(at - 1))) return true;
  }
  return false;
}

// "numpy.random.seed 1, 2; torch.manual_seed 3", cut. Seeds of workers follow from the others,
// except those that the system drew.
std::string SeedsInWords(const Observation& seen) {
  constexpr std::size_t kMostSources = 4, kMostValues = 4;
  std::vector<std::string> sources;
  for (const auto& [source, values] : seen.seeds) {
    if (source.ends_with(kOfWorker) && std::ranges::none_of(values, IsDrawn)) continue;
    if (sources.size() == kMostSources) {
      sources.push_back("...");
      break;
    }
    const bool cut = values.size() > kMostValues;
    const auto end =
        values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), kMostValues));
    sources.push_back(
        fmt::format("{} {}{}", source, fmt::join(values.begin(), end, ", "), cut ? ", ..." : ""));
  }
  return fmt::format("{}", fmt::join(sources, "; "));
}

void SeedsNotSet(const DeclaredOfRun& declared, const Observation& seen, Findings* out) {
  if (!seen.Has(kSeenByPython)) return;
  for (const auto& [name, value] : declared.seeds) {
    const bool is_set = std::ranges::any_of(seen.seeds, [&, wanted = value](const auto& source) {
      return std::ranges::any_of(source.second, [&](const std::string& text) {
        return !IsDrawn(text) && !text.starts_with(kInheritedState) && Names(text, wanted);
      });
    });
    // What salts the hashes is a seed as well, which the interpreter sets.
    const auto salt = seen.flags.find(std::string(kHashSeedFlag));
    if (is_set || (salt != seen.flags.end() && salt->second == std::to_string(value))) continue;
    // In scikit-learn a type's constructor seeds a RandomState, which no hook sees.
    if (seen.flags.contains(std::string(kRandomStateFlag))) continue;
    const std::string words = SeedsInWords(seen);
    out->push_back(
        {.code = "seed_not_set",
         .subject = "seed " + name,
         .observed = words,
         .limit = std::to_string(value),
         .message = words.empty()
                        ? fmt::format("declared seed {}={}, and nothing was seen to set a seed",
                                      name, value)
                        : fmt::format("declared seed {}={}, none of the seeds that were set is {} "
                                      "({})",
                                      name, value, value, words)});
  }
}

// For one generator all places that make it without a seed.
void Unseeded(const Observation& seen, Findings* out) {
  for (const auto& [source, values] : seen.seeds) {
    std::vector<std::string> own, of_packages;
    for (const std::string& value : values) {
      if (!IsDrawn(value)) continue;
      const std::string place = PlaceOfDraw(value);
      (place.starts_with(kPackagePlace) ? of_packages : own).push_back(place);
    }
    if (source == kSystemSource) continue;  // which mostly makes names
    std::erase(own, "");
    if (own.empty() && !of_packages.empty()) continue;  // of no known matter for the result
    if (std::ranges::none_of(values, IsDrawn)) continue;
    out->push_back(
        {.code = "generator_unseeded",
         .subject = "generator " + source,
         .observed = "drawn from the system",
         .limit = "a seed",
         .message = fmt::format("{} is drawn from without a seed{}{}: every rerun draws others",
                                source, own.empty() ? "" : " in ", fmt::join(own, ", "))});
  }
}

void SeedsOfTheMoment(const Observation& seen, Findings* out) {
  for (const auto& [source, values] : seen.seeds) {
    for (const std::string& value : values) {
      if (!value.ends_with(kSeedOfClock) && !value.ends_with(kSeedOfProcess)) continue;
      out->push_back(
          {.code = "seed_of_the_moment",
           .subject = "seed of " + source,
           .observed = value,
           .limit = "a fixed seed",
           .message = fmt::format("{} is given {}: another seed in every run", source, value)});
    }
  }
}

void WorkersAlike(const Observation& seen, Findings* out) {
  for (const auto& [source, values] : seen.seeds) {
    for (const std::string& value : values) {
      if (!value.starts_with(kInheritedState) || !value.ends_with(" workers)")) continue;
      out->push_back(
          {.code = "workers_alike",
           .subject = "workers of " + source,
           .observed = value,
           .limit = "a state of each worker's own",
           .message = fmt::format("worker processes draw from {} as it was when they were started "
                                  "({}): they draw the same numbers, and again in every epoch that "
                                  "starts them",
                                  source, value)});
    }
  }
}

// Orders that the run's own code leaves open.
void Orders(const Observation& seen, Findings* out) {
  const auto flag = [&](std::string_view name) {
    const auto found = seen.flags.find(std::string(name));
    return found == seen.flags.end() ? std::string() : found->second;
  };
  const std::string sets = flag(kSetOrderFlag);
  const bool salted = flag(kHashSeedFlag) == kSalted;
  if (salted && !sets.empty()) {
    out->push_back(
        {.code = "hash_salted",
         .subject = "order of sets",
         .observed = "random",
         .limit = "PYTHONHASHSEED",
         .message = fmt::format(
             "Python's hashes are salted (PYTHONHASHSEED is not set), and {} goes "
             "by the order of a set or by a hash, which differs from run to run where that "
             "line is reached",
             sets)});
  }
  if (const std::string listing = flag(kListingFlag); !listing.empty()) {
    out->push_back(
        {.code = "file_order",
         .subject = "order of files",
         .observed = "as listed",
         .limit = "sorted",
         .message = fmt::format("{} takes files in the order in which the file system lists them: "
                                "sort them",
                                listing)});
  }
  if (const std::string times = flag(kFileTimesFlag); !times.empty()) {
    out->push_back(
        {.code = "file_times",
         .subject = "order of files",
         .observed = "by their times",
         .limit = "by their names",
         .message = fmt::format("{} goes by the modification times of files, which a copy changes",
                                times)});
  }
  if (const std::string workers = flag(kWorkerOrderFlag); !workers.empty()) {
    out->push_back(
        {.code = "worker_order",
         .subject = "order of workers",
         .observed = "as they finish",
         .limit = "as they were started",
         .message = fmt::format("{} takes results in the order in which workers finish", workers)});
  }
}

void Unrecorded(const Observation& seen, Findings* out) {
  for (const auto& [name, place] : seen.flags) {
    if (!name.starts_with(kUnrecordedFlag)) continue;
    const std::string variable = name.substr(kUnrecordedFlag.size());
    out->push_back(
        {.code = "variable_not_recorded",
         .subject = "variable " + variable,
         .observed = "set",
         .limit = "recorded",
         .message = fmt::format("{} is set, and {} reads it: a rerun goes without (--variable {})",
                                variable, place, variable)});
  }
}

void Losses(const Observation& seen, Findings* out) {
  for (const std::string& loss : seen.losses) {
    out->push_back({.code = kLossCode,
                    .subject = "loss " + loss,
                    .observed = loss,
                    .limit = "nothing lost",
                    .message = loss});
  }
}

std::string Normal(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "1" || text == "on" || text == "yes") return "true";
  return text == "0" || text == "off" || text == "no" ? "false" : text;
}

void FlagsNotInForce(const DeclaredOfRun& declared, const Observation& seen, Findings* out) {
  for (const auto& [name, value] : declared.flags) {
    const auto found = seen.flags.find(name);
    if (found == seen.flags.end() || Normal(found->second) == Normal(value)) continue;
    out->push_back({.code = "flag_not_in_force",
                    .subject = "flag " + name,
                    .observed = found->second,
                    .limit = value,
                    .message = fmt::format("declared flag {}={}, in force at the end: {}", name,
                                           value, found->second)});
  }
}

void VariablesNotRead(const DeclaredOfRun& declared, const Observation& seen, Findings* out) {
  if (!seen.variables_read) return;
  std::set<std::string> names = declared.variables;
  for (const auto& [name, value] : declared.flags) {
    if (IsNumericVariable(name)) names.insert(name);
  }
  std::vector<std::string> known(seen.variables_read->begin(), seen.variables_read->end());
  known.insert(known.end(), WatchedVariables().begin(), WatchedVariables().end());
  for (const std::string& name : names) {
    if (seen.variables_read->contains(name)) continue;
    const std::string near = NearestName(name, known);
    out->push_back(
        {.code = "variable_not_read",
         .subject = "variable " + name,
         .observed = "not read",
         .limit = "declared",
         .message = fmt::format("{} was declared, and nothing was seen to read it{}", name,
                                near.empty() ? "" : fmt::format("; {} is near", near))});
  }
}

// What starts a program and is no part of it: it comes last.
bool IsOfALauncher(std::string_view path) {
  constexpr std::array<std::string_view, 7> kParts = {
      "/.pyenv/", "/.asdf/", "/.rbenv/", "/mise/", "/shims/", "/lmod/", "/modulefiles/"};
  return path.starts_with("/etc/") || std::ranges::any_of(kParts, [&](std::string_view part) {
           return path.find(part) != path.npos;
         });
}

// Folders of installed software: files elsewhere are more likely somebody's own.
bool IsInstalled(std::string_view path) {
  constexpr std::array<std::string_view, 7> kBegins = {"/usr/", "/lib/",  "/lib64/", "/opt/",
                                                       "/nix/", "/snap/", "/sw/"};
  return std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return path.starts_with(begin); }) ||
         path.find("-packages/") != path.npos;
}

int RankOf(std::string_view folder) {
  const std::string inside = std::string(folder) + "/";
  return IsOfALauncher(inside) ? 2 : IsInstalled(inside) ? 1 : 0;
}

std::string InputValue(const SeenInput& input) {
  return input.sha256.empty() ? fmt::format("{} bytes", input.size_bytes) : input.sha256;
}

Finding OfOneInput(const SeenInput& input) {
  return {.code = "undeclared_input",
          .subject = "input " + input.path,
          .observed = InputValue(input),
          .message = fmt::format(
              "undeclared input {}, {}{}: the run read it, and it is neither data nor code",
              input.path, input.sha256.empty() ? "" : "sha256 ", InputValue(input))};
}

// A library that is not declared has many files.
Finding OfAFolder(const std::string& folder, const std::vector<const SeenInput*>& inputs) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(inputs.size(), kMostNames); ++i) {
    names.push_back(inputs[i]->path.substr(folder.empty() ? 0 : folder.size() + 1));
  }
  const std::size_t more = inputs.size() - names.size();
  const std::string where = folder.empty() ? "the run's own folder" : folder;
  return {.code = "undeclared_input",
          .subject = "inputs in " + where,
          .observed = fmt::format("{} files", inputs.size()),
          .message = fmt::format(
              "undeclared inputs in {}: {}{}: the run read them, and they are neither data "
              "nor code",
              where, fmt::join(names, ", "),
              more > 0 ? fmt::format(" and {} more", more) : std::string())};
}

// Files outside of installations first, program launchers last.
void Undeclared(const Observation& seen, Findings* out) {
  if (!seen.inputs) return;
  std::map<std::pair<int, std::string>, std::vector<const SeenInput*>> folders;
  for (const SeenInput& input : *seen.inputs) {
    const std::size_t slash = input.path.rfind('/');
    const std::string folder = slash == input.path.npos ? "" : input.path.substr(0, slash);
    folders[{RankOf(folder), folder}].push_back(&input);
  }
  for (const auto& [key, inputs] : folders) {
    if (inputs.size() > kMostOfAFolder) {
      out->push_back(OfAFolder(key.second, inputs));
      continue;
    }
    for (const SeenInput* input : inputs) out->push_back(OfOneInput(*input));
  }
}

void Nondeterministic(const Observation& seen, Findings* out) {
  for (const auto& [name, count] : seen.nondeterministic) {
    out->push_back(
        {.code = "nondeterministic_operator",
         .subject = "operator " + name,
         .observed = std::to_string(count),
         .message = fmt::format("{} warned that it has no deterministic implementation ({} {})",
                                name, count, count == 1 ? "time" : "times")});
  }
}

// The last of too many counts the rest.
void Cut(Findings* findings) {
  if (findings->size() <= kMostFindings) return;
  const std::size_t more = findings->size() - kMostFindings;
  findings->resize(kMostFindings);
  findings->back().message += fmt::format("; and {} more of this kind", more);
}

}  // namespace

std::vector<Finding> FindingsOf(const DeclaredOfRun& declared, const Observation& seen) {
  std::vector<Findings> kinds(11);
  Losses(seen, &kinds[10]);
  Unseeded(seen, &kinds[0]);
  SeedsOfTheMoment(seen, &kinds[1]);
  SeedsNotSet(declared, seen, &kinds[2]);
  WorkersAlike(seen, &kinds[3]);
  Orders(seen, &kinds[4]);
  FlagsNotInForce(declared, seen, &kinds[5]);
  Unrecorded(seen, &kinds[6]);
  VariablesNotRead(declared, seen, &kinds[7]);
  Undeclared(seen, &kinds[8]);
  Nondeterministic(seen, &kinds[9]);
  Findings all;
  for (Findings& kind : kinds) {
    Cut(&kind);
    std::ranges::move(kind, std::back_inserter(all));
  }
  return all;
}

}  // namespace rharness
