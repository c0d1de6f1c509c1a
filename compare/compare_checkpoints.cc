// Pairing up checkpoints and comparing each pair; see compare_checkpoints.h.
#include "compare/compare_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "compare/parts_beside.h"
#include "compare/tied_weights.h"
#include "compare/weights/input_file.h"
#include "compare/weights/roles.h"
#include "compare/weights/side_files.h"
#include "compare/weights/views.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

struct WeightsPair {
  const RecordedCheckpoint* a = nullptr;
  const RecordedCheckpoint* b = nullptr;
};

std::vector<const RecordedCheckpoint*> OfRecordedRole(
    const std::vector<RecordedCheckpoint>& checkpoints, std::string_view role) {
  std::vector<const RecordedCheckpoint*> of_role;
  for (const RecordedCheckpoint& weights : checkpoints) {
    if (weights.role == role) of_role.push_back(&weights);
  }
  return of_role;
}

// By path; the only ones of a role on both sides are a pair whatever their paths.
std::vector<WeightsPair> PairUp(const std::vector<RecordedCheckpoint>& a,
                                const std::vector<RecordedCheckpoint>& b) {
  std::vector<WeightsPair> pairs;
  for (const std::string_view role : {"weights", "optimizer"}) {
    const auto of_a = OfRecordedRole(a, role), of_b = OfRecordedRole(b, role);
    if (of_a.size() == 1 && of_b.size() == 1) {
      pairs.push_back({of_a.front(), of_b.front()});
      continue;
    }
    for (const RecordedCheckpoint* weights : of_a) {
      const auto found = std::ranges::find(of_b, weights->path, &RecordedCheckpoint::path);
      if (found != of_b.end()) {
        pairs.push_back({weights, *found});
      }
    }
  }
  return pairs;
}

// A kept checkpoint must be the one that was recorded.
Status Verify(const RecordedCheckpoint& weights, const CheckpointDigest& digest) {
  const bool other = !weights.recorded_digest.empty() && weights.recorded_digest != digest.sha256;
  if (!other && (weights.recorded_beside.empty() || weights.recorded_beside == digest.beside)) {
    return {};
  }
  return IntegrityError(
      fmt::format("the kept checkpoint is not the recorded one: {} {}, expected {}",
                  other ? "tensor digest" : "digest of what is loaded with the tensors",
                  other ? digest.sha256 : digest.beside,
                  other ? weights.recorded_digest : weights.recorded_beside),
      weights.path);
}

Result<CheckpointComparison> CompareDigests(const WeightsPair& pair, int threads) {
  CheckpointComparison comparison{.subject = fmt::format("{} {}", pair.a->role, pair.a->path),
                                  .weights = pair.a->role == "weights",
                                  .from_digests = true};
  std::array<std::vector<TensorDigest>, 2> tensors;
  std::array<std::string, 2> roots;
  std::array<BesideDigest, 2> beside;
  std::size_t side = 0;
  for (const RecordedCheckpoint* weights : {pair.a, pair.b}) {
    tensors[side] = weights->recorded;
    roots[side] = weights->recorded_digest;
    beside[side] = {weights->recorded_beside, weights->recorded_parts, weights->is_file};
    if (weights->checkpoint) {
      ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(*weights->checkpoint, threads));
      RETURN_IF_ERROR(Verify(*weights, digest));
      tensors[side] = std::move(digest.tensors);
      roots[side] = std::move(digest.sha256);
      beside[side].digest = std::move(digest.beside);
      beside[side].parts = std::move(digest.beside_parts);
    }
    ++side;
  }
  comparison.digest_a = roots[0];
  comparison.digest_b = roots[1];
  RETURN_IF_ERROR(NoteBeside(beside, &comparison));
  if (!tensors[0].empty() && !tensors[1].empty()) {
    comparison.difference = DiffDigests(tensors[0], tensors[1]);
    comparison.non_finite =
        DescribeNonFinite(comparison.difference.non_finite, comparison.difference.compared);
    comparison.tied = FindTied(tensors[0], tensors[1], comparison.difference);
    return comparison;
  }
  // Root digests decide if no list of tensors was recorded; the root of no tensor shows nothing.
  comparison.difference.vacuous = roots[0] == CombineDigests({}) && roots[0] == roots[1];
  comparison.difference.bit_equal =
      !comparison.difference.vacuous && !roots[0].empty() && roots[0] == roots[1];
  return comparison;
}

// At most `size` bytes of a value from `from` on, no character cut in two.
std::string Excerpt(std::string_view text, std::size_t from, std::size_t size) {
  const auto is_inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t end = std::min(from + size, text.size());
  while (from > 0 && is_inside(from)) --from;
  while (end > from && is_inside(end)) --end;
  return fmt::format("{}{}{}", from > 0 ? "..." : "", text.substr(from, end - from),
                     end < text.size() ? "..." : "");
}

// "epoch: 3 in A, 4 in B", one line per key; for long values the place where they part.
std::vector<std::string> DifferingMetadata(const Checkpoint& a, const Checkpoint& b) {
  constexpr std::size_t kLongest = 60, kBefore = 20, kMost = 200;
  std::map<std::string, std::array<std::string, 2>> values;
  for (const auto& [key, value] : a.metadata()) values[key][0] = value;
  for (const auto& [key, value] : b.metadata()) values[key][1] = value;
  std::vector<std::string> lines;
  for (const auto& [key, sides] : values) {
    if (sides[0] == sides[1] || lines.size() == kMost) continue;
    const auto parted =
        static_cast<std::size_t>(std::ranges::mismatch(sides[0], sides[1]).in1 - sides[0].begin());
    const bool late = parted + kBefore > kLongest;
    const auto shown = [&](const std::string& value) {
      if (value.empty()) return std::string("absent");
      return Excerpt(value, late ? std::min(parted - kBefore, value.size()) : 0, kLongest);
    };
    lines.push_back(fmt::format("{}: {} in A, {} in B", key.empty() ? "the value" : key,
                                shown(sides[0]), shown(sides[1])));
  }
  return lines;
}

// "fc1.weight: F32 [64, 64] in A, BF16 [64, 64] in B", of the first tensor that cannot be compared.
std::string FirstShapeOrDtype(const Checkpoint& a, const Checkpoint& b,
                              const CheckpointDifference& difference) {
  if (difference.shape_or_dtype.empty()) return {};
  const std::string& name = difference.shape_or_dtype.front();
  const auto describe = [&](const Checkpoint& checkpoint) -> std::string {
    const auto found = std::ranges::find(checkpoint.tensors(), name, &TensorInfo::name);
    if (found == checkpoint.tensors().end()) return "?";
    return fmt::format("{} [{}]", FormatName(*found), fmt::join(found->shape, ", "));
  };
  return fmt::format("{}: {} in A, {} in B", name, describe(a), describe(b));
}

std::set<TensorRole> RolesIn(const Checkpoint& checkpoint) {
  std::set<TensorRole> roles;
  for (const TensorInfo& tensor : checkpoint.tensors()) roles.insert(RoleOf(tensor.name));
  return roles;
}

// For the first differing tensors: whether their bytes match the written checksum.
Result<std::vector<std::string>> FindDamage(const Checkpoint& a, const Checkpoint& b,
                                            const CheckpointDifference& difference) {
  constexpr std::size_t kMost = 16;
  std::set<std::string> damaged;
  for (std::size_t i = 0; i < std::min(difference.differing.size(), kMost); ++i) {
    for (const Checkpoint* side : {&a, &b}) {
      const auto found = std::ranges::lower_bound(side->tensors(), difference.differing[i].name, {},
                                                  &TensorInfo::name);
      const bool is_there =
          found != side->tensors().end() && found->name == difference.differing[i].name;
      if (!is_there) continue;  // it has another name in B
      const Status status =
          side->CheckStored(static_cast<std::size_t>(found - side->tensors().begin()));
      if (status.ok()) continue;
      if (status.error().code != ErrorCode::kIntegrity) return status.error();
      damaged.insert(fmt::format("{} is damaged, or was written without checksums: {}",
                                 side == &a ? "A" : "B", status.error().message));
    }
  }
  return std::vector<std::string>(damaged.begin(), damaged.end());
}

Result<CheckpointComparison> ComparePart(std::string subject, bool is_weights, const Checkpoint& a,
                                         const Checkpoint& b, int threads) {
  CheckpointComparison part{.subject = std::move(subject), .weights = is_weights};
  ASSIGN_OR_RETURN(part.difference, DiffCheckpoints(a, b, threads));
  part.non_finite = DescribeNonFinite(part.difference.non_finite, part.difference.compared);
  part.first_shape_or_dtype = FirstShapeOrDtype(a, b, part.difference);
  ASSIGN_OR_RETURN(part.damaged, FindDamage(a, b, part.difference));
  ASSIGN_OR_RETURN(part.tied, FindTied(a, b, part.difference));
  if (!part.difference.only_a.empty() && !part.difference.only_b.empty()) {
    part.prefixes = SuggestPrefixes(a, b);
  }
  return part;
}

// Kept bytes must be the recorded ones.
Status VerifyBytes(const WeightsPair& pair, int threads) {
  for (const RecordedCheckpoint* weights : {pair.a, pair.b}) {
    // Bytes are compared here; a digest of the readable parts would cover less.
    const bool partial = std::ranges::any_of(weights->checkpoint->unread(), &LimitsDigest);
    if (weights->recorded_digest.empty() || partial) continue;
    ASSIGN_OR_RETURN(const CheckpointDigest digest,
                     DigestCheckpoint(*weights->checkpoint, threads));
    RETURN_IF_ERROR(Verify(*weights, digest));
  }
  return {};
}

// The state of a module beside its state_dict() is compared if both sides are modules.
void NoteUnsaved(bool in_a, CheckpointComparison* part) {
  part->asides.push_back(fmt::format(
      "{} holds tensors that no state_dict has, and {} does not: they were not compared",
      in_a ? "A" : "B", in_a ? "B" : "A"));
}

// Splits one pair by the role of its tensors: the weights apart from the rest.
Result<std::vector<CheckpointComparison>> CompareRoles(const WeightsPair& pair, int threads,
                                                       bool weights_only_wanted) {
  const Checkpoint& a = *pair.a->checkpoint;
  const Checkpoint& b = *pair.b->checkpoint;
  std::set<TensorRole> weights_only = {TensorRole::kWeight};
  std::set<TensorRole> roles_a = RolesIn(a), roles_b = RolesIn(b);
  std::vector<CheckpointComparison> parts;
  if (!roles_a.contains(TensorRole::kWeight) || !roles_b.contains(TensorRole::kWeight)) {
    ASSIGN_OR_RETURN(
        CheckpointComparison all,
        ComparePart("tensors " + pair.a->path, pair.a->role == "weights", a, b, threads));
    parts.push_back(std::move(all));
    return parts;
  }
  const bool unsaved_a = roles_a.erase(TensorRole::kUnsaved) > 0;
  const bool unsaved_b = roles_b.erase(TensorRole::kUnsaved) > 0;
  if (unsaved_a && unsaved_b) weights_only.insert(TensorRole::kUnsaved);
  ASSIGN_OR_RETURN(CheckpointComparison weights,
                   ComparePart("weights " + pair.a->path, true, *OfRole(a, weights_only),
                               *OfRole(b, weights_only), threads));
  if (unsaved_a != unsaved_b) NoteUnsaved(unsaved_a, &weights);
  parts.push_back(std::move(weights));
  roles_a.erase(TensorRole::kWeight);
  roles_b.erase(TensorRole::kWeight);
  if (weights_only_wanted || (roles_a.empty() && roles_b.empty())) return parts;
  roles_a.merge(roles_b);
  ASSIGN_OR_RETURN(CheckpointComparison state,
                   ComparePart("optimizer state " + pair.a->path, false, *OfRole(a, roles_a),
                               *OfRole(b, roles_a), threads));
  parts.push_back(std::move(state));
  return parts;
}

Result<std::vector<CheckpointComparison>> CompareBytes(const WeightsPair& pair, int threads,
                                                       bool weights_only_wanted) {
  RETURN_IF_ERROR(VerifyBytes(pair, threads));
  ASSIGN_OR_RETURN(std::vector<CheckpointComparison> parts,
                   CompareRoles(pair, threads, weights_only_wanted));
  CheckpointComparison& first = parts.front();
  first.metadata = DifferingMetadata(*pair.a->checkpoint, *pair.b->checkpoint);
  ASSIGN_OR_RETURN(PartSentences sentences, PartsBeside(*pair.a, *pair.b, weights_only_wanted));
  first.not_compared = std::move(sentences.decide);
  std::ranges::move(sentences.aside, std::back_inserter(first.asides));
  first.digest_a = pair.a->recorded_digest;
  first.digest_b = pair.b->recorded_digest;
  return parts;
}

// As of parts beside a checkpoint; empty: they are the same.
Result<std::optional<std::string>> DifferenceOfFiles(const std::filesystem::path& a,
                                                     const std::filesystem::path& b,
                                                     const FileDigest& digest_a,
                                                     const FileDigest& digest_b) {
  if (digest_a.sha256 == digest_b.sha256) return std::optional<std::string>();
  std::array<UnreadPart, 2> parts;
  for (const std::size_t side : {0, 1}) {
    const std::filesystem::path& path = side == 0 ? a : b;
    ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
    parts[side].name = path.filename().string();
    parts[side].size_bytes = file.size_bytes();
    parts[side].file = std::make_shared<const InputFile>(std::move(file));
  }
  return DifferenceOf(parts[0], parts[1]);
}

}  // namespace

Result<std::vector<CheckpointComparison>> CompareCheckpoints(
    const std::vector<RecordedCheckpoint>& a, const std::vector<RecordedCheckpoint>& b,
    const CheckpointOptions& options) {
  std::vector<CheckpointComparison> comparisons;
  for (const WeightsPair& pair : PairUp(a, b)) {
    if (!pair.a->checkpoint || !pair.b->checkpoint) {
      ASSIGN_OR_RETURN(CheckpointComparison comparison, CompareDigests(pair, options.threads));
      comparisons.push_back(std::move(comparison));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<CheckpointComparison> parts,
                     CompareBytes(pair, options.threads, options.weights_only));
    std::ranges::move(parts, std::back_inserter(comparisons));
  }
  return comparisons;
}

Result<CheckpointComparison> CompareUnread(const std::filesystem::path& a,
                                           const std::filesystem::path& b, std::string_view why) {
  ASSIGN_OR_RETURN(const FileDigest digest_a, HashFile(a));
  ASSIGN_OR_RETURN(const FileDigest digest_b, HashFile(b));
  const std::string name = TerminalSafe(a.filename().string());
  CheckpointComparison comparison{.subject = "file " + name,
                                  .digest_a = digest_a.sha256,
                                  .digest_b = digest_b.sha256,
                                  .from_digests = true};
  ASSIGN_OR_RETURN(const auto difference, DifferenceOfFiles(a, b, digest_a, digest_b));
  comparison.difference.bit_equal = !difference;
  comparison.difference.vacuous = difference.has_value();
  if (difference && SideFileOf(a.filename()) == SideFile::kModel) {
    comparison.not_compared.push_back(
        fmt::format("{}: {}; it is loaded with the tensors", name, *difference));
  } else if (difference) {
    comparison.not_compared.push_back(
        fmt::format("{} was not compared, and {}: {}", name, *difference, why));
  }
  return comparison;
}

}  // namespace rharness
