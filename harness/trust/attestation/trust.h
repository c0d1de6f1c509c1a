// Whom to believe: which keys there are, whose they are, and what each may sign, as people wrote it
// down.
//
// Role: plain data for verification.h, which decides. One YAML (or JSON) file that people read and
// review.
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

// A key, for what was decided from `from` on and before `until`. Signatures carry no time that
// anybody else vouches for: who has the key can date back, so a key that is lost leaves the policy.
struct TrustedKey {
  std::string name;
  std::string owner;
  PublicKey key;
  std::optional<WallTime> from;
  std::optional<WallTime> until;

  bool HoldsAt(WallTime time) const;
};

// `threshold` different ones of `keys` must have signed statements of these predicate types about
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

  // The first that is for it; nullptr: nobody may sign that.
  const TrustRule* FindRule(std::string_view predicate, std::string_view family) const;
  // Of a rule that is for every family: the first before it that asks of some families for more,
  // for statements of this type; nullptr: none does, or the rule has patterns. Who may sign by the
  // one alone can do without the other by naming another family.
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
// Errors: invalid_input with file and JSON path: an unknown member, one twice or missing, a key or
// name that is there twice, a rule that names no key or an unknown one, a threshold that its keys
// cannot meet, an interval that is over before it begins, no rule; what a PEM file is not. More
// than 1 MiB, 256 keys or 1000 rules.
Result<TrustPolicy> ParseTrustPolicy(std::string_view yaml, const std::filesystem::path& file);
Result<TrustPolicy> LoadTrustPolicy(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_TRUST_H_
