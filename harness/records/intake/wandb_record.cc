// The records of W&B's transaction log: fields by their numbers.
#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/protobuf_reader.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/wandb_run.h"

namespace rharness {
namespace {

// Of a Record.
enum RecordField : std::uint32_t {
  kConfig = 5,
  kRun = 17,
  kExit = 18,
  kUseArtifact = 25,
  kEnvironment = 26,
};

std::string Own(const ProtobufField& field) { return std::string(field.content); }

WallTime TimestampOf(std::string_view message) {
  std::int64_t seconds = 0, nanos = 0;
  ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) seconds = field.AsInt();
    if (field.number == 2) nanos = field.AsInt();
  });
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // far beyond the year 9999
  seconds = std::clamp<std::int64_t>(seconds, 0, kMost);
  nanos = std::clamp<std::int64_t>(nanos, 0, 999'999'999);
  return WallTime(std::chrono::milliseconds(seconds * 1000 + nanos / 1'000'000));
}

bool ReadGit(std::string_view message, WandbHost* host) {
  return ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) host->git_remote = Own(field);
    if (field.number == 2) host->git_commit = Own(field);
  });
}

bool AddRun(std::string_view message, WandbRun* run) {
  bool good = true;
  good &= ForProtobufFields(message, [&](const ProtobufField& field) {
    switch (field.number) {
      case 1:
        run->id = Own(field);
        break;
      case 3:
        run->project = Own(field);
        break;
      case 4:
        good &= AddWandbValues(field.content, &run->config);
        break;
      case 6:
        run->group = Own(field);
        break;
      case 17:
        run->started = TimestampOf(field.content);
        break;
      case 21:
        good &= ReadGit(field.content, &run->host);
        break;
      default:
        break;
    }
  });
  return good;
}

bool ReadGpu(std::string_view message, WandbHost* host) {
  WandbGpu gpu;
  const bool good = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) gpu.name = Own(field);
    if (field.number == 2) gpu.memory_bytes = field.value;
  });
  if (good) host->gpus.push_back(std::move(gpu));
  return good;
}

struct HostText {
  std::uint32_t number;
  std::string WandbHost::*text;
};

// The fields of an environment that are texts.
constexpr std::array<HostText, 9> kHostTexts = {{{1, &WandbHost::os},
                                                 {2, &WandbHost::python},
                                                 {4, &WandbHost::docker},
                                                 {6, &WandbHost::program},
                                                 {7, &WandbHost::code_path},
                                                 {11, &WandbHost::root},
                                                 {14, &WandbHost::executable},
                                                 {18, &WandbHost::gpu},
                                                 {25, &WandbHost::cuda}}};

bool ReadCpu(std::string_view message, WandbHost* host) {
  return ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 3) host->cpu = Own(field);
  });
}

bool ReadSlurm(std::string_view message, WandbHost* host) {
  std::string name, value;
  const bool good = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) name = Own(field);
    if (field.number == 2) value = Own(field);
  });
  if (good) host->slurm[name] = std::move(value);
  return good;
}

// Several such records add up: each has the data known by then.
bool AddEnvironment(std::string_view message, WandbRun* run) {
  WandbHost& host = run->host;
  host.from = "environment of the log";
  bool good = true;
  std::vector<std::string> args;
  std::vector<WandbGpu> gpus = std::exchange(host.gpus, {});
  good &= ForProtobufFields(message, [&](const ProtobufField& field) {
    const auto text = std::ranges::find(kHostTexts, field.number, &HostText::number);
    if (text != kHostTexts.end()) host.*(text->text) = Own(field);
    if (field.number == 3) run->started = TimestampOf(field.content);
    if (field.number == 5) args.push_back(Own(field));
    if (field.number == 9) good &= ReadGit(field.content, &host);
    if (field.number == 19) host.gpu_count = field.value;
    if (field.number == 22) good &= ReadCpu(field.content, &host);
    if (field.number == 24) good &= ReadGpu(field.content, &host);
    if (field.number == 27) good &= ReadSlurm(field.content, &host);
  });
  if (!args.empty()) host.args = std::move(args);
  if (host.gpus.empty()) host.gpus = std::move(gpus);
  return good;
}

bool AddUsed(std::string_view message, WandbRun* run) {
  WandbUsedArtifact used;
  const bool good = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) used.id = Own(field);
    if (field.number == 2) used.type = Own(field);
    if (field.number == 3) used.name = Own(field);
  });
  if (good && !used.name.empty()) run->used.push_back(std::move(used));
  return good;
}

bool AddExit(std::string_view message, WandbRun* run) {
  run->exit_code = 0;  // which is not written
  return ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) run->exit_code = field.AsInt();
  });
}

}  // namespace

bool AddWandbRecord(std::string_view record, WandbRun* run) {
  bool good = AddWandbMetrics(record, run);
  good &= ForProtobufFields(record, [&](const ProtobufField& field) {
    switch (field.number) {
      case kConfig:
        good &= AddWandbValues(field.content, &run->config);
        break;
      case kRun:
        good &= AddRun(field.content, run);
        break;
      case kExit:
        good &= AddExit(field.content, run);
        break;
      case kUseArtifact:
        good &= AddUsed(field.content, run);
        break;
      case kEnvironment:
        good &= AddEnvironment(field.content, run);
        break;
      default:
        break;
    }
  });
  return good;
}

}  // namespace rharness
