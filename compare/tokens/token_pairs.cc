// Pairs by name, by place and by tokens.
#include "compare/tokens/token_pairs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/base/crc32c.h"

namespace rharness {
namespace {

bool IsSameToken(const TokenName& a, const TokenName& b) {
  if (a.id != TokenName::kNotStated && b.id != TokenName::kNotStated) return a.id == b.id;
  if (a.text != TokenName::kNoText && b.text != TokenName::kNoText) return a.text == b.text;
  return true;  // not known; NamesTokens says so
}

std::span<const TokenName> NamesOf(const TokenScores& scores, std::size_t sequence) {
  const TokenSequence& of = scores.sequences[sequence];
  return std::span(scores.names).subspan(of.begin, of.count);
}

SequencePairs PairByName(const TokenScores& a, const TokenScores& b) {
  std::map<std::pair<std::string_view, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < b.sequences.size(); ++i) {
    places[{b.sequences[i].prompt, b.sequences[i].sample}] = i;
  }
  SequencePairs out;
  std::vector<bool> paired(b.sequences.size(), false);
  for (std::size_t i = 0; i < a.sequences.size(); ++i) {
    const auto found = places.find({a.sequences[i].prompt, a.sequences[i].sample});
    if (found == places.end()) {
      out.only_a.push_back(i);
      continue;
    }
    out.pairs.push_back({i, found->second});
    paired[found->second] = true;
  }
  for (std::size_t i = 0; i < paired.size(); ++i) {
    if (!paired[i]) out.only_b.push_back(i);
  }
  return out;
}

// Of the ids, or of the texts.
std::uint64_t DigestOf(std::span<const TokenName> names, bool by_id) {
  std::vector<std::uint64_t> words;
  words.reserve(names.size());
  for (const TokenName& name : names) words.push_back(by_id ? name.id : name.text);
  const auto bytes = std::as_bytes(std::span(words));
  return std::uint64_t{Crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()})} << 32 |
         names.size();
}

bool AllByIds(const TokenScores& scores) {
  return std::ranges::none_of(
      scores.names, [](const TokenName& name) { return name.id == TokenName::kNotStated; });
}

// Those whose tokens are others at their places: by equal tokens, in their order.
SequencePairs PairByPlace(const TokenScores& a, const TokenScores& b) {
  SequencePairs out;
  const std::size_t both = std::min(a.sequences.size(), b.sequences.size());
  std::vector<std::size_t> loose;
  for (std::size_t i = 0; i < both; ++i) {
    const CommonTokens common = CommonOf(a, b, {i, i});
    (common.other ? loose : out.only_a).push_back(i);
  }
  for (const std::size_t i : std::exchange(out.only_a, {})) out.pairs.push_back({i, i});
  const bool by_id = AllByIds(a) && AllByIds(b);
  std::unordered_multimap<std::uint64_t, std::size_t> waiting;
  std::vector<std::size_t> rest_a = loose;
  std::vector<std::size_t> rest_b = loose;
  for (std::size_t i = both; i < a.sequences.size(); ++i) rest_a.push_back(i);
  for (std::size_t i = both; i < b.sequences.size(); ++i) rest_b.push_back(i);
  std::vector<bool> taken(b.sequences.size(), false);
  for (auto at = rest_b.rbegin(); at != rest_b.rend(); ++at) {
    waiting.emplace(DigestOf(NamesOf(b, *at), by_id), *at);
  }
  std::vector<std::size_t> alone;
  for (const std::size_t i : rest_a) {
    const auto found = waiting.find(DigestOf(NamesOf(a, i), by_id));
    if (found == waiting.end() || CommonOf(a, b, {i, found->second}).other) {
      alone.push_back(i);
      continue;
    }
    out.by_tokens = true;
    out.pairs.push_back({i, found->second});
    taken[found->second] = true;
    waiting.erase(found);
  }
  // What remains keeps its place.
  for (const std::size_t i : alone) {
    const bool pairs = i < both && !taken[i];
    if (pairs) {
      out.pairs.push_back({i, i});
      taken[i] = true;
    } else {
      out.only_a.push_back(i);
    }
  }
  for (const std::size_t i : rest_b) {
    if (!taken[i]) out.only_b.push_back(i);
  }
  std::ranges::sort(out.pairs, {}, &SequencePair::a);
  return out;
}

}  // namespace

SequencePairs PairSequences(const TokenScores& a, const TokenScores& b) {
  return a.names_prompts && b.names_prompts ? PairByName(a, b) : PairByPlace(a, b);
}

CommonTokens CommonOf(const TokenScores& a, const TokenScores& b, const SequencePair& pair) {
  const auto names_a = NamesOf(a, pair.a);
  const auto names_b = NamesOf(b, pair.b);
  const std::size_t shorter = std::min(names_a.size(), names_b.size());
  const auto first = std::ranges::mismatch(names_a, names_b, IsSameToken);
  CommonTokens common{.count = static_cast<std::size_t>(first.in1 - names_a.begin())};
  if (names_a.size() == names_b.size() && common.count == shorter) return common;
  // One side scored more before the tokens of both. Unnamed tokens show nothing of that kind.
  const auto tail_a = names_a.last(shorter);
  const auto tail_b = names_b.last(shorter);
  if (names_a.size() != names_b.size() && shorter > 0 && NamesTokens(a, b) &&
      std::ranges::equal(tail_a, tail_b, IsSameToken)) {
    const TokenPrompt& of_a = a.sequences[pair.a].of_prompt;
    const TokenPrompt& of_b = b.sequences[pair.b].of_prompt;
    common = {
        .skip_a = names_a.size() - shorter, .skip_b = names_b.size() - shorter, .count = shorter};
    common.ended = common.skip_a > std::max(of_a.scored, of_b.masked) ||
                   common.skip_b > std::max(of_b.scored, of_a.masked);
    return common;
  }
  common.other = common.count < shorter;
  common.ended = !common.other;
  return common;
}

bool HasOtherPrompts(const TokenScores& a, const TokenScores& b, const SequencePair& pair) {
  const TokenPrompt& of_a = a.sequences[pair.a].of_prompt;
  const TokenPrompt& of_b = b.sequences[pair.b].of_prompt;
  for (const auto kind : {&TokenPrompt::ids, &TokenPrompt::messages, &TokenPrompt::text}) {
    if (of_a.*kind == TokenName::kNoText || of_b.*kind == TokenName::kNoText) continue;
    return of_a.*kind != of_b.*kind;
  }
  return false;
}

bool NamesTokens(const TokenScores& a, const TokenScores& b) {
  if (a.names.empty() || b.names.empty()) return false;
  const TokenName& one = a.names.front();
  const TokenName& other = b.names.front();
  return (one.id != TokenName::kNotStated && other.id != TokenName::kNotStated) ||
         (one.text != TokenName::kNoText && other.text != TokenName::kNoText);
}

}  // namespace rharness
