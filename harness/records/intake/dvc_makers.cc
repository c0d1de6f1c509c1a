// Which stage of a dvc.lock wrote what.
#include "harness/records/intake/dvc_run.h"

namespace rharness {

DvcMakers DvcMakersOf(const std::vector<DvcStage>& stages, DvcStageRun run,
                      const std::filesystem::path& root) {
  DvcMakers makers;
  for (const DvcStage& stage : stages) {
    run.stage = stage;
    std::string trouble;  // told of the run
    const std::string folder = DvcStageFolder(run, root, &trouble);
    DvcMaker maker{.id = run.Id(), .digest = {}, .reads = {}};
    for (const DvcEntry& dep : stage.deps) {
      maker.reads.emplace_back(DvcPathBelow(root, folder, dep.path), dep.Digest());
    }
    for (const DvcEntry& out : stage.outs) {
      const std::string path = DvcPathBelow(root, folder, out.path);
      if (path.empty()) continue;
      maker.digest = out.Digest();
      const auto [there, is_new] = makers.emplace(path, maker);
      if (!is_new) ++there->second.owners;
    }
  }
  return makers;
}

}  // namespace rharness
