// Two records as axes, and a trial as a record.
#include "harness/experiments/isolate/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "harness/experiments/isolate/out_of_reach.h"
#include "harness/records/manifest/command_arguments.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

constexpr std::string_view kUnset = "(unset)";

Axis MakeAxis(AxisKind kind, Layer layer, std::string name, std::string subject, AxisValue recorded,
              AxisValue drifted) {
  Axis axis{.kind = kind, .layer = layer, .name = std::move(name), .subject = std::move(subject)};
  axis.values = {std::move(recorded), std::move(drifted)};
  return axis;
}

AxisValue VariableValue(const std::optional<std::string>& value) {
  return {.text = value ? *value : std::string(kUnset), .setting = value};
}

// A variable that one side does not speak of was not looked at there; of a recorded run it is then
// unset in a rerun.
void AddVariables(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  for (const auto& [name, value] : drifted.environment.variables) {
    const auto then = recorded.environment.variables.find(name);
    const std::optional<std::string> before =
        then == recorded.environment.variables.end() ? std::nullopt : then->second;
    if (before == value) continue;
    Axis axis = MakeAxis(AxisKind::kVariable, Layer::kEnvironment, "env:" + name, name,
                         VariableValue(before), VariableValue(value));
    if (!IsVariableName(name)) {
      axis.cannot_be_set = "is no name of a variable";
    } else if ((before && IsWithheld(*before)) || (value && IsWithheld(*value))) {
      axis.cannot_be_set = "its value was withheld from the record";
    }
    axes->push_back(std::move(axis));
  }
}

std::string DataText(const std::optional<DataItem>& item) {
  if (!item) return "(none)";
  if (item->sha256.empty()) return "no digest";
  if (!item->empty_folders || item->empty_folders->empty()) return item->sha256;
  return fmt::format("{} and the empty folders {}", item->sha256,
                     fmt::join(*item->empty_folders, ", "));
}

void AddData(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  std::map<std::string, std::array<std::optional<DataItem>, 2>> items;
  for (const DataItem& item : recorded.data) items[item.name][0] = item;
  for (const DataItem& item : drifted.data) items[item.name][1] = item;
  for (const auto& [name, sides] : items) {
    const auto& [then, now] = sides;
    const bool same = then && now && then->sha256 == now->sha256 && then->path == now->path;
    if (same && OtherEmptyFolders(then->empty_folders, now->empty_folders).empty()) continue;
    axes->push_back(MakeAxis(AxisKind::kData, Layer::kData, "data:" + name, name,
                             {.text = DataText(then), .data = then},
                             {.text = DataText(now), .data = now}));
    if (now && now->sha256.empty()) axes->back().cannot_be_set = "its digest is not known";
  }
}

std::string CodeText(const Code& code) {
  std::string text = code.commit.empty() ? fmt::format("{} files", code.files.size()) : code.commit;
  return code.dirty ? text + " with changes" : text;
}

bool SameCode(const Code& a, const Code& b) {
  const auto same = [](const CodeFile& x, const CodeFile& y) {
    return x.path == y.path && x.sha256 == y.sha256;
  };
  if (!a.files.empty() && !b.files.empty()) return std::ranges::equal(a.files, b.files, same);
  return a.commit == b.commit && a.dirty == b.dirty && a.kept_diff_sha256 == b.kept_diff_sha256;
}

void AddCode(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  if (SameCode(recorded.code, drifted.code)) return;
  Axis axis =
      MakeAxis(AxisKind::kCode, Layer::kCode, "commit", "",
               {.text = CodeText(recorded.code), .code = recorded.code, .kept = recorded.kept},
               {.text = CodeText(drifted.code), .code = drifted.code, .kept = drifted.kept});
  const bool commits = !recorded.code.commit.empty() && !drifted.code.commit.empty();
  axis.chain_may_be_found = commits && recorded.code.commit != drifted.code.commit;
  if (drifted.code.commit.empty() && drifted.code.files.empty()) {
    axis.cannot_be_set = "neither its commit nor its files are recorded";
  }
  axes->push_back(std::move(axis));
}

std::string ImageText(const Image& image) {
  if (image.kind == ImageKind::kHost) return "host";
  const std::string& where = image.location.empty() ? image.repository : image.location;
  return fmt::format("{}{}{}@{}", image.registry, image.registry.empty() ? "" : "/", where,
                     image.digest);
}

void AddImage(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const bool same =
      recorded.image.kind == drifted.image.kind && recorded.image.digest == drifted.image.digest;
  if (same) return;
  axes->push_back(MakeAxis(AxisKind::kImage, Layer::kEnvironment, "image", "",
                           {.text = ImageText(recorded.image), .image = recorded.image},
                           {.text = ImageText(drifted.image), .image = drifted.image}));
}

// Of two commands with as many arguments.
std::vector<ArgumentChange> ByPlace(const std::vector<std::string>& then,
                                    const std::vector<std::string>& now) {
  std::vector<ArgumentChange> changes;
  for (std::size_t i = 0; i < then.size(); ++i) {
    if (then[i] != now[i])
      changes.push_back({{.argument = i, .prefix = "", .value = then[i]}, now[i]});
  }
  return changes;
}

void AddCommand(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const auto& then = recorded.command;
  const auto& now = drifted.command;
  if (then == now) return;
  const auto changes = ChangedArguments(then, now);
  // Two spellings of one thing are a change all the same: the program alone knows that they are
  // one.
  if (!changes ? then.size() != now.size() : changes->empty()) {
    axes->push_back(MakeAxis(AxisKind::kCommand, Layer::kCode, "command", "",
                             {.text = fmt::format("{}", fmt::join(then, " ")), .command = then},
                             {.text = fmt::format("{}", fmt::join(now, " ")), .command = now}));
    return;
  }
  for (const ArgumentChange& change : changes ? *changes : ByPlace(then, now)) {
    const FoundArgument& argument = change.then;
    const std::string subject = ArgumentName(then, argument.argument);
    const std::string before = argument.prefix + argument.value;
    const std::string after = argument.prefix + change.now;
    Axis axis = MakeAxis(AxisKind::kArgument,
                         subject.find("seed") != subject.npos ? Layer::kRandomness : Layer::kCode,
                         "argument:" + subject, subject, {.text = before, .setting = before},
                         {.text = after, .setting = after});
    axis.argument = argument.argument;
    axes->push_back(std::move(axis));
  }
}

// Packages changed inside one environment are no longer available.
void AddPythonAxis(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const auto& then = recorded.environment.python;
  const auto& now = drifted.environment.python;
  // What a history keeps of a rerun is without its folder.
  if (!then || !now || then->prefix == now->prefix || !IsIsolated(now->kind)) return;
  const auto list_of = [](const Manifest& run) {
    const auto list = run.environment.packages.find(kPython);
    return list == run.environment.packages.end() ? PackageList() : list->second;
  };
  if (then->version == now->version && list_of(recorded) == list_of(drifted)) return;
  axes->push_back(MakeAxis(AxisKind::kPython, Layer::kEnvironment, "python", "",
                           {.text = then->prefix}, {.text = now->prefix, .setting = now->prefix}));
}

void AddCpus(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const int then = recorded.resources.cpus;
  const int now = drifted.resources.cpus;
  if (then == now) return;
  axes->push_back(MakeAxis(AxisKind::kCpus, Layer::kEnvironment, "cpus", "",
                           {.text = std::to_string(then), .number = then},
                           {.text = std::to_string(now), .number = now}));
}

// After what all ranks get, which is where a command of a rank begins.
void ApplyToRanks(const Axis& axis, const AxisValue& value, TrialRun* run) {
  for (const int rank : axis.ranks) {
    auto change = std::ranges::find(run->ranks, rank, &RankChange::rank);
    if (change == run->ranks.end()) {
      run->ranks.push_back({.rank = rank, .command = {}, .environment = {}});
      change = run->ranks.end() - 1;
    }
    if (axis.kind == AxisKind::kVariable) {
      change->environment[axis.subject] = value.setting;
    } else {
      if (change->command.empty()) change->command = run->manifest.command;
      change->command[axis.argument] = value.setting.value_or("");
    }
  }
}

void Apply(const Axis& axis, const AxisValue& value, TrialRun* run) {
  Manifest& manifest = run->manifest;
  switch (axis.kind) {
    case AxisKind::kVariable:
      manifest.environment.variables[axis.subject] = value.setting;
      break;
    case AxisKind::kArgument:
      manifest.command[axis.argument] = value.setting.value_or("");
      break;
    case AxisKind::kCommand:
      manifest.command = value.command;
      break;
    case AxisKind::kCode:
      manifest.code = value.code;
      manifest.kept = value.kept;
      break;
    case AxisKind::kData:
      std::erase_if(manifest.data, [&](const DataItem& item) { return item.name == axis.subject; });
      if (value.data) manifest.data.push_back(*value.data);
      break;
    case AxisKind::kImage:
      manifest.image = value.image;
      break;
    case AxisKind::kPython:
      run->python = value.setting.value_or("");
      break;
    case AxisKind::kCpus:
      manifest.resources.cpus = value.number;
      break;
    case AxisKind::kNode:
      run->node = value.setting.value_or("");
      break;
    case AxisKind::kFact:
      break;
  }
}

}  // namespace

std::vector<Axis> AxesBetween(const Manifest& recorded, const Manifest& drifted) {
  std::vector<Axis> axes;
  AddData(recorded, drifted, &axes);
  AddCode(recorded, drifted, &axes);
  AddCommand(recorded, drifted, &axes);
  AddVariables(recorded, drifted, &axes);
  AddImage(recorded, drifted, &axes);
  AddPythonAxis(recorded, drifted, &axes);
  AddCpus(recorded, drifted, &axes);
  AddOutOfReach(recorded, drifted, &axes);
  SetSeedsAside(recorded, drifted, &axes);
  std::map<std::string, int> seen;
  for (Axis& axis : axes) {
    if (const int times = ++seen[axis.name]; times > 1) axis.name += fmt::format("#{}", times);
  }
  return axes;
}

Manifest AsSeen(const Manifest& recorded, const Evidence& evidence) {
  Manifest seen = recorded;
  const bool carried_out = evidence.obstacle.empty();
  if (!evidence.code_commit.empty()) seen.code.commit = evidence.code_commit;
  if (!evidence.code_files.empty()) seen.code.files = evidence.code_files;
  if (carried_out) seen.data = evidence.data;
  if (!evidence.image_digest.empty()) seen.image.digest = evidence.image_digest;
  if (!evidence.environment.variables.empty() || !evidence.environment.software.empty()) {
    seen.environment = evidence.environment;
  }
  if (!evidence.seeds.empty()) seen.seeds = evidence.seeds;
  seen.observation = evidence.observation;
  if (seen.gang && evidence.gang) seen.gang->parts = *evidence.gang;
  return seen;
}

Result<std::vector<Axis>> SettableAxes(const std::vector<Axis>& axes) {
  std::vector<Axis> settable;
  std::size_t steps = 0;
  for (const Axis& axis : axes) {
    if (!axis.cannot_be_set.empty()) continue;
    settable.push_back(axis);
    steps += axis.values.size() - 1;
  }
  if (axes.empty()) {
    return InvalidInput(
        "nothing differs between the two sides that is recorded; name what changed with --axis",
        "--against");
  }
  if (steps > kMostSteps) {
    return InvalidInput(fmt::format("{} changes are too many for one search; expected at most {}",
                                    steps, kMostSteps),
                        "--axis");
  }
  return settable;
}

Positions LastOf(const std::vector<Axis>& settable) {
  Positions last;
  for (const Axis& axis : settable) last.push_back(static_cast<int>(axis.values.size()) - 1);
  return last;
}

Manifest BaseOf(const Manifest& recorded, const std::vector<Axis>& axes) {
  TrialRun run{.manifest = recorded};
  for (const Axis& axis : axes) {
    if (axis.held_drifted) Apply(axis, axis.values.back(), &run);
  }
  return run.manifest;
}

TrialRun RunAt(const Manifest& base, const std::vector<Axis>& settable, const Positions& at) {
  TrialRun run{.manifest = base};
  for (const bool of_ranks : {false, true}) {
    for (std::size_t i = 0; i < settable.size(); ++i) {
      const auto position = static_cast<std::size_t>(at[i]);
      if (position == 0 || settable[i].ranks.empty() == of_ranks) continue;
      const AxisValue& value = settable[i].values[position];
      of_ranks ? ApplyToRanks(settable[i], value, &run) : Apply(settable[i], value, &run);
    }
  }
  return run;
}

std::string DescribeStep(const std::vector<Axis>& settable, const SearchStep& step) {
  const Axis& axis = settable[step.axis];
  const auto position = static_cast<std::size_t>(step.position);
  const std::string& before = axis.values[position - 1].text;
  const std::string& after = axis.values[position].text;
  return fmt::format("{}: {} -> {}", axis.name, before, after);
}

}  // namespace rharness
