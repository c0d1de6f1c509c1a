// The files that W&B puts beside its log.
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "compare/curves/printed_number.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/wandb_run.h"

namespace rharness {
namespace {

std::uint64_t CountOf(const Json* json) {
  const std::string text = LooseText(json);
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

void TakeIfEmpty(std::string* field, std::string value) {
  if (field->empty()) *field = std::move(value);
}

}  // namespace

void AddWandbMetadata(const Json& metadata, WandbRun* run) {
  WandbHost& host = run->host;
  if (host.from.empty()) host.from = "wandb-metadata.json";
  const auto take = [&](const char* key, std::string* field) {
    TakeIfEmpty(field, LooseText(metadata, key));
  };
  take("os", &host.os);
  take("python", &host.python);
  take("docker", &host.docker);
  take("program", &host.program);
  take("codePath", &host.code_path);
  take("root", &host.root);
  take("executable", &host.executable);
  take("gpu", &host.gpu);
  take("cudaVersion", &host.cuda);
  if (host.args.empty()) {
    ForEachElement(metadata.Find("args"),
                   [&](const Json& one) { host.args.push_back(LooseText(&one)); });
  }
  if (const Json* git = metadata.Find("git")) {
    TakeIfEmpty(&host.git_remote, LooseText(*git, "remote"));
    TakeIfEmpty(&host.git_commit, LooseText(*git, "commit"));
  }
  if (const Json* cpu = metadata.Find("cpu")) TakeIfEmpty(&host.cpu, LooseText(*cpu, "model"));
  if (host.gpu_count == 0) host.gpu_count = CountOf(metadata.Find("gpu_count"));
  if (host.gpus.empty()) {
    ForEachElement(metadata.Find("gpu_nvidia"), [&](const Json& gpu) {
      host.gpus.push_back({LooseText(gpu, "name"), CountOf(gpu.Find("memoryTotal"))});
    });
  }
  if (host.slurm.empty()) {
    ForEachMember(metadata.Find("slurm"), [&](const std::string& name, const Json& value) {
      host.slurm[name] = LooseText(&value);
    });
  }
  if (run->started == WallTime{}) {
    std::string started = LooseText(metadata, "startedAt");
    // Of older versions it has no zone, and is UTC.
    if (!started.empty() && started.find_first_of("Zz+", 10) == started.npos) started += 'Z';
    if (const auto time = ParseTime(started); time.ok()) run->started = *time;
  }
}

void AddWandbConfig(const Json& config, WandbRun* run) {
  ForEachMember(&config, [&](const std::string& name, const Json& wrapped) {
    if (name.starts_with('_') || name == "wandb_version") return;
    const Json* value = wrapped.Find("value");
    run->config.emplace(name, value == nullptr ? wrapped : *value);
  });
}

void AddWandbSummary(const Json& summary, WandbRun* run) {
  ForEachMember(&summary, [&](const std::string& name, const Json& value) {
    if (!name.starts_with('_')) run->summary.emplace(name, value);
  });
}

void AddWandbHistory(std::string_view text, WandbRun* run) {
  std::size_t bad = 0;
  for (std::int64_t line = 0; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text = end == text.npos ? "" : text.substr(end + 1);
    if (one.empty()) continue;
    const auto json = ParseJsonWithNonFinite(one, "");
    if (!json.ok() || !json->IsObject()) {
      ++bad;
      continue;
    }
    const Json* said = json->Find("_step");
    const std::int64_t step = (said == nullptr ? std::nullopt : said->ToInt64()).value_or(line);
    ForEachMember(&*json, [&](const std::string& name, const Json& value) {
      if (name.starts_with('_')) return;
      const auto number = PrintedOf(value);
      if (!number) {
        ++run->other_values;
      } else if (++run->points <= kMostWandbPoints) {
        run->history[name].steps.push_back(step);
        run->history[name].values.push_back(number->value);
      }
    });
  }
  if (bad > 0) {
    run->remarks.push_back(fmt::format("wandb-history.jsonl: {} {} no JSON object", bad,
                                       bad == 1 ? "line is" : "lines are"));
  }
}

void AddWandbRequirements(std::string_view text, WandbRun* run) {
  std::size_t others = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? "" : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find("==");
    if (equals == line.npos || equals == 0 || line.find_first_of(" @/") != line.npos) {
      ++others;
    } else {
      run->packages[std::string(line.substr(0, equals))] = line.substr(equals + 2);
    }
  }
  if (others > 0) {
    run->remarks.push_back(fmt::format("requirements.txt: {} {} no NAME==VERSION", others,
                                       others == 1 ? "line is" : "lines are"));
  }
}

}  // namespace rharness
