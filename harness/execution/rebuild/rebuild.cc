// A run's parts in order, and the state that queries share.
#include "harness/execution/rebuild/rebuild.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/execution/rebuild/asked.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/hardware_class.h"

namespace rharness {
namespace {

// A different machine may have the class: hardware missing here is not gone.
void AskForHardware(const Manifest& manifest, std::vector<Part>* parts) {
  const Hardware& recorded = manifest.environment.hardware;
  if (recorded.cpu.architecture.empty()) return;
  const Hardware here = CaptureEnvironment().hardware;
  Part part{.kind = "hardware", .name = {}, .why = {}};
  if (manifest.resources.gpus > 0) {
    part.name = DescribeGpus(recorded);
    const auto differences = CompareHardwareClass(manifest, here, {});
    const bool enough = here.gpus.size() >= static_cast<std::size_t>(manifest.resources.gpus);
    part.state = differences.empty() && enough ? PartState::kHad : PartState::kUnknown;
    part.why = fmt::format("this machine has {}", DescribeGpus(here));
  } else {
    // Without GPUs, bits promised on one hardware class are promised on one CPU model.
    const bool by_model = manifest.determinism.declared == "bitwise" &&
                          manifest.determinism.scope == "hardware_class";
    part.name =
        by_model && !recorded.cpu.model.empty() ? recorded.cpu.model : recorded.cpu.architecture;
    const std::string& now =
        part.name == recorded.cpu.model ? here.cpu.model : here.cpu.architecture;
    part.state = now == part.name ? PartState::kHad : PartState::kUnknown;
    part.why = fmt::format("this machine has {}", now.empty() ? "a different one" : now);
  }
  parts->push_back(std::move(part));
}

}  // namespace

PartState RunParts::State() const {
  if (parts.empty()) return PartState::kUnknown;
  return std::ranges::max_element(parts, {}, &Part::state)->state;
}

Answer Rebuilder::Asked::Once(const std::string& question, const std::function<Answer()>& ask) {
  const auto found = known.find(question);
  if (found != known.end()) return found->second;
  if (options.should_cancel && options.should_cancel()) {
    return {PartState::kUnknown, "was interrupted"};
  }
  return known.emplace(question, ask()).first->second;
}

ProcessResult Rebuilder::Asked::Run(std::vector<std::string> argv,
                                    std::map<std::string, std::string> environment) const {
  ProcessSpec spec{.argv = std::move(argv), .environment = std::move(environment)};
  spec.working_directory = "/";
  ProcessLimits limits;
  limits.timeout = options.limit;
  limits.output_bytes = std::uint64_t{16} << 20;
  limits.close_when_full = true;
  return RunProcess(spec, limits, {}, options.should_cancel);
}

HttpLimits Rebuilder::Asked::Limits() const {
  HttpLimits limits;
  limits.connect = std::min(limits.connect, options.limit);
  limits.request = options.limit;
  limits.attempts = 1;
  return limits;
}

std::pair<std::string, std::string> SplitUrl(const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    const auto slash = url.find('/', scheme.size());
    if (slash == scheme.size()) break;
    if (slash == url.npos) return {url, "/"};
    return {url.substr(0, slash), url.substr(slash)};
  }
  return {};
}

Rebuilder::Rebuilder(RebuildOptions options) : asked_(std::make_unique<Asked>()) {
  asked_->options = std::move(options);
}
Rebuilder::Rebuilder(Rebuilder&&) noexcept = default;
Rebuilder::~Rebuilder() = default;

RunParts Rebuilder::Ask(const Manifest& manifest) {
  RunParts run{.run_id = manifest.run_id, .parts = {}};
  AskForImage(manifest, asked_.get(), &run.parts);
  AskForCode(manifest, asked_.get(), &run.parts);
  AskForData(manifest, asked_.get(), &run.parts);
  AskForMakers(manifest, asked_.get(), &run.parts);
  AskForPython(manifest, asked_.get(), &run.parts);
  if (asked_->options.packages) AskForPackages(manifest, asked_.get(), &run.parts);
  AskForHardware(manifest, &run.parts);
  return run;
}

Json PartsToJson(const std::vector<Part>& parts) {
  Json list = Json::MakeArray();
  for (const Part& part : parts) {
    list.Append(Json::MakeObject({{"kind", part.kind},
                                  {"name", part.name},
                                  {"state", PartStateName(part.state)},
                                  {"why", part.why}}));
  }
  return list;
}

Json ToJson(const std::vector<RunParts>& runs) {
  Json list = Json::MakeArray();
  PartState worst = runs.empty() ? PartState::kUnknown : PartState::kHad;
  for (const RunParts& run : runs) {
    worst = std::max(worst, run.State());
    list.Append(Json::MakeObject({{"run_id", run.run_id},
                                  {"state", PartStateName(run.State())},
                                  {"parts", PartsToJson(run.parts)}}));
  }
  return Json::MakeObject({{"schema", "rharness.rebuild/v1"},
                           {"state", PartStateName(worst)},
                           {"runs", std::move(list)}});
}

}  // namespace rharness
