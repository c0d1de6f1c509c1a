// The JSON Schemas of proofs, made from the lists of their members. A first drill does not compile
// them.
#include "harness/trust/audit/proof_schemas.h"

#include <string>
#include <vector>

#include "harness/base/member_schema.h"
#include "harness/trust/audit/proof_members.h"

namespace rharness {

void PathMembers(MemberSchema& io, const TreePath&, const About& about) {
  io.MustPlain("path", std::vector<std::string>(),
               about.Sha256().MostItems(static_cast<int>(kMostPathHashes)));
}

Json InclusionProofSchema() {
  return SchemaOf<InclusionProof>({.id = "rharness.audit_proof/v1",
                                   .title = "Proof that entries about a run are in an audit log, "
                                            "as RFC 6962, section 2.1.1, has it"});
}

Json ConsistencyProofSchema() {
  return SchemaOf<ConsistencyProof>({.id = "rharness.audit_consistency/v1",
                                     .title = "Proof that one tree is the beginning of another, as "
                                              "RFC 6962, section 2.1.2, has it"});
}

Json TreeHeadSchema() {
  return SchemaOf<TreeHead>(
      {.id = "urn:rharness:tree-head:v1",
       .title = "What an audit log was at a time: the predicate of a signed in-toto statement, "
                "whose one subject, rfc6962:entries.jsonl, has the root as its sha256"});
}

}  // namespace rharness
