// Many fingerprints, one or several per node: which nodes compute alike, which one is odd, and is
// the cause the node or its stack?
//
// Role: pure; the basis of `rharness gate fleet`. Nodes are compared within a hardware class only.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FLEET_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FLEET_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint.h"
#include "compare/fingerprints/fingerprint_diff.h"

namespace rharness {

// Several of one name are repeats on that node, on its stack or another stack.
struct FleetMember {
  std::string node;
  Fingerprint fingerprint;
};

// Nodes of one hardware class with equal results of every probe. A node whose repeats differ is in
// several.
struct FleetClass {
  std::string hardware_class;
  std::string arithmetic;          // SHA-256 over what the probes saw
  std::vector<std::string> nodes;  // sorted, each once
  std::vector<std::string> files;
  bool majority = false;  // more nodes than any other class of the hardware
};

enum class Suspect { kNode, kStack, kUnknown };
std::string_view SuspectName(Suspect suspect);  // "node", "stack", "unknown"

// A fact of the stack that sets a node apart: no node of the majority has this value.
struct FleetFact {
  std::string key;                                   // "gpu_driver", "environment.OMP_NUM_THREADS"
  std::optional<std::string> here;                   // on the odd node; none: absent
  std::vector<std::optional<std::string>> majority;  // values there, the most frequent first
  bool of_machine = false;  // of the hardware, such as the CPU's model, not of its software
};

// A node that has a fingerprint outside of the majority of its hardware class.
struct OddNode {
  std::string node;
  std::string file;
  std::string hardware_class;
  Suspect suspect = Suspect::kUnknown;
  std::string sentence;              // the suspect, the evidence, and the fact that differs
  std::vector<FleetFact> facts;      // facts that set it apart, the most telling first
  FingerprintDifference difference;  // from a fingerprint of the majority to this one
};

struct Fleet {
  int nodes = 0;
  int fingerprints = 0;               // that show something
  std::vector<FleetClass> classes;    // by hardware class, the largest first
  std::vector<OddNode> odd;           // by node
  std::vector<std::string> unusable;  // one sentence per fingerprint that shows nothing
  std::vector<std::string> notes;     // ties, and classes that are those of their stacks
  std::string summary;                // one sentence
  int exit_code = 3;  // 0: one class a hardware class; 1: more; 3: fewer than two nodes to compare,
                      // or a fingerprint that shows nothing
};

// A tie between the largest classes names no majority, and so no odd node. If no other node and no
// repeat decides, the facts do: software that no node of the majority has makes the stack suspect,
// hardware the node; both, or neither, leave it open.
Fleet CompareFleet(const std::vector<FleetMember>& members);

// SHA-256 over choices, trees and bits of all ok probes; a case that does not repeat adds only that
// fact. Empty when there is no case that repeats, or the suite is broken.
std::string ArithmeticDigest(const Fingerprint& fingerprint);
// SHA-256 over the stack without the identity of the one machine (UUIDs, serial numbers, host and
// node names, addresses) and without withheld values, whose notes each machine makes with its own
// key.
std::string StackDigest(const Fingerprint& fingerprint);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FLEET_H_
