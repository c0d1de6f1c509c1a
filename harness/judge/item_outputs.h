// Evaluations among the outputs of two runs, judged item by item.
//
// Role: beside output_files.h, for a record and its rerun as for any two records: the decisions of
// compare/items take the place of those over the means. Reads kept items.
#ifndef RHARNESS_HARNESS_JUDGE_ITEM_OUTPUTS_H_
#define RHARNESS_HARNESS_JUDGE_ITEM_OUTPUTS_H_

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/items/eval_items.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

using KeptItems = std::map<std::string, EvalItems>;  // by the path of the artifact

// The kept items of artifacts, proved by their SHA-256. What is not there or was changed is a note,
// and decided by its digest alone.
KeptItems LoadKeptItems(
    const std::vector<Artifact>& artifacts,
    const std::function<Result<std::filesystem::path>(const std::string& location)>& locate,
    std::vector<std::string>* notes);

struct ItemOutputs {
  std::vector<MetricDecision> decisions;
  std::vector<std::string> notes;
  std::vector<Fact> facts_a;
  std::vector<Fact> facts_b;
  std::set<std::string> compared;  // paths of the artifacts
};

// The evaluations that both sides keep; every score decides. `declared`: margins.
ItemOutputs CompareItemOutputs(const KeptItems& a, const KeptItems& b,
                               const std::vector<Metric>& declared);

// Decisions over items, in place of those of the same name, or after them: a logged metric that is
// another number than the mean of its items decides beside them, as "NAME (items)".
void TakeItemDecisions(const std::vector<MetricDecision>& items,
                       std::vector<MetricDecision>* metrics);

// Of several reruns: the first that differs. A drift only if every rerun shows it; else undecided.
std::vector<MetricDecision> MergeItemDecisions(const std::vector<Comparison>& reruns);

// The artifacts that are not compared by their items.
Manifest WithoutItems(Manifest manifest, const std::set<std::string>& compared);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_ITEM_OUTPUTS_H_
