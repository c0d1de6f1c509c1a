// Fuzzes what a DVC repository is read from: one input is a dvc.lock, a dvc.yaml, a .dvc file, the
// listing of a directory, a configuration, .dvcignore, a command and a plot, each in turn. No
// crash, no undefined behaviour; listings are written and read back; the manifest of every stage
// that was taken is read back.
//
// Run: rharness-dvc-files-fuzz -max_total_time=90 CORPUS dvc_files_seeds
#include "harness/base/files.h"
#include "harness/records/intake/dvc_command.h"
#include "harness/records/intake/dvc_ignore.h"
#include "harness/records/intake/dvc_results.h"
#include "harness/records/intake/dvc_run.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

const HeldFolder& Root() {
  static const ScopedTempDir folder = [] {
    auto made = ScopedTempDir::Make();
    Require(made.ok());
    return std::move(*made);
  }();
  static const HeldFolder held = *HeldFolder::Open(folder.path());
  return held;
}

template <class T>
bool Taken(const Result<T>& result) {
  if (result.ok()) return true;
  RequireError(result.error(), {ErrorCode::kInvalidInput, ErrorCode::kUnsupported}, "fuzz");
  return false;
}

void CheckStages(const DvcLock& lock, std::shared_ptr<const DvcPipeline> pipeline) {
  static ImportRequest request;
  DvcContents contents(Root(), {}, {});
  const DvcRepository repository{request, Root(), contents, nullptr, {}, {}};
  std::size_t count = 0;
  for (const DvcStage& stage : lock.stages) {
    if (++count > 20) return;
    for (const DvcEntry& entry : stage.deps) Require(!entry.IsMd5() || entry.hash.size() == 32);
    const DvcStageRun run{"a", stage, pipeline, {}};
    const Json json = ToJson(BuildDvcRun(run, repository).Take());
    RequireReadable(json);
    Require(ParseManifest(json, "written").ok());
  }
  for (const auto& [name, why] : lock.refused)
    RequireError(why, {ErrorCode::kInvalidInput}, "fuzz");
}

void CheckListing(std::string_view text) {
  const auto files = ParseDvcListing(text, "fuzz");
  if (!Taken(files)) return;
  const std::string written = WriteDvcListing(*files);
  const auto again = ParseDvcListing(written, "written");
  Require(again.ok() && again->size() == files->size() && WriteDvcListing(*again) == written);
}

void CheckLines(const std::string& text) {
  DvcIgnore ignore;
  ignore.Add("", text);
  ignore.Add("a/b", text);
  ignore.Ignores("a/b/c.txt", false);
  ignore.Ignores(text.substr(0, 64), true);
  ParseDvcConfig({text});
  if (const auto words = PlainWords(text)) Require(!words->empty() && !words->front().empty());
}

void Check(std::string_view text) {
  const auto pipeline = ParseDvcYaml(text, "fuzz");
  auto shared = Taken(pipeline) ? std::make_shared<const DvcPipeline>(*pipeline) : nullptr;
  const auto lock = ParseDvcLock(text, "fuzz");
  if (Taken(lock)) CheckStages(*lock, shared);
  const auto tracked = ParseDvcFile(text, "fuzz");
  if (Taken(tracked)) {
    for (const DvcEntry& out : tracked->outs) {
      const std::string below = DvcPathBelow("/root", tracked->folder, out.path);
      Require(below.empty() || SafeRelativePath(below, "").ok());
    }
  }
  CheckListing(text);
  CheckLines(std::string(text));
  for (const char* file : {"fuzz.csv", "fuzz.tsv", "fuzz.json"}) {
    Taken(ParseDvcPlot(text, file, "x"));
  }
  const auto values = ParseDvcValues(text, "fuzz.yaml");
  if (Taken(values)) DifferingParams(*values, *values);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
