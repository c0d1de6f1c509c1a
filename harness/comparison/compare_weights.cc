// Checkpoints of two subjects, role by role: by their bytes, or by recorded digests.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/weights/roles.h"
#include "compare/weights/views.h"
#include "harness/comparison/compare_subjects.h"

namespace rharness {
namespace {

struct WeightsPair {
  const SubjectWeights* a = nullptr;
  const SubjectWeights* b = nullptr;
};

std::vector<const SubjectWeights*> OfRecordedRole(const Subject& subject, std::string_view role) {
  std::vector<const SubjectWeights*> of_role;
  for (const SubjectWeights& weights : subject.weights) {
    if (weights.role == role) of_role.push_back(&weights);
  }
  return of_role;
}

// By path; where each side has but one of a role, that one, whatever it is called.
std::vector<WeightsPair> PairUp(const Subject& a, const Subject& b,
                                std::vector<std::string>* notes) {
  std::vector<WeightsPair> pairs;
  for (const std::string_view role : {"weights", "optimizer"}) {
    const auto of_a = OfRecordedRole(a, role), of_b = OfRecordedRole(b, role);
    if (of_a.size() == 1 && of_b.size() == 1) {
      pairs.push_back({of_a.front(), of_b.front()});
      continue;
    }
    for (const SubjectWeights* weights : of_a) {
      const auto found = std::ranges::find(of_b, weights->path, &SubjectWeights::path);
      if (found != of_b.end()) {
        pairs.push_back({weights, *found});
      } else if (!b.weights.empty()) {
        notes->push_back(fmt::format("{} {} is in A only", role, weights->path));
      }
    }
  }
  return pairs;
}

// A kept checkpoint must be the one that was recorded.
Status Verify(const SubjectWeights& weights, const CheckpointDigest& digest) {
  if (weights.recorded_digest.empty() || weights.recorded_digest == digest.sha256) return {};
  return IntegrityError(
      fmt::format("the kept checkpoint is not the recorded one: tensor digest {}, "
                  "expected {}",
                  digest.sha256, weights.recorded_digest),
      weights.path);
}

Result<CheckpointComparison> CompareDigests(const WeightsPair& pair, int threads) {
  CheckpointComparison comparison{.subject = fmt::format("{} {}", pair.a->role, pair.a->path),
                                  .weights = pair.a->role == "weights",
                                  .from_digests = true};
  std::array<std::vector<TensorDigest>, 2> tensors;
  std::array<std::string, 2> roots;
  int side = 0;
  for (const SubjectWeights* weights : {pair.a, pair.b}) {
    tensors[side] = weights->recorded;
    roots[side] = weights->recorded_digest;
    if (weights->checkpoint) {
      ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(*weights->checkpoint, threads));
      RETURN_IF_ERROR(Verify(*weights, digest));
      tensors[side] = std::move(digest.tensors);
      roots[side] = std::move(digest.sha256);
    }
    ++side;
  }
  comparison.difference = DiffDigests(tensors[0], tensors[1]);
  comparison.digest_a = roots[0];
  comparison.digest_b = roots[1];
  // Root digests decide where no list of tensors was recorded.
  if (tensors[0].empty() || tensors[1].empty()) {
    comparison.difference.vacuous = false;
    comparison.difference.bit_equal = !roots[0].empty() && roots[0] == roots[1];
  }
  return comparison;
}

std::vector<std::string> DifferingMetadata(const Checkpoint& a, const Checkpoint& b) {
  std::map<std::string, std::string> of_a(a.metadata().begin(), a.metadata().end());
  std::map<std::string, std::string> of_b(b.metadata().begin(), b.metadata().end());
  std::vector<std::string> keys;
  for (const auto& [key, value] : of_a) {
    const auto found = of_b.find(key);
    if (found == of_b.end() || found->second != value) keys.push_back(key);
  }
  for (const auto& [key, value] : of_b) {
    if (!of_a.contains(key)) keys.push_back(key);
  }
  return keys;
}

std::set<TensorRole> RolesIn(const Checkpoint& checkpoint) {
  std::set<TensorRole> roles;
  for (const TensorInfo& tensor : checkpoint.tensors()) roles.insert(RoleOf(tensor.name));
  return roles;
}

// The parts of one pair by what their tensors are for: the weights apart from all the rest.
Result<std::vector<CheckpointComparison>> CompareBytes(const WeightsPair& pair, int threads) {
  const Checkpoint& a = *pair.a->checkpoint;
  const Checkpoint& b = *pair.b->checkpoint;
  for (const SubjectWeights* weights : {pair.a, pair.b}) {
    if (weights->recorded_digest.empty()) continue;
    ASSIGN_OR_RETURN(const CheckpointDigest digest,
                     DigestCheckpoint(*weights->checkpoint, threads));
    RETURN_IF_ERROR(Verify(*weights, digest));
  }
  std::set<TensorRole> roles = RolesIn(a);
  roles.merge(RolesIn(b));
  const bool mixed = roles.contains(TensorRole::kWeight) && roles.size() > 1;
  std::vector<CheckpointComparison> parts;
  const auto add = [&](std::string subject, bool is_weights, const Checkpoint& one,
                       const Checkpoint& other) -> Status {
    CheckpointComparison part{.subject = std::move(subject), .weights = is_weights};
    ASSIGN_OR_RETURN(part.difference, DiffCheckpoints(one, other, threads));
    part.digest_a = pair.a->recorded_digest;
    part.digest_b = pair.b->recorded_digest;
    if (parts.empty()) part.metadata = DifferingMetadata(a, b);
    parts.push_back(std::move(part));
    return {};
  };
  if (!mixed) {
    const bool is_weights = pair.a->role == "weights" && roles.contains(TensorRole::kWeight);
    RETURN_IF_ERROR(
        add(fmt::format("{} {}", is_weights ? "weights" : "optimizer state", pair.a->path),
            is_weights, a, b));
    return parts;
  }
  const std::set<TensorRole> weights_only = {TensorRole::kWeight};
  roles.erase(TensorRole::kWeight);
  RETURN_IF_ERROR(
      add("weights " + pair.a->path, true, *OfRole(a, weights_only), *OfRole(b, weights_only)));
  RETURN_IF_ERROR(
      add("optimizer state " + pair.a->path, false, *OfRole(a, roles), *OfRole(b, roles)));
  return parts;
}

// When no name is on both sides a wrapper may have renamed them all.
void SuggestPrefix(const WeightsPair& pair, const CheckpointComparison& part,
                   std::vector<std::string>* notes) {
  if (part.difference.only_a.empty() || part.difference.only_b.empty()) return;
  const auto prefixes = SuggestPrefixes(*pair.a->checkpoint, *pair.b->checkpoint);
  if (prefixes.empty()) return;
  notes->push_back(fmt::format("tensor names would agree with --strip-prefix {}",
                               fmt::join(prefixes, " --strip-prefix ")));
}

}  // namespace

Result<std::vector<CheckpointComparison>> CompareWeights(const Subject& a, const Subject& b,
                                                         int threads,
                                                         std::vector<std::string>* notes) {
  std::vector<CheckpointComparison> comparisons;
  for (const WeightsPair& pair : PairUp(a, b, notes)) {
    if (!pair.a->checkpoint || !pair.b->checkpoint) {
      ASSIGN_OR_RETURN(CheckpointComparison comparison, CompareDigests(pair, threads));
      comparisons.push_back(std::move(comparison));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<CheckpointComparison> parts, CompareBytes(pair, threads));
    SuggestPrefix(pair, parts.front(), notes);
    std::ranges::move(parts, std::back_inserter(comparisons));
  }
  return comparisons;
}

}  // namespace rharness
