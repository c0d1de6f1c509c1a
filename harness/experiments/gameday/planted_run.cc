// Faults in commands, variables and data items.
#include "harness/experiments/gameday/planted_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "harness/records/manifest/command_arguments.h"
#include "reports/text.h"

namespace rharness {
namespace {

Error CannotPlant(std::string why) { return Unsupported(std::move(why)); }

bool HasSeedInName(std::string_view name) {
  std::string lower;
  for (const char c : name) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower.find("seed") != lower.npos;
}

// The place of a seed's value in a command, as in ConfigurationKey: the constant part, and the
// seed.
struct SeedPlace {
  std::size_t argument = 0;
  std::string prefix;
  std::int64_t seed = 0;
};

std::vector<SeedPlace> SeedsIn(const Manifest& run) {
  std::vector<SeedPlace> places;
  for (std::size_t i = 0; i < run.command.size(); ++i) {
    const std::string& text = run.command[i];
    const auto equals = text.find('=');
    const bool inside = equals != text.npos && HasSeedInName(text.substr(0, equals));
    const bool behind = i > 0 && HasSeedInName(run.command[i - 1]) &&
                        run.command[i - 1].find('=') == std::string::npos;
    const std::size_t begin = inside ? equals + 1 : 0;
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + begin, end, value);
    const auto is_it = [&](const auto& seed) { return seed.second == value; };
    if ((!inside && !behind) || read.ec != std::errc() || read.ptr != end) continue;
    if (std::ranges::none_of(run.seeds, is_it)) continue;
    places.push_back({i, text.substr(0, begin), value});
  }
  return places;
}

Result<Manifest> WithOtherSeed(const Manifest& run) {
  const std::vector<SeedPlace> places = SeedsIn(run);
  if (places.empty()) {
    return CannotPlant(run.seeds.empty() ? "the record has no seeds"
                                         : "the command passes none of its seeds");
  }
  constexpr std::int64_t kFurther = 7919;  // seeds are counted from 1 more often than not
  Manifest planted = run;
  for (const SeedPlace& place : places) {
    const std::int64_t other =
        place.seed > (1LL << 30) ? place.seed - kFurther : place.seed + kFurther;
    planted.command[place.argument] = place.prefix + std::to_string(other);
  }
  return planted;
}

std::optional<double> NumberOf(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The argument that has a hyperparameter: by its name, by the option that the fault names, or, of a
// rate of learning, by another name of one with the recorded value.
std::optional<FoundArgument> PlaceOf(const Fault& fault, const Manifest& run, double recorded) {
  if (!fault.option.empty()) return FindArgument(run.command, fault.option);
  if (auto found = FindArgument(run.command, fault.subject)) return found;
  if (!NamesLearningRate(fault.subject)) return std::nullopt;
  for (const std::string& option : OptionsOf(run.command)) {
    const std::string bare = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    if (!NamesLearningRate(bare)) continue;
    auto found = FindArgument(run.command, option);
    if (found && NumberOf(found->value) == recorded) return found;
  }
  return std::nullopt;
}

Result<Manifest> WithHyperparameter(const Fault& fault, const Manifest& run) {
  const auto named = run.hyperparameters.find(fault.subject);
  const auto passed = FindArgument(run.command, fault.subject);
  std::optional<double> recorded;
  if (named != run.hyperparameters.end()) recorded = named->second.ToDouble();
  if (!recorded && passed) recorded = NumberOf(passed->value);
  if (!recorded) return CannotPlant("the record has no such hyperparameter that is a number");
  const bool whole =
      named != run.hyperparameters.end() && named->second.kind() != Json::Kind::kDouble;
  const double scaled = whole ? std::round(*recorded * fault.size) : *recorded * fault.size;
  if (scaled == *recorded) {
    return CannotPlant(fmt::format("it is {}, which the factor leaves as it is", *recorded));
  }
  const std::string value = fmt::format("{:.12g}", scaled);
  Manifest planted = run;
  if (const auto place = PlaceOf(fault, run, *recorded)) {
    planted.command[place->argument] = place->prefix + value;
    return planted;
  }
  if (fault.option.empty()) {
    return CannotPlant(
        fmt::format("the command does not pass it; say which option does, such as "
                    "--fault 'hyperparameter:{}*{}@--OPTION'",
                    SafeText(fault.subject, 80), fault.size));
  }
  planted.command.push_back(fault.option);
  planted.command.push_back(value);
  return planted;
}

Result<Manifest> WithArgument(const Fault& fault, const Manifest& run) {
  const auto place = FindArgument(run.command, fault.subject);
  if (!place) {
    return CannotPlant(
        fmt::format("the command has no such argument; its options: {}",
                    SafeText(fmt::format("{}", fmt::join(OptionsOf(run.command), ", ")))));
  }
  if (place->value == fault.value) return CannotPlant("is what was recorded");
  Manifest planted = run;
  planted.command[place->argument] = place->prefix + fault.value;
  return planted;
}

Result<Manifest> WithVariable(const Fault& fault, const Manifest& run) {
  Manifest planted = run;
  std::optional<std::string>& value = planted.environment.variables[fault.subject];
  if (value == fault.value) return CannotPlant("is what was recorded");
  value = fault.value;
  return planted;
}

Result<Manifest> WithData(const Fault& fault, const Manifest& run, const DataItem& data) {
  Manifest planted = run;
  const auto item = std::ranges::find(planted.data, fault.subject, &DataItem::name);
  if (item == planted.data.end()) return CannotPlant("the record has no such data");
  item->location = data.location;
  item->source.clear();
  if (!fault.unseen) return planted;  // it claims the recorded content, and differs
  item->sha256 = data.sha256;
  item->size_bytes = data.size_bytes;
  item->other_digest.clear();
  return planted;
}

// The rank gets the changed copy where its command names the file.
Result<Manifest> WithDataOnRank(const Fault& fault, const Manifest& run, const DataItem& data) {
  const auto item = std::ranges::find(run.data, fault.subject, &DataItem::name);
  if (item == run.data.end()) return CannotPlant("the record has no such data");
  Manifest planted = run;
  bool is_named = false;
  for (std::string& argument : planted.command) {
    const bool ends = argument.ends_with(item->path);
    const std::size_t at = ends ? argument.size() - item->path.size() : 0;
    if (!ends || item->path.empty() || (at > 0 && argument[at - 1] != '=')) continue;
    argument = argument.substr(0, at) + data.location;
    is_named = true;
  }
  if (is_named) return planted;
  return CannotPlant(
      fmt::format("the command does not name {}, so that no rank can be given another file; where "
                  "one rank alone reads it, plant it without a rank",
                  SafeText(item->path, 200)));
}

// Why a fault cannot be on its rank; empty: it can.
std::string WhyNotOnRank(const Fault& fault, const Manifest& run) {
  if (!fault.rank) return "";
  if (!run.gang) return "the run has no ranks: it was recorded as one process";
  if (run.gang->start == GangStart::kOnce) {
    return "the command starts its ranks itself, and a rerun cannot change one of them";
  }
  const int ranks = run.gang->starts();
  return *fault.rank < ranks ? "" : fmt::format("the run has ranks 0 to {}", ranks - 1);
}

}  // namespace

RankChange ChangeOf(const Fault& fault, const Manifest& run, const Manifest& planted) {
  RankChange change{.rank = fault.rank.value_or(0), .command = {}, .environment = {}};
  if (planted.command != run.command) change.command = planted.command;
  for (const auto& [name, value] : planted.environment.variables) {
    const auto recorded = run.environment.variables.find(name);
    const bool same = recorded != run.environment.variables.end() && recorded->second == value;
    if (!same) change.environment[name] = value;
  }
  return change;
}

Result<Manifest> PlantInRun(const Fault& fault, const Manifest& run, const DataItem& data) {
  if (const std::string why = WhyNotOnRank(fault, run); !why.empty()) return CannotPlant(why);
  switch (fault.kind) {
    case FaultKind::kSeedLost:
      return WithOtherSeed(run);
    case FaultKind::kHyperparameter:
      return WithHyperparameter(fault, run);
    case FaultKind::kArgument:
      return WithArgument(fault, run);
    case FaultKind::kVariable:
      return WithVariable(fault, run);
    case FaultKind::kDataRow:
    case FaultKind::kDataOrder:
      return fault.rank ? WithDataOnRank(fault, run, data) : WithData(fault, run, data);
    default:
      return CannotPlant("is planted in what a rerun left");
  }
}

Result<DataItem> DataOf(const Fault& fault, const Manifest& run) {
  const auto item = std::ranges::find(run.data, fault.subject, &DataItem::name);
  if (item == run.data.end()) return CannotPlant("the record has no such data");
  if (item->kind != DataKind::kFile) {
    return CannotPlant("is no file of rows, but a " +
                       std::string(NameIn(kDataKindNames, item->kind)));
  }
  return *item;
}

Manifest Unseeded(const Manifest& run) {
  Manifest unseeded = run;
  for (const SeedPlace& place : SeedsIn(run)) {
    unseeded.command[place.argument] = place.prefix + "{seed}";
  }
  std::erase_if(unseeded.hyperparameters,
                [](const auto& entry) { return HasSeedInName(entry.first); });
  unseeded.seeds.clear();
  return unseeded;
}

}  // namespace rharness
