// The members of a list of files to delete, for every record that has one.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_DELETION_MEMBERS_H_
#define RHARNESS_REPORTS_DELETION_MEMBERS_H_

#include "harness/base/json_members.h"
#include "harness/base/json_reader.h"
#include "reports/deletion_list.h"

namespace rharness {

template <class Io, Is<DeletionItem> T>
void Members(Io& io, T& item) {
  io.Must("path", item.path, About("Relative to the root, in normal form.").NotEmpty());
  io.Must("size_bytes", item.size_bytes, "As recorded.");
  io.Must("sha256", item.sha256, About("Of its content, as recorded.").Sha256());
  io.Must("role", item.role,
          "Of the artifact that it is, or is a part of: weights, optimizer, metrics, log, other or "
          "model.");
  io.MustPlain("runs", item.runs, About("Whose it is; all of them let go of it.").LeastItems(1));
  io.Must("why", item.why, "A sentence, with the rule's place in the policy.");
  io.Must("lost", item.lost, "What cannot be done any more once it is gone.");
}

// The path is safe, the digest one, and somebody made it.
void CheckRead(JsonReader& reader, const DeletionItem& item);

template <class Io, Is<DeletionList> T>
void Members(Io& io, T& list) {
  io.Schema("rharness.deletion_list", 1);
  io.Must("root", list.root, "The folder, absolute, with every link resolved.");
  io.Must("policy_sha256", list.policy_sha256, About("Of the policy's text.").Sha256());
  io.List("items", list.items, About("By path.").Always());
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DELETION_MEMBERS_H_
