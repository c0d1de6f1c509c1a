// The members of the origin of an imported manifest.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/origin.h"
#include "harness/records/manifest/record_kinds.h"

namespace rharness {

inline constexpr NameTable<Grade, 3> kGradeNames = {
    {{Grade::kExact, "exact"}, {Grade::kHint, "hint"}, {Grade::kMissing, "missing"}}};

template <class Io, Is<FieldOrigin> T>
void Members(Io& io, T& field) {
  io.Must(kNameText, "path", field.path,
          About("Of the field in this manifest.").Examples("code.commit"));
  io.Must(EnumKind<kGradeNames>(), "grade", field.grade,
          "exact: the source holds the value or its identity; hint: it may be so; missing: it "
          "does not say.");
  io.May(kPlainText, "from", field.from,
         About("Where it stood; of a hint, and why it is one.")
             .Examples("tag mlflow.source.git.commit; whether the tree was dirty is not known"));
}

template <class Io, Is<Origin> T>
void Members(Io& io, T& origin) {
  io.Noun("Of a manifest made by `rharness import`: what each field is worth, and where it stood.");
  io.Must(kNameText, "kind", origin.kind, About("The tool whose record it is.").Examples("mlflow"));
  io.May(kPlainText, "source", origin.source, "Folder, file or URL, without credentials.");
  io.May(kPlainText, "id", origin.id, "The run's name there.");
  io.List("fields", origin.fields,
          "One a field of this manifest that the source said, or that a rerun needs.");
  io.May("remarks", origin.remarks, "What could not be read, one sentence each.");
  io.UnlessEmpty("unread", origin.unread,
                 "Why parts could not be read where a disk or a server failed, one sentence each. "
                 "A later import replaces the record.");
  io.UnlessEmpty(kSha256, "imported_sha256", origin.imported_sha256,
                 "Beside `unread`: of this JSON without this member, in one line. No import "
                 "replaces a record that was edited.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ORIGIN_MEMBERS_H_
