// The answers of two legs of an inference, matched item by item, whatever the order of each leg.
//
// Role: beside leg_outputs.h, for batch_invariant: log-probabilities of tokens by prompt and sample
// (compare/tokens); scores and texts of an evaluation, or texts alone, by task and item
// (compare/items). Reads kept outputs, which any program may have written.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_ANSWERS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_ANSWERS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/items/eval_items.h"
#include "compare/tokens/token_scores.h"
#include "harness/base/result.h"
#include "harness/experiments/properties/property_judge.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {

// The names under which Within::metrics has margins: nats of a token; a score of an item.
inline constexpr char kMarginOfLogprobs[] = "logprobs";
inline constexpr char kMarginOfScores[] = "scores";

// One side's file against the other's: equal, or how many answers differ and which is the first.
// Errors: invalid_input where equality shows nothing: no prompt ids, no finite value, numbers
// printed with a few decimals, an item that was asked otherwise.
Result<Apart> ApartOfAnswers(const std::string& path, const TokenScores& a, const TokenScores& b);
Result<Apart> ApartOfAnswers(const std::string& path, const EvalItems& a, const EvalItems& b);

// One for each output that holds answers. Empty: none does. Locations are below `folder`, or
// absolute. Errors also: those of reading, with file and line; integrity.
Result<std::vector<Apart>> CompareAnswers(const std::vector<Artifact>& a,
                                          const std::vector<Artifact>& b,
                                          const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEG_ANSWERS_H_
