// The records of an evaluation, item by item, from the files that evaluation programs write.
//
// Role: a value that decide_items.h judges. Files: lm-evaluation-harness's samples_TASK_DATE.jsonl
// (with results_DATE.json beside them), and any JSON Lines with an identifier and scores. Nothing
// in them is executed. Source: lm-evaluation-harness 0.4, docs/interface.md ("--log_samples").
#ifndef RHARNESS_COMPARE_ITEMS_EVAL_ITEMS_H_
#define RHARNESS_COMPARE_ITEMS_EVAL_ITEMS_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/items/decide_items.h"
#include "harness/base/result.h"
#include "harness/base/source_folder.h"
#include "harness/verdict/facts.h"

namespace rharness {

struct EvalItem {
  std::map<std::string, double> scores;  // by name; finite or not
  std::string cluster;                   // "group" or "cluster" of the item; empty: none named
  // SHA-256 of what was asked and of what would be right; empty: not stated.
  std::string prompt;
  std::string arguments;  // of the model's calls: with choices and settings of the generation
  std::string target;
  std::string answer;  // SHA-256 of what the model said, no number; empty: not stated
};

// Numbers by their size, before all other ids.
struct IdLess {
  bool operator()(const std::string& a, const std::string& b) const;
};
using EvalTask = std::map<std::string, EvalItem, IdLess>;

struct EvalItems {
  // By task, then by the item's id; "" is the task of a file that names none.
  std::map<std::string, EvalTask> tasks;
  // Of the evaluation: version and few-shot examples of each task, chat template, system prompt and
  // tokenizer, with the weight of an identity; model, batch and library versions as context. A
  // tokenizer is known by its special tokens, which results_*.json has for some models, and by the
  // SHA-256 of its files (tokenizer.json, vocab.txt and others) where they lie beside.
  std::vector<Fact> facts;
};

// A file named samples_TASK.jsonl, or JSON Lines whose first line has an identifier ("doc_id",
// "sample_id", "question_id", "item_id", "example_id", "task_id", "idx", "index", "qid" or "id")
// and a score, and no step.
bool LooksLikeEvalItems(const std::filesystem::path& file, std::string_view head);
// JSON Lines whose first line has an identifier and what a model said, with scores or without.
bool LooksLikeAnswerTexts(std::string_view head);
// Whether a samples_*.jsonl lies in the folder, or in a folder of a model in it.
bool HoldsEvalItems(const std::filesystem::path& folder);

// Scores are the members that "metrics" lists, else all numbers and truth values but identifiers,
// times and rates. An item that is there once per filter has the filter in its id, or its number
// where the file has no name of it (lm-evaluation-harness up to 0.4.5). Errors: invalid_input with
// file and line (no object, no identifier, an item twice, a line of more than 16 MiB, more than
// 1,000,000 items).
Result<EvalItems> ParseEvalItems(std::string_view text, std::string_view file);
// A file, or a folder as lm-evaluation-harness writes it: the last samples of each task, and the
// last results, by the dates of their names. Follows no link in the folder. At most 1 GiB a file.
// Errors also: io, not_found.
Result<EvalItems> LoadEvalItems(const std::filesystem::path& path);
// The same of what `counts` says of the path of each file; none: of all.
using CountsAsItems = std::function<bool(const std::filesystem::path& relative)>;
Result<EvalItems> LoadEvalItems(const SourceFolder& source, const CountsAsItems& counts = {});

// What the two sides have in common, judged item by item.
struct ItemComparison {
  std::vector<MetricDecision> decisions;  // "TASK/SCORE", by name
  std::vector<std::string> notes;         // flipped items by id, and how many were compared
  // Facts of either side that say what was asked: the items of each task, their prompts and their
  // targets. They differ if the two sides were not asked the same.
  std::vector<Fact> facts_a;
  std::vector<Fact> facts_b;
};
// `margins`: by "TASK/SCORE" or "SCORE". Only items that both sides have, with a finite score, are
// tested. Scores that are equal for other answers have the reason "other_answers": within, and not
// bit-equal. One that is not finite on both sides alike is equal; with any other the score is at
// best inconclusive ("unscored_items"). Both are counted in a note.
ItemComparison CompareItems(const EvalItems& a, const EvalItems& b,
                            const std::map<std::string, double>& margins);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_ITEMS_EVAL_ITEMS_H_
