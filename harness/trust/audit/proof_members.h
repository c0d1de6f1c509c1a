// The members of proofs, listed once: written, read and described.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_PROOF_MEMBERS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_PROOF_MEMBERS_H_

#include <string>
#include <string_view>

#include "harness/base/digest.h"
#include "harness/base/json_member_reader.h"
#include "harness/base/json_members.h"
#include "harness/records/manifest/record_kinds.h"
#include "harness/trust/audit/proof.h"
#include "harness/trust/audit/tree_head.h"

namespace rharness {

class MemberSchema;

inline std::string HashText(const TreeHash& hash) { return ToHex(hash); }
Result<TreeHash> ParseHash(std::string_view hex);

// The hashes of a path, kMostPathHashes at most.
void PathMembers(MemberWriter& io, const TreePath& path, const About& about);
void PathMembers(MemberReader& io, TreePath& path, const About& about);
void PathMembers(MemberSchema& io, const TreePath& path, const About& about);

void CheckRead(JsonReader& reader, const SizedRoot& tree);
void CheckRead(JsonReader& reader, const InclusionProof& proof);

template <class Io, Is<SizedRoot> T>
void TreeMembers(Io& io, T& tree, const char* size) {
  io.Must("tree_size", tree.size, About(size).Least(1));
  io.Text("root_sha256", tree.root, HashText, ParseHash, About("The root over them").Sha256());
}

template <class Io, Is<SizedRoot> T>
void Members(Io& io, T& tree) {
  TreeMembers(io, tree, "How many entries it has");
}

template <class Io, Is<TreeHead> T>
void Members(Io& io, T& head) {
  io.Must("tree_size", head.tree.size, About("Over how many entries").Least(1));
  io.Must(kRecordTime, "time", head.time, "When, as who signed it says; RFC 3339");
}

template <class Io, Is<EntryProof> T>
void Members(Io& io, T& entry) {
  io.Must("index", entry.index, "Its place in the log");
  io.Must("entry", entry.line, "Its line to the byte; SHA-256 of 0x00 and these bytes is the leaf");
  PathMembers(io, entry.path,
              "Hashes of the siblings from the leaf to the root; a node is SHA-256 of 0x01, left, "
              "right");
}

template <class Io, Is<InclusionProof> T>
void Members(Io& io, T& proof) {
  io.Schema("rharness.audit_proof", 1);
  io.Must("run_id", proof.run_id, "The run that all entries are about");
  TreeMembers(io, proof.tree, "How many entries the tree has");
  io.OrNull(!proof.head.empty(), "head", proof.head,
            About("A signed head of this tree as the log has it: a DSSE envelope as text; null: "
                  "none was signed")
                .Optional());
  io.List("entries", proof.entries, About("Each entry with its path").Always().LeastItems(1));
}

template <class Io, Is<ConsistencyProof> T>
void Members(Io& io, T& proof) {
  io.Schema("rharness.audit_consistency", 1);
  io.Object("first", proof.first, "The smaller tree");
  io.Object("second", proof.second, "The larger tree");
  PathMembers(io, proof.path, "Hashes that come to both roots; empty where the trees are equal");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_PROOF_MEMBERS_H_
