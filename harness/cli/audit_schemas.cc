// The schemas of audits, and the document of checked proofs: a first drill needs neither.
#include "harness/cli/audit_schemas.h"

#include <utility>

#include "harness/base/member_schema.h"
#include "harness/cli/audit_members.h"
#include "harness/cli/audit_text.h"
#include "harness/trust/audit/proof_schemas.h"

namespace rharness {

template <class Io, Is<ProvenFile> T>
void Members(Io& io, T& file) {
  io.Must("file", file.file, "Where it was read");
  io.MustPlain("proves", file.proves, "What it shows, in words");
}

struct CheckedDocument {
  std::vector<ProvenFile> proofs;
  std::vector<SeenHead> heads;
};

template <class Io, Is<CheckedDocument> T>
void Members(Io& io, T& document) {
  io.Schema("rharness.audit_check", 1);
  io.MustList("proofs", document.proofs, About("Each document, in their order").LeastItems(1));
  io.MustList("heads", document.heads, "The heads that their roots are of");
}

namespace {

Json AuditSchema() {
  return BuildSchema({.id = "rharness.audit/v1",
                      .title = "Whether an audit log is what it was, and what it is about as well"},
                     ViewOf<AuditDocument, AuditOutcome>().describe);
}

Json AppendedSchema() {
  return BuildSchema(
      {.id = "rharness.audit_appended/v1", .title = "What `rharness audit append` entered"},
      ViewOf<AppendedDocument, Appended>().describe);
}

Json CheckedSchema() {
  return SchemaOf<CheckedDocument>({.id = "rharness.audit_check/v1",
                                    .title = "Proofs that hold, and the heads that they are for"});
}

}  // namespace

Json CheckedJson(const std::vector<ProvenFile>& proofs, const std::vector<SeenHead>& heads) {
  return MemberWriter::Written(CheckedDocument{proofs, heads});
}

std::vector<NamedSchema> AuditSchemas() {
  return {{"audit", AuditSchema},
          {"audit_appended", AppendedSchema},
          {"audit_check", CheckedSchema},
          {"audit_proof", InclusionProofSchema},
          {"audit_consistency", ConsistencyProofSchema},
          {"tree_head", TreeHeadSchema}};
}

}  // namespace rharness
