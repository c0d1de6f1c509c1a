// Deletions, step by step.
#include "harness/retention/carry_out.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

enum class Fate { kGone, kMissing, kChanged };
struct Turn {
  Fate fate = Fate::kGone;
  std::string why;  // of kChanged
};

// Whether this name, and no link of it, is the file that is open.
bool IsStill(int folder, const std::string& name, int file) {
  struct stat named {};
  struct stat open {};
  return ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(file, &open) == 0 && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

// Unlinks the file that is the list's, and no other: what was read is what the name stands for when
// it is unlinked, in a folder that is held open.
Result<Turn> Unlink(const HeldFolder& root, const DeletionItem& item) {
  const fs::path path(item.path);
  const fs::path parent = path.parent_path();
  const std::string name = path.filename().string();
  auto folder = root.OpenFolder(parent.empty() ? fs::path(".") : parent);
  if (!folder.ok()) {
    if (folder.error().code == ErrorCode::kNotFound) return Turn{Fate::kMissing, {}};
    if (folder.error().code == ErrorCode::kIo) return folder.error();
    return Turn{Fate::kChanged, folder.error().message};
  }
  const auto file = folder->OpenFile(name);
  if (!file.ok()) {
    if (file.error().code == ErrorCode::kNotFound) return Turn{Fate::kMissing, {}};
    if (file.error().code == ErrorCode::kIo) return file.error();
    return Turn{Fate::kChanged, file.error().message};
  }
  const int fd = file->descriptor.get();
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(fmt::format("/proc/self/fd/{}", fd)));
  if (digest.sha256 != item.sha256 || digest.size_bytes != item.size_bytes) {
    return Turn{Fate::kChanged, "is not what was recorded: sha256 " + digest.sha256};
  }
  if (!IsStill(folder->fd(), name, fd)) return Turn{Fate::kChanged, "was replaced meanwhile"};
  if (::unlinkat(folder->fd(), name.c_str(), 0) != 0) {
    return PathError("cannot be deleted", errno, root.path() / path);
  }
  RETURN_IF_ERROR(SyncFolder(folder->through()));
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

void Count(const DeletionItem& item, DeletionStep step, const std::string& why, CarriedOut* done) {
  if (step == DeletionStep::kGone) {
    ++done->files;
    done->bytes += item.size_bytes;
  } else if (step == DeletionStep::kMissing) {
    done->missing.push_back(item.path);
  } else {
    done->changed.push_back(fmt::format("{} {}", item.path, why));
  }
}

}  // namespace

Result<std::vector<UnfinishedDeletion>> FindUnfinished(HistoryStore* history) {
  ASSIGN_OR_RETURN(std::vector<DeletionRecord> records, history->Deletions());
  std::vector<UnfinishedDeletion> unfinished;
  for (DeletionRecord& record : records) {
    const std::string where = "deletion list " + TerminalSafe(record.list_sha256.substr(0, 64));
    ASSIGN_OR_RETURN(DeletionList list,
                     ParseDeletionListOf(record.list_sha256, record.body, where));
    ASSIGN_OR_RETURN(std::vector<DeletedItem> steps, history->DeletedItems(record.list_sha256));
    const std::vector<Steps> items = StepsOf(steps, list.items.size());
    if (std::ranges::all_of(items, &Steps::ended)) continue;
    unfinished.push_back({std::move(record), std::move(list), std::move(steps)});
  }
  return unfinished;
}

Result<CarriedOut> CarryOut(const DeletionList& list, const std::string& asked_by,
                            const std::string& approved_by, Clock* clock,
                            const std::function<Status(const DeletionItem&)>& holds,
                            HistoryStore* history) {
  const std::string digest = DigestOf(list);
  std::error_code error;
  if (fs::canonical(list.root, error) != fs::path(list.root) || error) {
    return IntegrityError("is not the folder of the list any more", list.root);
  }
  ASSIGN_OR_RETURN(const HeldFolder root, HeldFolder::Open(list.root));
  if (::flock(root.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return InvalidInput("another process is deleting in this folder", list.root);
    }
    return IoErrorFromErrno("cannot be locked", errno, list.root);
  }
  RETURN_IF_ERROR(history->BeginDeletion({.list_sha256 = digest,
                                          .begun = clock->Now(),
                                          .asked_by = asked_by,
                                          .approved_by = approved_by,
                                          .body = TextOf(list)}));
  ASSIGN_OR_RETURN(const std::vector<DeletedItem> held, history->DeletedItems(digest));
  const std::vector<Steps> steps = StepsOf(held, list.items.size());
  CarriedOut done;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (steps[i].ended) {
      ++done.before;
      continue;
    }
    const DeletionItem& item = list.items[i];
    RETURN_IF_ERROR(holds(item));
    DeletedItem row{.list_sha256 = digest,
                    .item = static_cast<int>(i),
                    .step = DeletionStep::kAbout,
                    .at = clock->Now(),
                    .bytes = static_cast<std::int64_t>(item.size_bytes)};
    RETURN_IF_ERROR(history->AddDeleted(row));
    ASSIGN_OR_RETURN(const Turn turn, Unlink(root, item));
    row.step = StepOf(turn.fate, steps[i].begun);
    row.at = clock->Now();
    RETURN_IF_ERROR(history->AddDeleted(row));
    Count(item, row.step, turn.why, &done);
  }
  return done;
}

}  // namespace rharness
