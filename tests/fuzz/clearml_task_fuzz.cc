// Fuzzes what an offline session of ClearML's is read from: one input is task.json, and the lines
// of metrics.jsonl and log.jsonl. No crash, no undefined behaviour; the manifest is read back, and
// an artifact lies below its session.
//
// Run: rharness-clearml-task-fuzz -max_total_time=90 CORPUS clearml_task_seeds
#include "harness/base/files.h"
#include "harness/records/intake/clearml_task.h"
#include "harness/records/intake/loose_json.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void Check(std::string_view text) {
  ImportedRun run("clearml", "fuzz", "offline-1");
  const auto task = ParseLooseJson(text, "fuzz");
  if (task.ok()) {
    AddClearmlTask(*task, &run);
    for (const ClearmlArtifact& artifact : ClearmlArtifactsOf(*task)) {
      Require(artifact.file.empty() || SafeRelativePath(artifact.file, "").ok());
    }
  }
  ClearmlEvents events;
  events.Add(text, "metrics.jsonl");
  events.AddTo(&run);
  const Json json = ToJson(std::move(run).Take());
  RequireReadable(json);
  Require(ParseManifest(json, "written").ok());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
