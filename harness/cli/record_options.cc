// Parsing of what `rharness record` is told.
#include "harness/cli/record_options.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rerun/image_file.h"
#include "harness/execution/rerun/table_data.h"
#include "harness/execution/tables/delta_table.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/image_name.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct NameAndValue {
  std::string name;
  std::string value;
};

Result<NameAndValue> SplitPair(std::string_view option, std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidInput(
        fmt::format("expected NAME=VALUE, found '{}' (the command and its options follow after --)",
                    text),
        std::string(option));
  }
  return NameAndValue{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::string> OutputPath(std::string_view option, const std::string& text) {
  if (!fs::path(text).is_absolute()) return text;
  return InvalidInput(fmt::format("'{}' is absolute; expected a path relative to the current "
                                  "folder, because a rerun writes its own copy elsewhere",
                                  text),
                      std::string(option));
}

// "[KIND:]PATH[,step=NAME]", with a kind that there is; else that is part of the path.
Status ReadMetricsPath(std::string text, RecordRequest* request) {
  constexpr std::string_view kStep = ",step=";
  if (const auto at = text.rfind(kStep); at != text.npos) {
    request->metrics_step = text.substr(at + kStep.size());
    text.resize(at);
    if (!IsName(request->metrics_step) || text.empty()) {
      return InvalidInput("expected [KIND:]PATH,step=NAME, with the name of a column or member",
                          "--metrics");
    }
  }
  for (const RunLogKind& kind : RunLogKinds()) {
    const std::string prefix = std::string(kind.name) + ":";
    if (!text.starts_with(prefix)) continue;
    request->metrics_kind = kind.name;
    text = text.substr(prefix.size());
    break;
  }
  ASSIGN_OR_RETURN(request->metrics_path, OutputPath("--metrics", text));
  return {};
}

// "[NAME=]PATH" or "[NAME=]delta:TABLE[@VERSION]"; an '=' after a '/' belongs to the path.
Result<DataItem> ParseData(const std::string& text) {
  DataItem item;
  const auto equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0 && text.find('/') > equals;
  std::string value = named ? text.substr(equals + 1) : text;
  if (IsDeltaSource(value)) {
    auto source = ParseDeltaSource(value);
    if (!source.ok()) return InvalidInput(source.error().message, "--data");
    item.kind = DataKind::kDelta;
    item.source = std::exchange(value, std::move(source->table));
  }
  fs::path path = fs::path(value).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  item.path = path.string();
  item.name = named ? text.substr(0, equals) : path.filename().string();
  return item;
}

Status ReadOutputs(const RecordArguments& arguments, RecordRequest* request) {
  for (const std::string& text : arguments.weights) {
    ASSIGN_OR_RETURN(std::string path, OutputPath("--weights", text));
    Artifact& artifact = request->artifacts.emplace_back();
    artifact.role = "weights";
    artifact.path = fs::path(path).lexically_normal().string();
  }
  for (const std::string& text : arguments.artifacts) {
    ASSIGN_OR_RETURN(NameAndValue pair, SplitPair("--artifact", text));
    if (pair.name == kModelOfTracker) {
      return InvalidInput(fmt::format("'{}' is a role of a tracker's files; expected optimizer, "
                                      "items, metrics, log or other, for files that the run writes",
                                      pair.name),
                          "--artifact");
    }
    ASSIGN_OR_RETURN(std::string path, OutputPath("--artifact", pair.value));
    Artifact& artifact = request->artifacts.emplace_back();
    artifact.role = pair.name;
    artifact.path = fs::path(path).lexically_normal().string();
  }
  RETURN_IF_ERROR(ReadMetricsPath(arguments.metrics_path, request));
  for (const std::string& text : arguments.metrics) {
    ASSIGN_OR_RETURN(Metric metric, ParseMetric(text));
    request->metrics.push_back(std::move(metric));
  }
  return {};
}

Status ReadSettings(const RecordArguments& arguments, RecordRequest* request) {
  for (const std::string& text : arguments.seeds) {
    ASSIGN_OR_RETURN(const NameAndValue pair, SplitPair("--seed", text));
    const auto seed = ParseNumber<std::int64_t>(pair.value);
    if (!seed) {
      return InvalidInput(fmt::format("expected NAME=INTEGER, found '{}'", text), "--seed");
    }
    request->seeds[pair.name] = *seed;
  }
  for (const std::string& text : arguments.hyperparameters) {
    ASSIGN_OR_RETURN(NameAndValue pair, SplitPair("--hyper", text));
    auto json = ParseJson(pair.value, "--hyper");
    Json value = json.ok() ? std::move(*json) : Json(pair.value);
    request->hyperparameters[pair.name] = WithoutSecrets(pair.name, std::move(value));
  }
  for (const std::string& text : arguments.flags) {
    ASSIGN_OR_RETURN(NameAndValue pair, SplitPair("--flag", text));
    request->determinism.flags[pair.name] = std::move(pair.value);
  }
  return {};
}

// "NAME=REPOSITORY@COMMIT" and the like, by the name of the data.
Status ReadMadeBy(const RecordArguments& arguments, RecordRequest* request) {
  for (const std::string& text : arguments.made_by) {
    ASSIGN_OR_RETURN(NameAndValue pair, SplitPair("--made-by", text));
    auto made_by = ParseMadeBy(pair.value);
    if (!made_by.ok()) {
      return InvalidInput(fmt::format("of '{}': {}", pair.name, made_by.error().message),
                          "--made-by");
    }
    if (!request->made_by.emplace(pair.name, std::move(*made_by)).second) {
      return InvalidInput(fmt::format("states twice what made '{}'", pair.name), "--made-by");
    }
  }
  return {};
}

std::string Platform() {
  utsname system{};
  if (::uname(&system) != 0) return "";
  const std::string_view machine = system.machine;
  if (machine == "x86_64") return "linux/amd64";
  if (machine == "aarch64") return "linux/arm64";
  return fmt::format("linux/{}", machine);
}

Status ReadMetricField(std::string_view field, Metric* metric) {
  const auto equals = field.find('=');
  const std::string_view key = field.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : field.substr(equals + 1);
  const std::optional<double> number = ParseNumber<double>(value);
  if (field == "primary") {
    metric->primary = true;
  } else if (key == "direction" && !value.empty() && ParseMetricDirection(value).ok()) {
    metric->direction = *ParseMetricDirection(value);
  } else if (key == "unit" && !value.empty()) {
    metric->unit = value;
  } else if (key == "margin" && number && *number > 0 && std::isfinite(*number)) {
    metric->margin = *number;
  } else if (key == "quantum" && number && *number >= 0 && std::isfinite(*number)) {
    metric->quantum = *number;
  } else if (key == "on" && !value.empty()) {
    metric->evaluated_on = value;
  } else {
    return InvalidInput(fmt::format("expected direction=higher|lower|none, unit=U, margin=X, "
                                    "quantum=X, on=DATA or primary, found '{}'",
                                    field),
                        "--metric");
  }
  return {};
}

}  // namespace

Result<Image> ParseImage(std::string_view text) {
  Image image;
  image.kind = ImageKind::kOci;
  const auto at = text.rfind('@');
  constexpr std::string_view kPrefix = "sha256:";
  const bool pinned = at != std::string_view::npos && text.substr(at + 1).starts_with(kPrefix);
  if (pinned && !IsSha256Hex(text.substr(at + 1 + kPrefix.size()))) {
    return InvalidInput(
        fmt::format("'{}' has no digest; expected 64 lower-case hex digits behind @sha256:", text),
        "--image");
  }
  if (IsPathOfImage(text.substr(0, pinned ? at : text.npos))) {
    image.kind = ImageKind::kSif;  // or the other kind of file: which one, it says itself
    image.location = text.substr(0, pinned ? at : text.npos);
    if (pinned) image.digest = text.substr(at + 1);
    image.platform = Platform();
    return image;
  }
  if (!pinned) {
    return InvalidInput(
        fmt::format("'{}' is not pinned; expected REFERENCE@sha256:DIGEST, or the path of a "
                    "SIF or squashfs file",
                    text),
        "--image");
  }
  image.digest = text.substr(at + 1);
  const std::string_view name = text.substr(0, at);
  if (name.find("://") != name.npos || name.find('@') != name.npos) {
    return InvalidInput(fmt::format("'{}' is not a reference; expected one such as "
                                    "registry.example/team/train:1@sha256:DIGEST, without a scheme",
                                    text),
                        "--image");
  }
  SplitImageName(name, &image);
  if (image.repository.empty()) return InvalidInput("names no repository", "--image");
  // What no engine takes is refused now, and not when it is to be rerun.
  const auto reference = ImageReference(image);
  if (!reference.ok()) return InvalidInput(reference.error().message, "--image");
  image.platform = Platform();
  return image;
}

Result<Metric> ParseMetric(std::string_view text) {
  Metric metric;
  metric.unit = "1";
  metric.name = text.substr(0, text.find(','));
  if (metric.name.empty()) return InvalidInput("expected a name first", "--metric");
  text.remove_prefix(metric.name.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view field = text.substr(0, text.find(','));
    RETURN_IF_ERROR(ReadMetricField(field, &metric));
    text.remove_prefix(field.size());
  }
  return metric;
}

bool FindsFacts(const RecordArguments& arguments) {
  const RecordArguments& a = arguments;
  const bool nothing = a.data.empty() && a.sources.empty() && a.made_by.empty() &&
                       a.weights.empty() && a.artifacts.empty() && a.metrics_path.empty() &&
                       a.metrics.empty() && a.seeds.empty() && a.rng_sources.empty() &&
                       a.code_files.empty() && a.image.empty() && a.kernel_list.empty();
  return a.find || (nothing && !a.no_observe);
}

Result<RecordRequest> BuildRequest(const RecordArguments& arguments) {
  RecordRequest request;
  request.run_id =
      arguments.run_id.empty() ? fs::path(arguments.out).stem().string() : arguments.run_id;
  request.find = FindsFacts(arguments);
  request.family = arguments.family;
  if (arguments.no_observe && arguments.find) {
    return InvalidInput("goes without --no-observe", "--find");
  }
  if (arguments.no_observe && arguments.python_hooks) {
    return InvalidInput("goes without --no-observe", "--python-hooks");
  }
  if (arguments.no_observe && !arguments.observe.empty()) {
    return InvalidInput("goes without --no-observe", "--observe");
  }
  if (!arguments.image.empty()) {
    ASSIGN_OR_RETURN(request.image, ParseImage(arguments.image));
  }
  for (const std::string& text : arguments.data) {
    ASSIGN_OR_RETURN(DataItem item, ParseData(text));
    request.data.push_back(std::move(item));
  }
  RETURN_IF_ERROR(ReadMadeBy(arguments, &request));
  RETURN_IF_ERROR(ReadOutputs(arguments, &request));
  RETURN_IF_ERROR(ReadSettings(arguments, &request));
  request.rng_sources = arguments.rng_sources;
  request.determinism.declared = arguments.determinism;
  request.determinism.scope = arguments.scope;
  request.code_files = arguments.code_files;
  for (const std::string& name : arguments.variables) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return InvalidInput(fmt::format("expected the name of a variable, found '{}'", name),
                          "--variable");
    }
    request.variables.insert(name);
  }
  request.resources.timeout_seconds = arguments.timeout_seconds;
  request.resources.cpus = arguments.cpus;
  request.resources.gpus = arguments.gpus;
  request.probe_families = arguments.probe_families;
  request.kernel_list = arguments.kernel_list;
  request.keep = arguments.keep;
  request.root = arguments.root;
  request.keep_diff = !arguments.no_diff;
  request.keep_untracked = arguments.untracked;
  request.observe = !arguments.no_observe;
  request.python_hooks = arguments.python_hooks;
  request.kernels = !arguments.observe.empty();
  request.command = arguments.command;
  return request;
}

}  // namespace rharness
