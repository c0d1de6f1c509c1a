// Parts of both sides paired by their names; see parts_beside.h.
#include "compare/parts_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "compare/weights/roles.h"
#include "compare/weights/side_files.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

// By name, and by which of several of one name.
using PartPairs = std::map<std::pair<std::string_view, int>, std::array<const UnreadPart*, 2>>;

PartPairs PairParts(const Checkpoint& a, const Checkpoint& b) {
  PartPairs parts;
  for (const std::size_t side : {0, 1}) {
    std::map<std::string_view, int> seen;
    for (const UnreadPart& part : (side == 0 ? a : b).unread()) {
      parts[{part.name, seen[part.name]++}][side] = &part;
    }
  }
  return parts;
}

// Whether a side cannot have data on files loaded with its tensors: a file that was named alone,
// without such data itself.
bool HasTensorsAlone(const RecordedCheckpoint& side) {
  return side.is_file && std::ranges::find(side.checkpoint->unread(), PartKind::kModel,
                                           &UnreadPart::kind) == side.checkpoint->unread().end();
}

constexpr std::string_view kNoMembers = "{}";  // of a file that could have attributes

// "config.json, and it is loaded with the tensors: the bytes differ"
std::string SentenceOf(const UnreadPart& part, const std::string& how) {
  const std::string name = part.name.empty() ? "a part" : TerminalSafe(part.name);
  if (part.kind == PartKind::kSecondSet) return fmt::format("{} ({}): {}", part.why, name, how);
  if (part.kind == PartKind::kModel) return fmt::format("{}: {}; {}", name, how, part.why);
  return fmt::format("{} was not compared, and {}: {}", name, how, part.why);
}

// As DifferenceOf, by the digests and texts that were recorded. A null pointer: no such part.
Result<std::optional<std::string>> DifferenceOfDigests(const PartDigest* a, const PartDigest* b) {
  if (a == nullptr || b == nullptr) {
    return std::optional(fmt::format("this is so in {} alone", a != nullptr ? "A" : "B"));
  }
  if (a->sha256 == b->sha256) return std::optional<std::string>();
  if (a->text.empty() || b->text.empty()) {
    return std::optional(
        fmt::format("it differs, by its digests: {} in A, {} in B", a->sha256, b->sha256));
  }
  const auto part = [](const PartDigest& of) {
    return UnreadPart{.name = of.name, .why = {}, .file = nullptr, .content = of.text};
  };
  return DifferenceOf(part(*a), part(*b));
}

}  // namespace

Result<PartSentences> PartsBeside(const RecordedCheckpoint& a, const RecordedCheckpoint& b,
                                  bool weights_only) {
  PartSentences sentences;
  std::set<std::string> said;
  const std::array<bool, 2> alone = {HasTensorsAlone(a), HasTensorsAlone(b)};
  const PartPairs parts = PairParts(*a.checkpoint, *b.checkpoint);
  for (const auto& [key, sides] : parts) {
    if (weights_only && RoleOf(key.first) != TensorRole::kWeight) continue;
    const UnreadPart& part = sides[0] != nullptr ? *sides[0] : *sides[1];
    const bool second_set = part.kind == PartKind::kSecondSet;
    bool aside = part.kind == PartKind::kAside;
    std::string how = fmt::format("this is so in {} alone", sides[0] != nullptr ? "A" : "B");
    if (sides[0] != nullptr && sides[1] != nullptr) {
      ASSIGN_OR_RETURN(const auto difference, DifferenceOf(*sides[0], *sides[1]));
      std::optional<std::string> silent;
      if (!difference) {
        ASSIGN_OR_RETURN(silent, SilentDifferenceOf(*sides[0], *sides[1]));
      }
      if (!difference && !silent && !second_set) continue;
      how = difference ? *difference : silent.value_or("both are the same in A and in B");
      aside |= !difference;
    } else if (part.kind == PartKind::kModel) {
      aside |= alone[sides[0] == nullptr ? 0 : 1];
      if (aside && part.content == kNoMembers) continue;
    }
    std::string sentence = SentenceOf(part, how);
    if (second_set && !said.insert(part.why + how).second) continue;
    auto& list = aside ? sentences.aside : sentences.decide;
    // At the end of the list of other files nobody would see it.
    list.insert(second_set ? list.begin() : list.end(), std::move(sentence));
  }
  return sentences;
}

Status NoteBeside(const std::array<BesideDigest, 2>& beside, CheckpointComparison* comparison) {
  const auto& [a, b] = beside;
  if (a.digest == b.digest) return {};
  // A file of a format without such parts cannot have them; see HasTensorsAlone.
  const bool aside = (a.digest.empty() && a.is_file) || (b.digest.empty() && b.is_file);
  auto& list = aside ? comparison->asides : comparison->not_compared;
  const std::size_t known = list.size();
  if (!a.parts.empty() && !b.parts.empty()) {
    std::map<std::string_view, std::array<const PartDigest*, 2>> parts;
    for (const std::size_t side : {0, 1}) {
      for (const PartDigest& part : beside[side].parts) parts[part.name][side] = &part;
    }
    for (const auto& [name, sides] : parts) {
      ASSIGN_OR_RETURN(const auto how, DifferenceOfDigests(sides[0], sides[1]));
      if (!how) continue;
      list.push_back(
          fmt::format("{}: {}; it is loaded with the tensors", TerminalSafe(name), *how));
    }
  }
  if (list.size() > known) return {};
  const auto shown = [](const std::string& digest) { return digest.empty() ? "none" : digest; };
  list.push_back(
      fmt::format("what is loaded with the tensors differs, by its digests: {} in A, {} in B",
                  shown(a.digest), shown(b.digest)));
  return {};
}

}  // namespace rharness
