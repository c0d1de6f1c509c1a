// Facts of a stack by their keys: which names the one machine, which is of its hardware, and which
// tells people most.
//
// Role: private to this folder. Pure.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_STACK_FACTS_H_
#define RHARNESS_COMPARE_FINGERPRINTS_STACK_FACTS_H_

#include <optional>
#include <string>
#include <string_view>

namespace rharness {

// UUIDs, serial numbers, addresses, host and node names: "gpus.0.uuid", "host.name", "node".
bool NamesOneMachine(std::string_view key);
// The CPU, GPUs and memory, which no roll-out changes. A driver is none of it.
bool IsOfMachine(std::string_view key);
// A digest, build id or file name, which a version beside it says better.
bool IsDigest(std::string_view key);
// Notes in the place of values, made with two keys or by two rules: no difference can be read off.
bool CannotCompare(const std::optional<std::string>& a, const std::optional<std::string>& b);
// A note in the place of a value, which a machine makes with a key of its own.
bool IsWithheldNote(std::string_view value);
// Where to look first has the lowest: variables; versions, drivers and models; the rest; digests.
int TellingRank(std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_STACK_FACTS_H_
