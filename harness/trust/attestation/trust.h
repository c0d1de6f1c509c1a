// The trust policy: the keys, their owners, and what each may sign.
//
// Role: plain data for verification.h, which applies it. One YAML (or JSON) file that people read
// and review.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_TRUST_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_TRUST_H_

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {

// A key, for statements decided from `from` on and before `until`. A signature's time is vouched
// for by nobody else: the key's owner can backdate, so a lost key must leave the policy.
struct TrustedKey {
  std::string name;
  std::string owner;
  PublicKey key;
  std::optional<WallTime> from;
  std::optional<WallTime> until;

  bool HoldsAt(WallTime time) const;
};

// At least `threshold` different ones of `keys` must sign statements of these predicate types about
// runs of these families.
struct TrustRule {
  std::vector<std::string> predicates;  // globs
  std::vector<std::string> families;    // globs
  std::vector<std::size_t> keys;        // in TrustPolicy::keys; each once
  std::size_t threshold = 1;            // 1 to keys.size()

  bool IsFor(std::string_view predicate, std::string_view family) const;
  bool IsForEveryFamily() const;
};

struct TrustPolicy {
  std::vector<TrustedKey> keys;
  std::vector<TrustRule> rules;

  // The first matching one; nullptr: nobody may sign that.
  const TrustRule* FindRule(std::string_view predicate, std::string_view family) const;
  // For a rule for every family: the first earlier rule that asks of some families for more, for
  // statements of this type; nullptr: none does, or the rule has patterns. Signers of the general
  // rule can avoid the stricter one by naming another family.
  const TrustRule* StricterBefore(std::size_t rule, std::string_view predicate) const;
};

// version: 1
// keys:
//   - name: lab-2026
//     owner: "ML platform, Ada"
//     public_key: keys/lab-2026.pub     # a PEM file, relative to this one; or `pem:` and its text
//     from: 2026-01-01                  # optional; dates are days (UTC), or RFC 3339
//     until: 2026-12-31                 # optional; through that day
// rules:                                # the first that is for a statement holds
//   - predicates: ["urn:rharness:verdict:v1"]   # globs; all, where absent
//     families: ["llama*"]                      # globs; all, where absent
//     keys: [lab-2026, audit]
//     threshold: 2                              # different keys; 1, where absent
// Errors: invalid_input with file and JSON path: an unknown, repeated or missing member, a repeated
// key or name, a rule without a key or with an unknown one, a threshold that its keys cannot meet,
// an interval that ends before it begins, no rule; an invalid PEM file. More than 1 MiB, 256 keys
// or 1000 rules.
Result<TrustPolicy> ParseTrustPolicy(std::string_view yaml, const std::filesystem::path& file);
Result<TrustPolicy> LoadTrustPolicy(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_TRUST_H_
