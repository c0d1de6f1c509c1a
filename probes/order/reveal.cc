// Breadth first: every level asks all its questions together, then splits its groups.
#include "probes/order/reveal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "probes/order/at.h"
#include "probes/order/questions.h"

namespace rharness {
namespace {

// Leaves that are children, whole or in parts, of one node which has `above` leaves in all.
struct Task {
  std::vector<int> leaves;
  int above = 0;      // 0: there is no node above; the leaves are the whole tree
  int parent = -1;    // index of that node
  int witness = -1;   // a leaf under that node and beside these, for Questions; -1: none is known
  bool flat = false;  // a pivot beside them was a lone leaf: they may all be
};

// Largest group whose pairs are all asked at once when it looks flat: the widest fused addition of
// today's hardware is 64 terms, and single questions would cost a level each.
constexpr std::size_t kFlatGroup = 64;

constexpr char kNotFixed[] = "the same question has had different answers: the order is not fixed";

class Revealer {
 public:
  Revealer(MaskedSum& sum, const RevealOptions& options)
      : n_(sum.size()), options_(options), questions_(sum, options), random_(options.seed) {}

  Result<Revealed> Run() {
    Task whole;
    for (int leaf = 0; leaf < n_; ++leaf) whole.leaves.push_back(leaf);
    std::vector<Task> tasks;
    if (n_ > 1) tasks.push_back(std::move(whole));
    while (!tasks.empty() && revealed_.why.empty()) {
      ASSIGN_OR_RETURN(tasks, Level(std::move(tasks)));
      ++revealed_.levels;
    }
    if (!revealed_.deterministic) {
      revealed_.why = kNotFixed;
    }
    if (!revealed_.why.empty()) return std::move(revealed_);
    auto tree = SumTree::Build(n_, Lists());
    if (!tree.ok()) {
      revealed_.why = "the answers fit no tree: " + tree.error().message;
      return std::move(revealed_);
    }
    revealed_.tree = std::move(*tree);
    RETURN_IF_ERROR(Validate());
    return std::move(revealed_);
  }

 private:
  // Children by node; node k of these is n_ + k to SumTree.
  std::vector<std::vector<int>> Lists() { return std::move(children_); }

  // One pivot a task against all its other leaves; all pairs of a group that looks flat.
  std::vector<MaskPair> PairsOf(Task* task) {
    std::vector<MaskPair> pairs;
    std::vector<int>& leaves = task->leaves;
    if (task->flat && leaves.size() <= kFlatGroup) {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        for (std::size_t j = i + 1; j < leaves.size(); ++j) pairs.push_back({leaves[i], leaves[j]});
      }
      return pairs;
    }
    task->flat = false;
    std::swap(leaves.front(),
              leaves[std::uniform_int_distribution<std::size_t>(0, leaves.size() - 1)(random_)]);
    for (std::size_t j = 1; j < leaves.size(); ++j) pairs.push_back({leaves.front(), leaves[j]});
    return pairs;
  }

  Result<std::vector<Task>> Level(std::vector<Task> tasks) {
    std::vector<MaskPair> pairs;
    std::vector<std::size_t> begins;
    for (Task& task : tasks) {
      begins.push_back(pairs.size());
      const auto of_task = PairsOf(&task);
      pairs.insert(pairs.end(), of_task.begin(), of_task.end());
    }
    begins.push_back(pairs.size());
    std::vector<GroupQuestions> groups;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      groups.push_back({.leaves = tasks[i].leaves,
                        .witness = tasks[i].flat ? -1 : tasks[i].witness,
                        .pairs = std::span(pairs).subspan(begins[i], begins[i + 1] - begins[i])});
    }
    ASSIGN_OR_RETURN(const std::vector<int> under, questions_.AskGroups(groups, &revealed_));
    if (revealed_.levels == 0) RETURN_IF_ERROR(questions_.CheckBatch(pairs, &revealed_));
    std::vector<Task> next;
    if (!revealed_.why.empty()) return next;
    for (std::size_t i = 0; i < tasks.size() && revealed_.why.empty(); ++i) {
      const auto answers = std::span(under).subspan(begins[i]);
      if (tasks[i].flat) {
        SplitFlat(tasks[i], answers, &next);
      } else {
        Split(tasks[i], answers, &next);
      }
    }
    return next;
  }

  int NewNode() {
    children_.emplace_back();
    return static_cast<int>(children_.size()) - 1;
  }
  void Attach(int child, int parent) {
    if (parent >= 0) children_[At(parent)].push_back(child);
  }
  // Leaves below one node: a lone one is a child, more are a task.
  void Hand(Task task, std::vector<Task>* next) {
    if (task.leaves.size() == 1) {
      Attach(task.leaves.front(), task.parent);
    } else {
      next->push_back(std::move(task));
    }
  }
  void Contradiction(int pivot, int answer) {
    revealed_.why = fmt::format(
        "the answers fit no tree: {} leaves meet leaf {}, and that many "
        "are not there; the masks may not swallow the units",
        answer, pivot);
  }

  // The pivot's ancestors, lowest first, each with the leaves that join there.
  void Split(const Task& task, std::span<const int> under, std::vector<Task>* next) {
    const int pivot = task.leaves.front();
    std::vector<std::pair<int, int>> joined;  // leaves under the meeting point, leaf
    for (std::size_t j = 1; j < task.leaves.size(); ++j) {
      joined.emplace_back(under[j - 1], task.leaves[j]);
    }
    std::ranges::sort(joined);
    int below = pivot, count = 1;
    std::size_t at = 0;
    while (at < joined.size() && joined[at].first != task.above) {
      Task group{.above = joined[at].first, .witness = pivot};
      for (; at < joined.size() && joined[at].first == group.above; ++at) {
        group.leaves.push_back(joined[at].second);
      }
      count += static_cast<int>(group.leaves.size());
      if (count != group.above) return Contradiction(pivot, group.above);
      group.parent = NewNode();
      Attach(below, group.parent);
      below = n_ + group.parent;
      Hand(std::move(group), next);
    }
    if (task.above == 0 && count != n_) return Contradiction(pivot, count);
    Attach(below, task.parent);
    Task rest{.above = task.above, .parent = task.parent, .flat = below == pivot};
    for (; at < joined.size(); ++at) rest.leaves.push_back(joined[at].second);
    if (!rest.leaves.empty()) Hand(std::move(rest), next);
  }

  // All pairs are known: leaves that meet below the node above are one child's.
  void SplitFlat(const Task& task, std::span<const int> under, std::vector<Task>* next) {
    const std::size_t n = task.leaves.size();
    const auto answer = [&](std::size_t i, std::size_t j) {
      if (i > j) std::swap(i, j);
      return under[i * n - i * (i + 1) / 2 + (j - i - 1)];
    };
    std::vector<bool> taken(n, false);
    for (std::size_t i = 0; i < n; ++i) {
      if (taken[i]) continue;
      std::vector<std::size_t> child = {i};
      for (std::size_t j = i + 1; j < n; ++j) {
        if (!taken[j] && answer(i, j) != task.above) child.push_back(j), taken[j] = true;
      }
      if (child.size() == 1) {
        Attach(task.leaves[i], task.parent);
        continue;
      }
      // One subtree of known size: revealed as a tree of its own below the same node.
      const int size = static_cast<int>(child.size());
      Task subtree{.above = task.above, .parent = task.parent};
      for (const std::size_t j : child) {
        if (j != i && answer(i, j) > size) return Contradiction(task.leaves[i], answer(i, j));
        subtree.leaves.push_back(task.leaves[j]);
      }
      next->push_back(std::move(subtree));
    }
  }

  // Random pairs asked again must meet at the node of the tree.
  Status Validate() {
    if (n_ < 3) return {};
    std::vector<MaskPair> pairs;
    std::uniform_int_distribution<int> any(0, n_ - 1);
    while (static_cast<int>(pairs.size()) < options_.validate_pairs) {
      const MaskPair pair{any(random_), any(random_)};
      if (pair.plus != pair.minus) pairs.push_back(pair);
    }
    if (pairs.empty()) return {};
    questions_.HalveBlocks();
    ASSIGN_OR_RETURN(const std::vector<int> under, questions_.Check(pairs, &revealed_));
    for (std::size_t i = 0; i < pairs.size() && revealed_.tree; ++i) {
      const int expected = revealed_.tree->LeavesUnderCommonAncestor(pairs[i].plus, pairs[i].minus);
      if (under[i] == expected) continue;
      revealed_.why = fmt::format("leaves {} and {} meet over {} leaves; the tree says {}",
                                  pairs[i].plus, pairs[i].minus, under[i], expected);
      revealed_.tree.reset();
    }
    if (!revealed_.deterministic) {
      revealed_.why = kNotFixed;
      revealed_.tree.reset();
    }
    return {};
  }

  int n_;
  const RevealOptions& options_;
  Questions questions_;
  std::mt19937_64 random_;
  std::vector<std::vector<int>> children_;
  Revealed revealed_;
};

}  // namespace

Status MaskedSum::CountPacked(std::span<const std::int64_t>, std::span<const std::vector<MaskPair>>,
                              std::span<double>) {
  return Unsupported("this sum answers one question at a time");
}

Result<Revealed> RevealTree(MaskedSum& sum, const RevealOptions& options) {
  if (sum.size() < 1) return InvalidInput("a sum of no terms has no order");
  return Revealer(sum, options).Run();
}

}  // namespace rharness
