// The members of retention plans and of requests for deletion.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_RETENTION_MEMBERS_H_
#define RHARNESS_REPORTS_RETENTION_MEMBERS_H_

#include <vector>

#include "harness/base/json_members.h"
#include "reports/deletion_members.h"
#include "reports/retention_report.h"

namespace rharness {

template <class Io, Is<KeptRun> T>
void Members(Io& io, T& run) {
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Must("why", run.why, "A sentence.");
}

template <class Io, Is<KeptFile> T>
void Members(Io& io, T& file) {
  io.Must("run_id", file.run_id);
  io.Must("path", file.path, "Relative to the root, or the location as it was recorded.");
  io.Must("why", file.why, "A sentence.");
}

template <class Io, Is<RetentionReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.retention", 1);
  io.Must("history", report.history, "As it was given.");
  io.Must("policy", report.policy, "The file.");
  io.Must("list_sha256", DigestOf(report.list),
          About("Of the list as rharness history prune --list writes it.").Sha256());
  io.Must("files", report.list.items.size(), Count("Of the list."));
  io.Must("bytes", report.list.bytes(), Count("Of all of them together."));
  io.Object("list", report.list);
  io.MustList("kept_runs", report.kept_runs, "Runs whose files are never deleted.");
  io.MustList("kept_files", report.kept_files,
              "Files that runs let go of and that stay all the same.");
  io.PlainUnlessEmpty("idle_holds", report.idle_holds,
                      "Holds of the policy that name no run of the history, and keep nothing.");
}

template <class Io, Is<DeletionTold> T>
void Members(Io& io, T& told) {
  io.Must("list_sha256", told.list_sha256, "Of the list.");
  io.Name("state", told.state, kDeletionStateNames,
          About("asked: by one person. approved: two signed. expired: its time is over. withdrawn: "
                "taken back. begun: files of it are gone, or may be. done: all its files had their "
                "turn. doubtful: the history does not say what was signed."));
  io.Must("reason", told.reason);
  io.Must("asked_by", told.asked_by, "The owner of the first key.");
  io.Must("asked", told.asked, "RFC 3339; empty: not known.");
  io.Must("approved_by", told.approved_by, "The owners of the other keys; empty: nobody.");
  io.Must("expires", told.expires, "Until when it can be approved and begun.");
  io.Must("items", told.items, "How many files it names.");
  io.Must("bytes", told.bytes, Count());
  io.Must("deleted", told.deleted, "Of these, how many are gone.");
  io.Must("stays", told.stays, "Of these, how many stay, since they were something else by then.");
  io.MayIf(!told.begun.empty(), "begun", told.begun,
           "When it was begun to be carried out, RFC 3339; absent: it was not.");
  io.MayIf(!told.last.empty(), "last", told.last,
           "When the last of its files had its turn, RFC 3339; absent: none had.");
  io.MayIf(!told.ended_by.empty(), "ended_by", told.ended_by, "Who took it back; absent: nobody.");
  io.MayIf(!told.ended_by.empty(), "ended_reason", told.ended_reason, "Why it was taken back.");
  io.MayIf(!told.doubt.empty(), "doubt", told.doubt, "A sentence, of what is doubtful.");
}

struct DeletionsDocument {
  const std::vector<DeletionTold>& deletions;
};

template <class Io, Is<DeletionsDocument> T>
void Members(Io& io, T& document) {
  io.Schema("rharness.deletions", 1);
  io.MustList("deletions", document.deletions);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RETENTION_MEMBERS_H_
