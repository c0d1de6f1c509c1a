// One stage into one manifest: code, command, parameters, data, outputs.
#include "harness/records/intake/dvc_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/dvc_command.h"
#include "harness/records/intake/dvc_outputs.h"
#include "harness/records/intake/dvc_results.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 5;

std::string SomeOf(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  return fmt::format("{}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

class DvcRunBuilder {
 public:
  DvcRunBuilder(const DvcStageRun& from, const DvcRepository& repository)
      : from_(from), shared_(repository), run_("dvc", repository.request.source, from.Id()) {
    std::string trouble;
    stage_.folder = DvcStageFolder(from, shared_.root.path(), &trouble);
    if (!trouble.empty()) run_.Remark(trouble);
    stage_.lock = (fs::path(from.folder) / "dvc.lock").string();
    stage_.where = fmt::format("{} stages.{}", stage_.lock, from.stage.name);
    stage_.base = BaseFolder();
    stage_.commit = from.experiment ? from.experiment->commit
                    : shared_.git   ? shared_.git->Head()
                                    : "";
  }

  ImportedRun Build() && {
    run_.SetFamily(from_.Address(), Hint("stage", "its runs may differ in more than noise"));
    SetCommand();
    SetParams();
    SetCode();
    for (const DvcEntry& dep : from_.stage.deps) {
      if (in_commit_.contains(dep.path)) continue;
      AddDep(dep);
      AddMaker(dep);
    }
    AddDvcOutputs(from_, shared_, stage_, &run_);
    return std::move(run_);
  }

 private:
  std::string Below(const std::string& path) const {
    return DvcPathBelow(shared_.root.path(), stage_.folder, path);
  }

  // The stage's folder, if it contains everything that the stage reads and writes; else the
  // repository's.
  std::string BaseFolder() const {
    const auto leaves = [&](const DvcEntry& entry) {
      const std::string below = Below(entry.path);
      return !below.empty() && !below.starts_with(stage_.folder + "/");
    };
    const bool any = std::ranges::any_of(from_.stage.deps, leaves) ||
                     std::ranges::any_of(from_.stage.outs, leaves);
    return any ? "" : stage_.folder;
  }

  void SetCommand() {
    std::vector<std::string> command = CommandOfLines(from_.stage.commands);
    const bool shell = !command.empty() && command.front() == "/bin/sh";
    if (!command.empty() && stage_.base != stage_.folder) {
      const std::string folder = stage_.folder;
      command.insert(command.begin(), {"env", "-C", folder});
    }
    const std::string where = stage_.where + ".cmd";
    run_.SetCommand(
        std::move(command),
        shell ? Hint(where, "DVC takes the user's shell, which nobody recorded") : Exact(where));
    const std::string prefix = shared_.git == nullptr ? "" : shared_.git->prefix();
    run_.SetWorkingDirectory(prefix + stage_.base, Exact("the stage's folder"));
  }

  void SetParams() {
    ForEachMember(&from_.stage.params, [&](const std::string& file, const Json& values) {
      const std::string prefix = file == "params.yaml" ? "" : file + ":";
      for (const auto& [name, value] : FlattenDvcValues(values)) {
        run_.SetHyperparameter(prefix + name, value,
                               Exact(fmt::format("{}.params.{}", stage_.where, file)));
      }
      if (from_.experiment) return;
      const auto today = Params(file, "");
      if (!today.ok())
        return run_.Remark(
            fmt::format("{}: {}", file, Unread(shared_.request, today.error()).message));
      const auto differing = DifferingParams(values, *today);
      if (differing.empty()) return;
      run_.Remark(fmt::format("{} has other values today: {}", file, SomeOf(differing)));
    });
  }

  // As it is in a commit, or today.
  Result<Json> Params(const std::string& file, const std::string& commit) const {
    const std::string below = Below(file);
    if (below.empty()) return Unsupported("lies outside of the repository", file);
    auto text = commit.empty() ? shared_.root.ReadFile(below, kMostDvcBytes)
                               : shared_.git->Read(commit, below, kMostDvcBytes);
    if (!text.ok()) return text.error();
    return ParseDvcValues(*text, file);
  }

  // Paths whose version in the commit differs from the run's; equal ones are its code.
  std::vector<std::string> OtherThanInCommit() {
    std::vector<std::string> others;
    for (const DvcEntry& dep : from_.stage.deps) {
      const std::string below = Below(dep.path);
      if (below.empty() || shared_.paths.contains(below)) continue;
      const std::string& md5 = shared_.git->Md5Of(stage_.commit, below, IsDos2Unix(dep));
      if (md5.empty()) continue;
      if (dep.IsMd5() && md5 == dep.hash + (dep.directory ? ".dir" : "")) {
        in_commit_.insert(dep.path);
      } else {
        others.push_back(below);
      }
    }
    ForEachMember(&from_.stage.params, [&](const std::string& file, const Json& values) {
      const auto there = Params(file, stage_.commit);
      if (there.ok() && !DifferingParams(values, *there).empty()) others.push_back(file);
    });
    return others;
  }

  void SetCode() {
    if (shared_.git == nullptr) return;
    run_.SetRepository(shared_.git->root().string(), Exact("the folder around it that has .git"));
    if (stage_.commit.empty()) return run_.Remark("code.commit: the repository has no commit yet");
    const std::vector<std::string> others = OtherThanInCommit();
    if (from_.experiment) {
      const Worth worth = Exact(fmt::format("refs/exps, experiment {}", from_.experiment->name));
      run_.SetCommit(stage_.commit, worth);
      run_.SetDirty(false, "", worth);
      if (!others.empty()) {
        run_.Remark(fmt::format(
            "the experiment's commit has other versions of {} than its dvc.lock", SomeOf(others)));
      }
      return;
    }
    if (others.empty()) {
      const std::vector<std::string> same(in_commit_.begin(), in_commit_.end());
      return run_.SetCommit(
          stage_.commit,
          Hint("HEAD of today",
               fmt::format("dvc.lock names no commit; this one has {}",
                           same.empty() ? "none of the stage's dependencies"
                                        : "the recorded versions of " + SomeOf(same))));
    }
    in_commit_.clear();
    run_.Remark(
        fmt::format("code.commit: HEAD is not the run's, for it has other versions of {}; "
                    "`rharness import --complete FILE --commit HASH` takes the right one",
                    SomeOf(others)));
  }

  void AddDep(const DvcEntry& dep) {
    const std::string below = Below(dep.path);
    DataItem item;
    item.name = below.empty() ? WithoutCredentials(dep.path) : below;
    item.path = below;
    if (!below.empty() && !stage_.base.empty()) item.path = below.substr(stage_.base.size() + 1);
    if (below.empty()) item.path = PathOutside(dep.path);
    item.kind = dep.directory ? DataKind::kDirectory : DataKind::kFile;
    item.size_bytes = dep.size_bytes;
    item.other_digest = dep.Digest();
    item.source = SourceOf(dep, below);
    const std::string where = stage_.where + ".deps";
    if (!dep.IsMd5() || below.empty()) {
      run_.Remark(fmt::format("data: {} lies outside of the repository, or has no MD5",
                              QuotedShort(WithoutCredentials(dep.path))));
      if (!dep.IsMd5()) item.kind = DataKind::kNotStated;
      return run_.AddData(std::move(item), Hint(where, "its content was not looked for"));
    }
    TellTracked(dep, below);
    if (!shared_.request.artifacts) {
      return run_.AddData(std::move(item), Hint(where, "not looked for (--no-artifacts)"));
    }
    const Result<DvcContent>& content = shared_.contents.Find(dep, below);
    run_.AddData(WithContent(std::move(item), content), WorthOf(where, content));
    if (!content.ok())
      return run_.Remark(
          fmt::format("data: {}", Unread(shared_.request, content.error()).ToString()));
    if (!content->changed.empty()) {
      run_.Remark(fmt::format("data: {}; the cache has what was recorded", content->changed));
    }
    if (content->at.empty()) {
      run_.Remark(
          fmt::format("data: {} lies in the cache in pieces; `rharness fetch --dvc-cache "
                      "FOLDER` puts it together",
                      QuotedShort(below)));
    }
  }

  // The stage that wrote it, and the commit if that has the stage's inputs.
  void AddMaker(const DvcEntry& dep) {
    const std::string below = Below(dep.path);
    if (from_.makers == nullptr || below.empty()) return;
    const auto found = from_.makers->find(below);
    if (found == from_.makers->end() || found->second.owners > 1) return;
    const DvcMaker& maker = found->second;
    if (maker.digest.empty() || maker.digest != dep.Digest() || maker.id == from_.Id()) return;
    MadeBy made_by{.repository = {}, .commit = {}, .version = "DVC stage " + maker.id};
    const std::string where = stage_.lock + ", the stage that wrote it";
    if (shared_.git == nullptr) return run_.SetMadeBy(below, std::move(made_by), Exact(where));
    made_by.repository = shared_.git->root().string();
    const bool has_code = HasWhatWasRead(maker);
    if (has_code) made_by.commit = stage_.commit;
    run_.SetMadeBy(below, std::move(made_by),
                   has_code && !from_.experiment
                       ? Hint(where, "HEAD of today has the recorded versions of what it read")
                       : Exact(where));
  }

  // Whether the commit has something of it, and nothing of it in another version.
  bool HasWhatWasRead(const DvcMaker& maker) const {
    if (stage_.commit.empty()) return false;
    bool any = false;
    for (const auto& [below, digest] : maker.reads) {
      const std::string algorithm = digest.substr(0, digest.find(':'));
      const bool dos2unix = algorithm == "md5-dos2unix";
      if (below.empty() || (algorithm != "md5" && !dos2unix)) continue;
      const std::string& md5 = shared_.git->Md5Of(stage_.commit, below, dos2unix);
      if (md5.empty()) continue;
      if (digest != algorithm + ":" + md5) return false;
      any = true;
    }
    return any;
  }

  static DataItem WithContent(DataItem item, const Result<DvcContent>& content) {
    if (!content.ok()) return item;
    item.sha256 = content->sha256;
    item.size_bytes = content->size_bytes;
    item.location = content->at.string();
    return item;
  }

  // Absolute paths stay; of others the name, so that the item is there to be filled.
  static std::string PathOutside(const std::string& path) {
    if (path.starts_with('/') && !IsDvcUrl(path)) return path;
    const std::string clean = WithoutCredentials(path);
    return fs::path(clean).filename().string();
  }

  // The place of a file in the default remote, or its import source.
  std::string SourceOf(const DvcEntry& dep, const std::string& below) const {
    if (IsDvcUrl(dep.path)) return WithoutCredentials(dep.path);
    const std::string& remote = shared_.config.remote_url;
    if (dep.IsMd5() && !dep.directory && IsDvcUrl(remote)) {
      const auto objects = DvcObjectPaths(dep.hash, false);
      const fs::path& object = dep.algorithm == "md5" ? objects.front() : objects.back();
      const bool slash = remote.ends_with('/');
      return fmt::format("{}{}{}", remote, slash ? "" : "/", object.string());
    }
    const auto tracked = shared_.paths.find(below);
    return tracked == shared_.paths.end() ? "" : tracked->second.url;
  }

  void TellTracked(const DvcEntry& dep, const std::string& below) {
    const auto tracked = shared_.paths.find(below);
    if (tracked == shared_.paths.end() || from_.experiment) return;
    if (tracked->second.owners > 1) {
      run_.Remark(
          fmt::format("{} is written by more than one stage or .dvc file", QuotedShort(below)));
    }
    if (!tracked->second.digest.empty() && tracked->second.digest != dep.Digest()) {
      run_.Remark(fmt::format("{} now has {} for {}, not {}", tracked->second.by,
                              tracked->second.digest, QuotedShort(below), dep.Digest()));
    }
  }

  const DvcStageRun& from_;
  const DvcRepository& shared_;
  ImportedRun run_;
  DvcStagePlace stage_;
  std::set<std::string> in_commit_;  // dependencies, by their paths as written
};

}  // namespace

std::string DvcStageRun::Address() const {
  return folder.empty() ? stage.name : fmt::format("{}/dvc.yaml:{}", folder, stage.name);
}

std::string DvcStageRun::Id() const {
  return fmt::format("{}-{}", Address(), stage.sha256.substr(0, 12));
}

std::string DvcStageFolder(const DvcStageRun& run, const fs::path& root, std::string* trouble) {
  if (!run.pipeline) return run.folder;
  const std::string& name = run.stage.name;
  const auto stage = run.pipeline->stages.find(name.substr(0, name.find('@')));
  if (stage == run.pipeline->stages.end()) return run.folder;
  const std::string& wdir = stage->second.folder;
  if (wdir.empty() || wdir == "." || wdir == "./") return run.folder;
  const std::string below = DvcPathBelow(root, run.folder, wdir);
  const std::string whole = (fs::path(run.folder) / wdir).lexically_normal().string();
  if (below.empty() && whole != "." && whole != "./") {
    *trouble = fmt::format(
        "wdir {} is no folder of the repository, or is made of variables; paths "
        "are taken as relative to dvc.yaml",
        QuotedShort(wdir));
    return run.folder;
  }
  return below;
}

std::string DvcPathBelow(const fs::path& root, const std::string& folder, const std::string& path) {
  if (IsDvcUrl(path)) return "";
  fs::path whole = (root / folder / path).lexically_normal().lexically_relative(root);
  std::string text = whole.generic_string();
  while (text.ends_with('/')) text.pop_back();
  if (text.empty() || text == "." || text == ".." || text.starts_with("../")) return "";
  const auto safe = CleanRelativePath(text);
  return safe && *safe == text ? text : "";
}

ImportedRun BuildDvcRun(const DvcStageRun& run, const DvcRepository& repository) {
  return DvcRunBuilder(run, repository).Build();
}

}  // namespace rharness
