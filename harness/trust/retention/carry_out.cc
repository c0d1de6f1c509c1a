// Deletions, step by step.
#include "harness/trust/retention/carry_out.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"
#include "harness/trust/retention/begun_lists.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

enum class Fate { kGone, kMissing, kChanged };
struct Turn {
  Fate fate = Fate::kGone;
  std::string why;  // of kChanged
};

// An open file that matches the list, with its folder; or why there is none.
struct Found {
  std::optional<HeldFolder> folder;
  Descriptor file;
  struct stat seen {};  // before it was hashed
  Turn turn;            // if it is missing, or different
};

Result<Found> NotThere(const Error& error) {
  if (error.code == ErrorCode::kIo) return error;
  Found found;
  found.turn = error.code == ErrorCode::kNotFound ? Turn{Fate::kMissing, {}}
                                                  : Turn{Fate::kChanged, error.message};
  return found;
}

// Hashes it once more.
Status HoldToList(const DeletionItem& item, Found* found) {
  const int fd = found->file.get();
  if (::fstat(fd, &found->seen) != 0) {
    return IoErrorFromErrno("cannot be looked at", errno, item.path);
  }
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(fmt::format("/proc/self/fd/{}", fd)));
  if (digest.sha256 == item.sha256 && digest.size_bytes == item.size_bytes) return {};
  found->turn = {Fate::kChanged, "is not what was recorded: sha256 " + digest.sha256};
  return {};
}

fs::path FolderOf(const DeletionItem& item) {
  const fs::path parent = fs::path(item.path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

Result<Found> Find(const HeldFolder& root, const DeletionItem& item) {
  auto folder = root.OpenFolder(FolderOf(item));
  if (!folder.ok()) return NotThere(folder.error());
  auto file = folder->OpenFile(fs::path(item.path).filename());
  if (!file.ok()) return NotThere(file.error());
  Found found;
  found.folder = std::move(*folder);
  found.file = std::move(file->descriptor);
  RETURN_IF_ERROR(HoldToList(item, &found));
  return found;
}

bool IsSameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether the path still leads to the held folder, and the name in it, through no link, to the open
// file.
bool IsStill(const HeldFolder& root, const DeletionItem& item, const Found& found) {
  const auto folder = root.OpenFolder(FolderOf(item));
  const std::string name = fs::path(item.path).filename().string();
  struct stat here {};
  struct stat held {};
  struct stat named {};
  return folder.ok() && ::fstat(folder->fd(), &here) == 0 &&
         ::fstat(found.folder->fd(), &held) == 0 && IsSameFile(here, held) &&
         ::fstatat(found.folder->fd(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         IsSameFile(named, found.seen);
}

// Unlinks exactly the found file: the hashed file still has the name when it is unlinked, in a
// folder held open, and nobody touched it since.
Result<Turn> Unlink(const HeldFolder& root, const DeletionItem& item, Found found) {
  if (found.turn.fate != Fate::kGone) return found.turn;
  const std::string name = fs::path(item.path).filename().string();
  struct stat now {};
  if (::fstat(found.file.get(), &now) != 0) {
    return IoErrorFromErrno("cannot be looked at", errno, item.path);
  }
  if (!IsSameTime(now.st_ctim, found.seen.st_ctim)) {
    RETURN_IF_ERROR(HoldToList(item, &found));
    if (found.turn.fate != Fate::kGone) return found.turn;
  }
  if (!IsStill(root, item, found)) return Turn{Fate::kChanged, "was replaced meanwhile"};
  if (::unlinkat(found.folder->fd(), name.c_str(), 0) != 0) {
    return PathError("cannot be deleted", errno, root.path() / item.path);
  }
  RETURN_IF_ERROR(SyncFolder(found.folder->through()));
  return Turn{};
}

// What the history has of one item so far.
struct Steps {
  bool begun = false;
  bool ended = false;
};

std::vector<Steps> StepsOf(const std::vector<DeletedItem>& steps, std::size_t items) {
  std::vector<Steps> all(items);
  for (const DeletedItem& step : steps) {
    if (step.item < 0 || static_cast<std::size_t>(step.item) >= items) continue;
    Steps& one = all[static_cast<std::size_t>(step.item)];
    (step.step == DeletionStep::kAbout ? one.begun : one.ended) = true;
  }
  return all;
}

DeletionStep StepOf(Fate fate, bool begun_before) {
  switch (fate) {
    case Fate::kGone:
      return DeletionStep::kGone;
    case Fate::kMissing:
      return begun_before ? DeletionStep::kGone : DeletionStep::kMissing;
    case Fate::kChanged:
      return DeletionStep::kStays;
  }
  Abort("no such fate of a file");
}

// The files of one list, each in its turn.
class Carrier {
 public:
  Carrier(const SignedList& approved, const HeldFolder& root, Clock* clock, DeletionWatch* watch,
          HistoryStore* history)
      : approved_(approved), root_(root), clock_(clock), watch_(watch), history_(history) {}

  Result<CarriedOut> Run() {
    const std::vector<DeletionItem>& items = approved_.list.items;
    ASSIGN_OR_RETURN(const std::vector<DeletedItem> held, history_->DeletedItems(digest_));
    const std::vector<Steps> steps = StepsOf(held, items.size());
    for (std::size_t i = 0; i < items.size() && !done_.taken_back; ++i) {
      if (steps[i].ended) {
        ++done_.before;
      } else {
        RETURN_IF_ERROR(TakeTurn(static_cast<int>(i), items[i], steps[i].begun));
      }
    }
    return std::move(done_);
  }

 private:
  Status TakeTurn(int number, const DeletionItem& item, bool begun_before) {
    // A held file is not read first, however large it is.
    ASSIGN_OR_RETURN(std::string why, watch_->WhyHeld(item));
    if (!why.empty()) return Hold(item, why);
    ASSIGN_OR_RETURN(Found found, Find(root_, item));
    DeletedItem row{.list_sha256 = digest_,
                    .item = number,
                    .step = DeletionStep::kAbout,
                    .at = clock_->Now(),
                    .bytes = static_cast<std::int64_t>(item.size_bytes)};
    ASSIGN_OR_RETURN(why, Announce(item, row));
    if (done_.taken_back) return {};
    if (!why.empty()) return Hold(item, why);
    ASSIGN_OR_RETURN(const Turn turn, Unlink(root_, item, std::move(found)));
    row.step = StepOf(turn.fate, begun_before);
    row.at = clock_->Now();
    RETURN_IF_ERROR(history_->AddDeleted(row));
    Count(item, row.step, turn.why);
    return {};
  }

  // Enters that it is about to go; why it does not, else.
  Result<std::string> Announce(const DeletionItem& item, const DeletedItem& row) {
    constexpr int kMostPlans = 100;
    for (int plan = 0; plan < kMostPlans; ++plan) {
      ASSIGN_OR_RETURN(std::string why, watch_->WhyHeld(item));
      if (!why.empty()) return why;
      ASSIGN_OR_RETURN(const MayGo may,
                       history_->AddAboutToGo({.item = row,
                                               .statement_sha256 = approved_.statement_sha256,
                                               .runs = item.runs,
                                               .mark = watch_->mark()}));
      done_.taken_back = may == MayGo::kTakenBack;
      if (may == MayGo::kYes || may == MayGo::kTakenBack) return std::string();
      RETURN_IF_ERROR(watch_->Renew());
      if (may == MayGo::kHistoryGrew) continue;
      ASSIGN_OR_RETURN(why, watch_->WhyHeld(item));
      return why.empty() ? "a drill has a run of it now" : why;
    }
    return Error{ErrorCode::kTimeout, "the history grew before each answer", item.path};
  }

  Status Hold(const DeletionItem& item, const std::string& why) {
    done_.held.push_back(fmt::format("{}: {}", item.path, why));
    return {};
  }

  void Count(const DeletionItem& item, DeletionStep step, const std::string& why) {
    if (step == DeletionStep::kGone) {
      ++done_.files;
      done_.bytes += item.size_bytes;
    } else if (step == DeletionStep::kMissing) {
      done_.missing.push_back(item.path);
    } else {
      done_.changed.push_back(fmt::format("{} {}", item.path, why));
    }
  }

  const SignedList& approved_;
  const std::string digest_ = DigestOf(approved_.list);
  const HeldFolder& root_;
  Clock* clock_;
  DeletionWatch* watch_;
  HistoryStore* history_;
  CarriedOut done_;
};

Result<std::optional<DeletionRecord>> RecordOf(const std::string& digest, HistoryStore* history) {
  ASSIGN_OR_RETURN(const std::vector<DeletionRecord> records, history->Deletions());
  const auto found = std::ranges::find(records, digest, &DeletionRecord::list_sha256);
  return found == records.end() ? std::nullopt : std::optional(*found);
}

// Begins it, or continues the deletion begun here.
Status Begin(const SignedList& approved, const HeldFolder& root, WallTime now,
             HistoryStore* history) {
  const std::string digest = DigestOf(approved.list);
  ASSIGN_OR_RETURN(auto record, RecordOf(digest, history));
  if (!record) {
    const DeletionRecord begins{.list_sha256 = digest,
                                .begun = now,
                                .asked_by = approved.asked_by,
                                .approved_by = approved.approved_by,
                                .body = TextOf(approved.list)};
    RETURN_IF_ERROR(NoteBegun(root, begins));
    RETURN_IF_ERROR(history->BeginDeletion(begins));
    // Another machine may have begun it in this moment.
    ASSIGN_OR_RETURN(record, RecordOf(digest, history));
  }
  if (!record) return IntegrityError("was begun, and is not in the history", digest);
  ASSIGN_OR_RETURN(const bool here, WasBegunIn(root, *record));
  if (here) return {};
  return InvalidInput(
      fmt::format(
          "was begun at {} in another folder of this path, since {} does not name it here; "
          "`rharness history prune apply` goes on there, and `rharness history prune withdraw {}` "
          "ends it",
          FormatTime(record->begun), kBegunLists, digest),
      "deletion list " + digest);
}

}  // namespace

Result<std::vector<UnfinishedDeletion>> FindUnfinished(const fs::path& root,
                                                       HistoryStore* history) {
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(root));
  ASSIGN_OR_RETURN(std::vector<DeletionRecord> records, history->Deletions());
  std::vector<UnfinishedDeletion> unfinished;
  for (DeletionRecord& record : records) {
    auto list = ParseDeletionListOf(record.list_sha256, record.body, "deletion list");
    if (!list.ok() || list->root != root) continue;
    ASSIGN_OR_RETURN(const std::vector<DeletedItem> steps,
                     history->DeletedItems(record.list_sha256));
    if (std::ranges::all_of(StepsOf(steps, list->items.size()), &Steps::ended)) continue;
    ASSIGN_OR_RETURN(const bool here, WasBegunIn(folder, record));
    unfinished.push_back({std::move(record), std::move(*list), here});
  }
  return unfinished;
}

Result<CarriedOut> CarryOut(const SignedList& approved, Clock* clock, DeletionWatch* watch,
                            HistoryStore* history) {
  const std::string& place = approved.list.root;
  std::error_code error;
  if (fs::canonical(place, error) != fs::path(place) || error) {
    return IntegrityError("is not the folder of the list any more", place);
  }
  ASSIGN_OR_RETURN(const HeldFolder root, HeldFolder::Open(place));
  if (::flock(root.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return InvalidInput("another process is deleting in this folder", place);
    }
    return IoErrorFromErrno("cannot be locked", errno, place);
  }
  RETURN_IF_ERROR(Begin(approved, root, clock->Now(), history));
  return Carrier(approved, root, clock, watch, history).Run();
}

}  // namespace rharness
