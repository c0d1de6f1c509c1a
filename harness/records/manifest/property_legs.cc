// Legs of properties.
#include "harness/records/manifest/property_legs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/records/manifest/command_arguments.h"

namespace rharness {
namespace {

std::string Put(std::string text, std::string_view placeholder, std::string_view value) {
  for (auto at = text.find(placeholder); at != text.npos;
       at = text.find(placeholder, at + value.size())) {
    text.replace(at, placeholder.size(), value);
  }
  return text;
}

std::vector<std::string> Put(std::vector<std::string> words, std::int64_t step,
                             const std::string& checkpoint) {
  for (std::string& word : words) {
    word = Put(Put(std::move(word), kStepPlaceholder, std::to_string(step)), kCheckpointPlaceholder,
               checkpoint);
  }
  return words;
}

OtherWay WithSize(OtherWay way, const std::string& size) {
  way.label = size;
  for (auto* words : {&way.arguments, &way.command}) {
    for (std::string& word : *words) word = Put(std::move(word), kSizePlaceholder, size);
  }
  for (auto& [name, value] : way.environment) {
    if (value) value = Put(std::move(*value), kSizePlaceholder, size);
  }
  return way;
}

std::vector<std::string> CommandOf(const Manifest& run, const OtherWay& way) {
  return way.command.empty() ? SetArguments(run.command, way.arguments) : way.command;
}

// Where the next leg finds it.
std::string LaidAt(const Property& property, std::int64_t step) {
  return property.laid_at.empty() ? CheckpointOf(property, step)
                                  : Put(property.laid_at, kStepPlaceholder, std::to_string(step));
}

void Lay(const LeftCheckpoint& checkpoint, const std::string& path, Manifest* leg) {
  leg->data.push_back({.name = kLaidCheckpoint,
                       .location = checkpoint.location,
                       .path = path,
                       .kind = checkpoint.kind,
                       .sha256 = checkpoint.sha256,
                       .size_bytes = checkpoint.size_bytes,
                       .other_digest = {},
                       .source = {},
                       .made_by = {}});
}

}  // namespace

std::string CheckpointOf(const Property& property, std::int64_t step) {
  return Put(property.checkpoint, kStepPlaceholder, std::to_string(step));
}

// Observe a leg's outputs only, not what it uses.
Manifest StraightLeg(const Manifest& run) {
  Manifest leg = run;
  leg.properties.clear();
  leg.observation.reset();
  return leg;
}

Manifest StoppedLeg(const Manifest& run, const Property& property, std::int64_t step) {
  Manifest leg = StraightLeg(run);
  leg.command = SetArguments(run.command, Put(property.stop, step, ""));
  leg.artifacts.clear();
  return leg;
}

Manifest ResumedLeg(const Manifest& run, const Property& property, std::int64_t step,
                    const LeftCheckpoint& checkpoint) {
  Manifest leg = StraightLeg(run);
  const std::string laid_at = LaidAt(property, step);
  leg.command = SetArguments(run.command, Put(property.resume, step, laid_at));
  Lay(checkpoint, laid_at, &leg);
  return leg;
}

std::vector<OtherWay> WaysOf(const Property& property) {
  std::vector<OtherWay> ways;
  const OtherWay one{.label = {},
                     .arguments = property.arguments,
                     .command = property.command,
                     .environment = property.environment};
  switch (property.kind) {
    case PropertyKind::kAccumulated:
    case PropertyKind::kLoaderWorkers:
    case PropertyKind::kProcesses:
      ways.push_back(one);
      break;
    case PropertyKind::kBatchInvariant:
      for (const std::int64_t size : property.sizes) {
        ways.push_back(WithSize(one, std::to_string(size)));
      }
      ways.insert(ways.end(), property.ways.begin(), property.ways.end());
      break;
    default:
      break;
  }
  return ways;
}

Manifest OtherLeg(const Manifest& run, const OtherWay& way) {
  Manifest leg = StraightLeg(run);
  leg.command = CommandOf(run, way);
  for (const auto& [name, value] : way.environment) leg.environment.variables[name] = value;
  return leg;
}

bool IsAsRecorded(const Manifest& run, const OtherWay& way) {
  if (CommandOf(run, way) != run.command) return false;
  const auto& recorded = run.environment.variables;
  return std::ranges::all_of(way.environment, [&](const auto& variable) {
    const auto found = recorded.find(variable.first);
    return found == recorded.end() ? !variable.second : found->second == variable.second;
  });
}

Manifest ReshardLeg(const Manifest& run, const Property& property, std::size_t index,
                    const LeftCheckpoint& checkpoint) {
  Manifest leg = StraightLeg(run);
  const std::string laid_at = index == 0 ? LaidAt(property, 0) : property.steps[index - 1].saved;
  leg.command = Put(property.steps[index].command, 0, laid_at);
  leg.artifacts.clear();
  leg.metrics.clear();
  leg.curves.clear();
  leg.metrics_path.clear();
  leg.metrics_step.clear();
  Lay(checkpoint, laid_at, &leg);
  return leg;
}

Manifest EvaluationLeg(const Manifest& run, const Property& property, bool again,
                       const LeftCheckpoint& checkpoint) {
  Manifest leg = StraightLeg(run);
  const std::string laid_at = LaidAt(property, 0);
  leg.command = Put(property.command, 0, laid_at);
  if (again) leg.command = SetArguments(leg.command, Put(property.again, 0, laid_at));
  leg.artifacts.clear();
  Lay(checkpoint, laid_at, &leg);
  return leg;
}

}  // namespace rharness
