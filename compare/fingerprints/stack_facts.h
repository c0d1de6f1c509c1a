// Classifies facts of a stack by their keys: machine identity, hardware, and how telling they are.
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
// The CPU, GPUs and memory, which no roll-out changes. Excludes drivers.
bool IsOfMachine(std::string_view key);
// A digest, build id or file name; a version beside it says more.
bool IsDigest(std::string_view key);
// Notes in place of values, made with two keys or by two rules: they show no difference.
bool CannotCompare(const std::optional<std::string>& a, const std::optional<std::string>& b);
// A note in place of a value, which a machine makes with a key of its own.
bool IsWithheldNote(std::string_view value);
// The lowest rank is worth the first look: variables; versions, drivers and models; the rest;
// digests.
int TellingRank(std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_STACK_FACTS_H_
