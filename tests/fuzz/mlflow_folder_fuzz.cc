// Fuzzes what MLflow's file store is read from: one input is a metric's file, a run's meta.yaml, a
// parameter and a data set, each in turn in a store that is else good. No crash, no undefined
// behaviour; a run that is taken makes a manifest that is read back, and no other file changes.
//
// Run: rharness-mlflow-folder-fuzz -max_total_time=90 CORPUS mlflow_folder_seeds
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "harness/base/files.h"
#include "harness/records/intake/mlflow.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

// One line of a metric, by the function that reads them.
void CheckLine(std::string_view text) {
  const auto point = ParseMlflowMetricLine(text.substr(0, text.find('\n')), "fuzz");
  if (!point.ok()) RequireError(point.error(), {ErrorCode::kInvalidInput}, "fuzz");
}

const std::filesystem::path& Store() {
  static const ScopedTempDir folder = [] {
    auto made = ScopedTempDir::Make();
    Require(made.ok());
    return std::move(*made);
  }();
  return folder.path();
}

void Put(const char* name, std::string_view content) {
  const std::filesystem::path file = Store() / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;  // which waits for no disk
}

void Lay(std::string_view meta, std::string_view metric, std::string_view param,
         std::string_view dataset, std::string_view model) {
  Put("1/meta.yaml", "artifact_location: x\nexperiment_id: '1'\nname: e\n");
  Put("1/r/meta.yaml", meta);
  Put("1/r/metrics/m", metric);
  Put("1/r/params/p", param);
  Put("1/r/inputs/i/meta.yaml", "source_type: DATASET\nsource_id: d\n");
  Put("1/datasets/d/meta.yaml", dataset);
  Put("1/r/outputs/m/meta.yaml", "destination_type: MODEL_OUTPUT\ndestination_id: m\n");
  Put("1/models/m/meta.yaml", model);
  Put("1/models/m/artifacts/w.bin", "x");
}

void ImportStore() {
  ImportRequest request;
  request.source = Store().string();
  ImportSink sink;
  sink.take = [](ImportedRun run) -> Status {
    const Json json = ToJson(std::move(run).Take());
    RequireReadable(json);
    Require(ParseManifest(json, "written").ok());
    return {};
  };
  sink.refuse = [](const std::string& where, const Error& why) {
    Require(!where.empty() && !why.message.empty());
  };
  MlflowImport import(request, sink);
  Require(ImportMlflowFolder(Store(), &import).ok());
}

void Check(std::string_view text) {
  constexpr std::string_view kMeta = "run_id: r\nstatus: 3\nstart_time: 1\n";
  constexpr std::string_view kDataset = "name: d\ndigest: '1'\nsource_type: local\nsource: '{}'\n";
  CheckLine(text);
  constexpr std::string_view kModel = "model_id: m\nname: clf\nstatus: 2\nsource_run_id: r\n";
  Lay(text, "1 2 3\n", "p", kDataset, kModel);
  ImportStore();
  Lay(kMeta, text, text, text, text);
  ImportStore();
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
