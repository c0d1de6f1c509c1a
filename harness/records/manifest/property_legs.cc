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

Manifest OtherLeg(const Manifest& run, const Property& property) {
  Manifest leg = StraightLeg(run);
  leg.command =
      property.command.empty() ? SetArguments(run.command, property.arguments) : property.command;
  for (const auto& [name, value] : property.environment) leg.environment.variables[name] = value;
  return leg;
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
