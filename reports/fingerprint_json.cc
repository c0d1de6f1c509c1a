// Differences and fleets as JSON, and their schemas; members in the order of the structs.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/fingerprint_members.h"
#include "reports/fingerprint_report.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

const NameTable<Suspect, 3> kSuspectNames =
    NamesFrom<Suspect, 3>(SuspectName, {Suspect::kNode, Suspect::kStack, Suspect::kUnknown});

}  // namespace

// A document of its own.
struct DifferenceDocument {
  const FingerprintDifference& difference;
};

template <class Io, Is<DifferenceDocument> T>
void Members(Io& io, T& document) {
  io.Schema("rharness.fingerprint_diff", kFingerprintDiffVersion);
  io.Must("exit_code", ExitCodeOf(document.difference),
          About("0 the same, 1 changed, 3 not comparable.").OneOf("0 1 3"));
  Members(io, document.difference);
}

template <class Io, Is<FleetClass> T>
void Members(Io& io, T& one) {
  io.Noun("Nodes that compute alike.");
  io.Must("hardware_class", one.hardware_class,
          "Model of the GPU, or of the CPU where there is none.");
  io.Must("arithmetic", one.arithmetic, "Digest of all that its probes showed.");
  io.Must("majority", one.majority,
          "More nodes of the hardware class are in it than in any other.");
  io.MustPlain("nodes", one.nodes, "Names of the nodes.");
  io.MustPlain("files", one.files, "Their fingerprints.");
}

template <class Io, Is<FleetFact> T>
void Members(Io& io, T& fact) {
  io.Noun("A fact of the stack whose value no node of the majority has.");
  io.Name("layer", LayerOfStack(fact.key), kLayerNames, "One of the five layers.");
  io.Must("key", fact.key, "Such as gpu_driver or environment.OMP_NUM_THREADS.");
  io.Must("here", fact.here, "On the odd node; null: absent.");
  io.MustPlain("majority", fact.majority, "Values there, the most frequent first; null: absent.");
  io.Must("of_machine", fact.of_machine, "Of the hardware, not of what runs on it.");
}

template <class Io, Is<OddNode> T>
void Members(Io& io, T& odd) {
  io.Noun("A node out of its class.");
  io.Must("node", odd.node, "Its name.");
  io.Must("file", odd.file, "Its fingerprint.");
  io.Must("hardware_class", odd.hardware_class, "Model of the GPU or CPU.");
  io.Name("suspect", odd.suspect, kSuspectNames,
          "Whether the node itself or its stack is suspected.");
  io.Must("sentence", odd.sentence, "Why, for people.");
  io.MustList("facts", odd.facts,
              "What sets it apart from every node of the majority, the most telling first.");
  io.Object("difference", odd.difference);
}

template <class Io, Is<Fleet> T>
void Members(Io& io, T& fleet) {
  io.Schema("rharness.fleet", kFleetVersion);
  io.Must("exit_code", fleet.exit_code,
          About("0 one arithmetic in every hardware class, 1 a node or stack is odd, 3 nothing "
                "could be compared.")
              .OneOf("0 1 3"));
  io.Must("summary", fleet.summary, "The answer in one sentence.");
  io.Must("nodes", fleet.nodes, Count("Nodes with a fingerprint that shows something."));
  io.Must("fingerprints", fleet.fingerprints, Count("Fingerprints that show something."));
  io.MustList("classes", fleet.classes, "Fingerprints of identical arithmetic, a class each.");
  io.MustList("odd", fleet.odd,
              "Nodes that compute otherwise than the majority of their hardware class.");
  io.MustPlain("unusable", fleet.unusable, "Fingerprints that show nothing, a sentence each.");
  io.MustPlain("notes", fleet.notes, "What weakens the answer, a sentence each.");
}

Json FingerprintDiffSchema() {
  return BuildSchema({.id = "rharness.fingerprint_diff/v1",
                      .title = "What changed between two fingerprints",
                      .description = "Written by rharness probe diff --json.",
                      .closed = true,
                      .finite = true},
                     ViewOf<DifferenceDocument, FingerprintDifference>().describe);
}

Json FleetSchema() {
  return SchemaOf<Fleet>({.id = "rharness.fleet/v1",
                          .title = "Which nodes of a fleet compute alike",
                          .description = "Written by rharness gate fleet --json.",
                          .closed = true,
                          .finite = true});
}

Json DifferenceJson(const FingerprintDifference& difference) {
  return MemberWriter::Written(difference);
}

Json ToJson(const FingerprintDifference& difference) {
  return MemberWriter::Written(DifferenceDocument{difference});
}

Json ToJson(const Fleet& fleet) { return MemberWriter::Written(fleet); }

int ExitCodeOf(const FingerprintDifference& difference) {
  if (!difference.comparable) return 3;
  return difference.probes.empty() ? 0 : 1;
}

}  // namespace rharness
