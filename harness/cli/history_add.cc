// Manifests into a history: one reading of each file, no manifest held in memory.
#include "harness/cli/history_add.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/base/text_spool.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/verb.h"
#include "harness/history/other_content.h"
#include "harness/history/store.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/admission_notes.h"
#include "harness/records/manifest/manifest.h"
#include "reports/text.h"

namespace rharness {
namespace {

// Logs what is missing in manifests: of the first few all of it, of the others only what none had.
class Findings {
 public:
  explicit Findings(bool force) : force_(force) {}

  void Log(const std::string& file, const std::vector<Finding>& findings) {
    if (findings.empty()) return;
    const bool few = ++refused_ <= kFew;
    bool told = false;
    for (const Finding& finding : findings) {
      if (!codes_.insert(finding.code).second && !few) continue;
      told = true;
      const std::string line = TerminalSafe(
          fmt::format("{}: {}: {} ({})", file, finding.subject, finding.message, finding.code));
      force_ ? LogWarning(line) : LogError(line);
    }
    if (!told) ++untold_;
  }
  // Whether none is refused.
  bool End(std::size_t all) const {
    if (untold_ > 0) {
      const std::string line =
          fmt::format("findings like these stand in {}", Counted(untold_, "more manifest"));
      force_ ? LogWarning(line) : LogError(line);
    }
    if (refused_ == 0 || force_) return true;
    LogError(
        fmt::format("{} of {} manifests are not complete enough to be judged one day; nothing "
                    "was stored (--force stores them as they are)",
                    refused_, all));
    return false;
  }

 private:
  static constexpr std::size_t kFew = 20;
  const bool force_;
  std::set<std::string> codes_;
  std::size_t refused_ = 0;
  std::size_t untold_ = 0;
};

// Says what refuses nothing: a line a note and family, with the first runs that it is about.
class Notes {
 public:
  void Add(const Manifest& manifest) {
    runs_.push_back({manifest.run_id, manifest.family});
    families_.insert(manifest.family);
    notes_.Add(manifest);
  }
  // How wide a margin is shows beside runs that are there already. What cannot be read of them is
  // for those to say who need it.
  void Compare(HistoryStore* store) {
    for (const std::string& family : families_) {
      const auto entries = store->FamilyEntries(family);
      if (!entries.ok()) continue;
      const std::size_t first = entries->size() - std::min(entries->size(), kMostRuns);
      for (std::size_t i = first; i < entries->size(); ++i) {
        const auto manifest = store->Get((*entries)[i].run_id);
        if (manifest.ok()) notes_.AddToSpread(*manifest);
      }
    }
  }
  void Log() const {
    std::vector<Group> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> at;  // by note and family
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      for (const Finding& note : notes_.Of(i)) {
        const auto [found, is_new] =
            at.try_emplace({note.code + " of " + note.subject, runs_[i].family}, groups.size());
        if (is_new) groups.push_back({note, {}});
        std::vector<std::string>& run_ids = groups[found->second].run_ids;
        if (run_ids.empty() || run_ids.back() != runs_[i].run_id) {
          run_ids.push_back(runs_[i].run_id);
        }
      }
    }
    for (const Group& group : groups) LogInfo(TerminalSafe(LineOf(group)));
  }

 private:
  struct Run {
    std::string run_id;
    std::string family;
  };
  struct Group {
    Finding first;
    std::vector<std::string> run_ids;
  };

  static std::string LineOf(const Group& group) {
    const std::size_t shown = std::min(group.run_ids.size(), kNamedRuns);
    std::string line = fmt::format("note: {}: {}: {} ({})", group.run_ids.front(),
                                   group.first.subject, group.first.message, group.first.code);
    if (group.run_ids.size() == 1) return line;
    line +=
        fmt::format("; so in {}: {}", Counted(group.run_ids.size(), "run"),
                    fmt::join(group.run_ids.begin(),
                              group.run_ids.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return shown < group.run_ids.size() ? line + ", ..." : line;
  }

  static constexpr std::size_t kNamedRuns = 5;
  static constexpr std::size_t kMostRuns = 64;  // of a family in the history
  std::vector<Run> runs_;
  std::set<std::string> families_;
  AdmissionNotes notes_;
};

// Reads and checks all, and holds of each what its row needs; the texts, of which a hundred
// thousand take gigabytes, are put aside. A run's manifest never changes: what is in the way of
// storing all of them is named. `store`: null where there is no history yet.
class Adder {
 public:
  // `only_new`: a manifest that is there as it is is passed by, also one that was forced in.
  Adder(bool force, bool only_new, HistoryStore* store)
      : findings_(force), only_new_(only_new), store_(store) {}

  // A folder stands for the manifests in it.
  Status Read(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      return Take(path, text);
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesBelow(path));
    const std::size_t read_before = read_;
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadIfManifest(file));
      if (text) {
        RETURN_IF_ERROR(Take(file, *text));
      } else {
        ++skipped_;
      }
    }
    return read_ == read_before ? Status(NoManifestIn(path)) : Status();
  }

  // False: some are refused, and nothing may be stored.
  Result<bool> MayStore() const {
    if (!findings_.End(read_)) return false;
    if (in_the_way_) return *in_the_way_;
    return true;
  }

  // Many in a transaction: each is a wait for the disk. Returns how many were added, also where
  // others were faster.
  Result<std::size_t> StoreIn(HistoryStore* store) {
    constexpr std::size_t kTogether = 256;
    std::size_t added = 0;
    for (std::size_t i = 0; i < runs_.size(); i += kTogether) {
      const std::size_t end = std::min(i + kTogether, runs_.size());
      const auto stored = StoreSome(i, end, store);
      if (!stored.ok()) {
        Error error = stored.error();
        error.message +=
            fmt::format("; {} {} been added before, and adding all again goes on there",
                        Counted(added, "run"), added == 1 ? "has" : "have");
        return error;
      }
      added += *stored;
    }
    return added;
  }

  // Of what was read, beside what is there.
  void LogNotes() {
    if (Globals().quiet) return;
    if (store_ != nullptr) notes_.Compare(store_);
    notes_.Log();
  }

  std::size_t read() const { return read_; }
  std::size_t skipped() const { return skipped_; }
  bool has_new() const { return !runs_.empty(); }

 private:
  struct Seen {
    std::string file;
    std::string sha256;
  };

  Status Take(const std::string& file, const std::string& text) {
    ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
    ASSIGN_OR_RETURN(const Manifest manifest, ParseManifest(json, file));
    if (only_new_ && IsHeld(manifest)) {
      ++read_;
      return {};
    }
    findings_.Log(file, Admit(manifest));
    if (!Globals().quiet) notes_.Add(manifest);
    ++read_;
    if (in_the_way_) return {};
    return Judge(file, NewRunOf(manifest));
  }

  bool IsHeld(const Manifest& manifest) const {
    if (store_ == nullptr) return false;
    const auto held = store_->Compare(NewRunOf(manifest));
    return held.ok() && *held == HeldContent::kSame;
  }

  Status Judge(const std::string& file, NewRun run) {
    const auto [first, is_new] = seen_.emplace(run.run_id, Seen{file, run.sha256});
    if (!is_new) {
      const Seen& twin = first->second;
      if (twin.sha256 == run.sha256) return {};
      const auto other = LoadManifest(twin.file);
      const auto given = ParseJson(run.body, file);
      in_the_way_ = InvalidInput(
          fmt::format("run '{}' is also that of {}, with another manifest{}; expected a run_id of "
                      "its own for each; nothing was stored",
                      run.run_id, twin.file,
                      other.ok() && given.ok() ? ": " + DifferencesOf(ToJson(*other), *given) : ""),
          file);
      return {};
    }
    const auto held =
        store_ == nullptr ? Result<HeldContent>(HeldContent::kNone) : store_->Compare(run);
    if (!held.ok()) {
      in_the_way_ = held.error();
    } else if (*held == HeldContent::kOther) {
      ASSIGN_OR_RETURN(const Manifest there, store_->Get(run.run_id));
      in_the_way_ = OtherContent(run.run_id, ToJson(there).Dump(), run.body, file);
      in_the_way_->message += "; nothing was stored";
    }
    if (in_the_way_ || *held == HeldContent::kSame) return {};
    const std::string body = std::move(run.body);  // its memory, too, leaves what is held
    RETURN_IF_ERROR(bodies_.Append(body));
    runs_.push_back(std::move(run));
    return {};
  }

  Result<std::size_t> StoreSome(std::size_t begin, std::size_t end, HistoryStore* store) {
    std::vector<NewRun> some(runs_.begin() + static_cast<std::ptrdiff_t>(begin),
                             runs_.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t i = begin; i < end; ++i) {
      ASSIGN_OR_RETURN(some[i - begin].body, bodies_.Read(i));
    }
    return store->AddAll(some, SystemClock().Now());
  }

  Findings findings_;
  const bool only_new_;
  Notes notes_;
  HistoryStore* store_;
  std::size_t read_ = 0;
  std::size_t skipped_ = 0;           // others in the folders
  std::optional<Error> in_the_way_;   // told after what is missing
  std::map<std::string, Seen> seen_;  // by run
  std::vector<NewRun> runs_;          // those to store, without their bodies
  TextSpool bodies_;
};

}  // namespace

Result<int> AddManifests(const std::string& url, const std::vector<std::string>& paths,
                         bool force) {
  // What is refused leaves no empty history behind.
  auto existing = HistoryStore::OpenExisting(url);
  if (!existing.ok() && existing.error().code != ErrorCode::kNotFound) return existing.error();
  Adder adder(force, false, existing.ok() ? existing->get() : nullptr);
  for (const std::string& path : paths) RETURN_IF_ERROR(adder.Read(path));
  adder.LogNotes();
  ASSIGN_OR_RETURN(const bool may_store, adder.MayStore());
  if (!may_store) return kExitUsage;
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(url));
  ASSIGN_OR_RETURN(const std::size_t added, adder.StoreIn(store.get()));
  if (!Globals().quiet) {
    const std::string skipped =
        adder.skipped() == 0 ? ""
                             : fmt::format("; {} skipped", Counted(adder.skipped(), "other file"));
    LogInfo(fmt::format("added {}; already in the history: {}{}", Counted(added, "run"),
                        adder.read() - added, skipped));
  }
  return kExitOk;
}

Status AddNewManifests(const std::string& url, const std::string& folder) {
  auto existing = HistoryStore::OpenExisting(url);
  if (!existing.ok() && existing.error().code != ErrorCode::kNotFound) return existing.error();
  Adder adder(false, true, existing.ok() ? existing->get() : nullptr);
  RETURN_IF_ERROR(adder.Read(folder));
  ASSIGN_OR_RETURN(const bool may_store, adder.MayStore());
  if (!may_store) {
    return InvalidInput(fmt::format("has manifests that are not complete enough; `rharness history "
                                    "add --force --history {} {}` stores them as they are",
                                    ShellWord(url), ShellWord(folder)),
                        folder);
  }
  if (!adder.has_new()) return {};
  adder.LogNotes();
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(url));
  ASSIGN_OR_RETURN(const std::size_t added, adder.StoreIn(store.get()));
  if (!Globals().quiet) LogInfo(fmt::format("{}: added {}", url, Counted(added, "run")));
  return {};
}

}  // namespace rharness
