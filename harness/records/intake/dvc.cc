// DVC repositories: stages of dvc.lock in the workspace, and of experiments.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/log.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/dvc_run.h"
#include "harness/records/intake/importers.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDvcFiles = 100'000;    // *.dvc, dvc.lock and dvc.yaml
constexpr std::size_t kMostEntries = 10'000'000;  // that are looked at for them
constexpr std::uint64_t kMostConfigBytes = std::uint64_t{1} << 20;

std::string FolderOf(const std::string& file) { return fs::path(file).parent_path().string(); }

bool HasDvcFolder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(folder / ".dvc", error));
}

// The repository of a source, or around it; a source without one counts as one.
fs::path RootOf(const fs::path& source) {
  for (fs::path at = source; !at.empty(); at = at.parent_path()) {
    if (HasDvcFolder(at)) return at;
    if (at == at.root_path()) break;
  }
  return source;
}

struct FoundFiles {
  std::vector<std::string> locks;    // those below the source
  std::vector<std::string> tracked;  // *.dvc
};

class DvcImport {
 public:
  DvcImport(const ImportRequest& request, const ImportSink& sink, const SourceFolder& root,
            std::string scope)
      : request_(request), sink_(sink), root_(root), scope_(std::move(scope)) {}

  Status Run() {
    ASSIGN_OR_RETURN(const FoundFiles files, FindFiles());
    DvcConfig config = ReadConfig();
    DvcContents contents(root_.folder(), Caches(config), request_.should_cancel);
    auto git = DvcGit::Open(root_.path());
    if (!git.ok()) sink_.refuse(Place(".git"), git.error());
    DvcGit* const repository = git.ok() && *git ? &**git : nullptr;
    DvcRepository shared{request_, root_.folder(), contents, repository, std::move(config), {}};
    for (const std::string& file : files.tracked) ReadTracked(file, &shared);
    std::vector<DvcStageRun> stages;
    for (const std::string& file : files.locks) ReadLock(file, &shared, &stages);
    // An experiment has its own commit, unlike the same stage in the workspace.
    if (repository != nullptr) RETURN_IF_ERROR(TakeExperiments(files.locks, shared));
    for (const DvcStageRun& stage : stages) RETURN_IF_ERROR(Take(stage, shared));
    if (without_outs_ > 0) {
      LogInfo(fmt::format("{}: {} stages without outputs were left out", request_.source,
                          without_outs_));
    }
    if (taken_ == 0 && !Cancelled())
      return NotFound("holds no such stage of a dvc.lock", request_.source);
    return {};
  }

 private:
  std::string Place(const std::string& relative) const {
    return (root_.path() / relative).string();
  }
  bool Cancelled() const { return request_.should_cancel && request_.should_cancel(); }

  bool IsInScope(const std::string& file) const {
    return scope_.empty() || file.starts_with(scope_ + "/");
  }

  Result<FoundFiles> FindFiles() {
    FoundFiles files;
    std::size_t entries = 0, found = 0;
    const auto status = root_.ForEachFile([&](const std::string& relative, EntryKind kind) {
      const std::string name = fs::path(relative).filename();
      const bool lock = name == "dvc.lock" && IsInScope(relative);
      const bool tracked = name.size() > 4 && name.ends_with(".dvc");
      if (++entries > kMostEntries || found >= kMostDvcFiles) {
        sink_.refuse(Place(relative), Unsupported("too many files; the others were left out"));
        return Result<bool>(false);
      }
      if (!lock && !tracked) return Result<bool>(!Cancelled());
      ++found;
      if (kind != EntryKind::kFile) {
        sink_.refuse(Place(relative), NoRegularFile(kind, ""));
      } else {
        (lock ? files.locks : files.tracked).push_back(relative);
      }
      return Result<bool>(true);
    });
    RETURN_IF_ERROR(status);
    return files;
  }

  DvcConfig ReadConfig() const {
    std::vector<std::string> texts;
    for (const char* name : {".dvc/config", ".dvc/config.local"}) {
      auto text = root_.folder().ReadFile(name, kMostConfigBytes);
      if (!text.ok()) Unread(request_, text.error());
      if (text.ok()) texts.push_back(std::move(*text));
    }
    return ParseDvcConfig(texts);
  }

  // The cache, and a default remote that is a folder, which has the same form.
  std::vector<fs::path> Caches(const DvcConfig& config) const {
    const fs::path dvc = root_.path() / ".dvc";
    std::vector<fs::path> caches = {config.cache_folder.empty()
                                        ? dvc / "cache"
                                        : (dvc / config.cache_folder).lexically_normal()};
    if (!config.remote_url.empty() && !IsDvcUrl(config.remote_url)) {
      caches.push_back((dvc / config.remote_url).lexically_normal());
    }
    return caches;
  }

  void Own(const std::string& path, DvcPath owner, DvcRepository* shared) const {
    if (path.empty()) return;
    const auto [there, is_new] = shared->paths.emplace(path, std::move(owner));
    if (!is_new) ++there->second.owners;
  }

  void ReadTracked(const std::string& file, DvcRepository* shared) const {
    const auto text = root_.folder().ReadFile(file, kMostDvcBytes);
    auto tracked = text.ok() ? ParseDvcFile(*text, file) : Result<DvcTracked>(text.error());
    if (!tracked.ok()) return sink_.refuse(Place(file), Unread(request_, tracked.error()));
    const std::string folder = (fs::path(FolderOf(file)) / tracked->folder).string();
    for (const DvcEntry& out : tracked->outs) {
      const std::string path = DvcPathBelow(root_.path(), folder, out.path);
      Own(path, {file, out.Digest(), tracked->url}, shared);
    }
  }

  using Pipeline = std::shared_ptr<const DvcPipeline>;

  Pipeline PipelineOf(const Result<std::string>& text, const std::string& file) const {
    if (!text.ok()) {
      if (text.error().code != ErrorCode::kNotFound) {
        sink_.refuse(file, Unread(request_, text.error()));
      }
      return nullptr;
    }
    auto pipeline = ParseDvcYaml(*text, file);
    if (pipeline.ok()) return std::make_shared<const DvcPipeline>(std::move(*pipeline));
    sink_.refuse(file, pipeline.error());
    return nullptr;
  }

  std::shared_ptr<const DvcMakers> MakersOf(const std::vector<DvcStage>& stages,
                                            const DvcStageRun& run) const {
    return std::make_shared<const DvcMakers>(DvcMakersOf(stages, run, root_.path()));
  }

  void ReadLock(const std::string& file, DvcRepository* shared, std::vector<DvcStageRun>* stages) {
    const auto text = root_.folder().ReadFile(file, kMostDvcBytes);
    auto lock = text.ok() ? ParseDvcLock(*text, file) : Result<DvcLock>(text.error());
    if (!lock.ok()) return sink_.refuse(Place(file), lock.error());
    for (const auto& [name, why] : lock->refused) sink_.refuse(Place(file), why);
    const std::string folder = FolderOf(file);
    const std::string yaml = (fs::path(folder) / "dvc.yaml").string();
    const Pipeline pipeline = PipelineOf(root_.folder().ReadFile(yaml, kMostDvcBytes), Place(yaml));
    const auto makers = MakersOf(lock->stages, {folder, {}, pipeline, std::nullopt});
    for (DvcStage& stage : lock->stages) {
      DvcStageRun run{folder, std::move(stage), pipeline, std::nullopt, makers};
      std::string trouble;  // told of the run
      const std::string at = DvcStageFolder(run, root_.path(), &trouble);
      for (const DvcEntry& out : run.stage.outs) {
        const std::string path = DvcPathBelow(root_.path(), at, out.path);
        Own(path, {fmt::format("{} stages.{}", file, run.stage.name), out.Digest(), ""}, shared);
      }
      stages->push_back(std::move(run));
    }
  }

  Status Take(const DvcStageRun& stage, const DvcRepository& shared) {
    if (Cancelled()) return {};
    const std::string id = stage.Id();
    const std::string experiment = stage.experiment ? stage.experiment->name : "";
    const bool wanted = request_.Wants(id) || request_.Wants(stage.Address()) ||
                        (!experiment.empty() && request_.Wants(experiment));
    if (!wanted) return {};
    if (stage.stage.outs.empty()) {
      ++without_outs_;
      return {};
    }
    if (!ids_.insert(id).second) return {};
    ++taken_;
    return sink_.take(BuildDvcRun(stage, shared));
  }

  // The stages that an experiment's dvc.lock has otherwise than the commit that it began from.
  Status TakeExperiment(const DvcExperiment& experiment, const std::string& file,
                        const DvcRepository& shared) {
    const auto text = shared.git->Read(experiment.commit, file, kMostDvcBytes);
    if (!text.ok()) return {};
    const std::string where = fmt::format("experiment {}: {}", experiment.name, file);
    auto lock = ParseDvcLock(*text, where);
    if (!lock.ok()) {
      sink_.refuse(where, lock.error());
      return {};
    }
    for (const auto& [name, why] : lock->refused) sink_.refuse(where, why);
    std::set<std::string> before;
    const auto base = shared.git->Read(experiment.baseline, file, kMostDvcBytes);
    const auto base_lock = base.ok() ? ParseDvcLock(*base, file) : Result<DvcLock>(DvcLock());
    if (base_lock.ok()) {
      for (const DvcStage& stage : base_lock->stages) before.insert(stage.name + stage.sha256);
    }
    const std::string yaml = (fs::path(FolderOf(file)) / "dvc.yaml").string();
    const Pipeline pipeline =
        PipelineOf(shared.git->Read(experiment.commit, yaml, kMostDvcBytes), where);
    const auto makers = MakersOf(lock->stages, {FolderOf(file), {}, pipeline, experiment});
    for (DvcStage& stage : lock->stages) {
      if (before.contains(stage.name + stage.sha256)) continue;
      RETURN_IF_ERROR(
          Take({FolderOf(file), std::move(stage), pipeline, experiment, makers}, shared));
    }
    return {};
  }

  Status TakeExperiments(const std::vector<std::string>& locks, const DvcRepository& shared) {
    const auto experiments = shared.git->Experiments();
    if (!experiments.ok()) {
      sink_.refuse(Place(".git"), experiments.error());
      return {};
    }
    const std::vector<std::string> files =
        locks.empty() ? std::vector<std::string>{"dvc.lock"} : locks;
    for (const DvcExperiment& experiment : *experiments) {
      for (const std::string& file : files) {
        if (Cancelled()) return {};
        RETURN_IF_ERROR(TakeExperiment(experiment, file, shared));
      }
    }
    return {};
  }

  const ImportRequest& request_;
  const ImportSink& sink_;
  const SourceFolder& root_;
  std::string scope_;
  std::set<std::string> ids_;
  std::size_t taken_ = 0, without_outs_ = 0;
};

}  // namespace

bool IsDvc(const std::string& source) {
  std::error_code error;
  const fs::path path(source);
  if (path.filename() == "dvc.lock") return fs::is_regular_file(path, error);
  if (!fs::is_directory(path, error)) return false;
  return HasDvcFolder(path) || fs::is_regular_file(path / "dvc.lock", error);
}

Status ImportDvc(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  if (!source.file().empty() && source.file() != "dvc.lock") {
    return InvalidInput("expected the folder of a DVC repository, or a dvc.lock", request.source);
  }
  const fs::path root_path = RootOf(source.path());
  ASSIGN_OR_RETURN(const SourceFolder root, SourceFolder::Open(root_path.string()));
  const std::string below = source.path().lexically_relative(root.path()).generic_string();
  return DvcImport(request, sink, root, below == "." ? "" : below).Run();
}

}  // namespace rharness
