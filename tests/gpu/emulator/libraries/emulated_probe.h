// Whole probes of this program on the emulated driver and its libraries, and planted orders.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_EMULATED_PROBE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_EMULATED_PROBE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/gpu/forked.h"
#include "probes/order/sum_tree.h"
#include "probes/probe.h"

namespace rharness {

using Changes = std::vector<VariableChange>;

// With RHARNESS_FAULTS: what takes minutes, too.
inline bool IsWholeTest() { return std::getenv("RHARNESS_FAULTS") != nullptr; }

// In a process of its own: a driver keeps its error until its process ends.
inline ProbeResult RunEmulated(std::string_view name, const Changes& changes = {},
                               int repeats = 1) {
  const auto run = [&]() -> ProbeResult {
    ::alarm(300);  // a probe that hangs is ended by a signal
    ProbeContext context{.device = "cuda:0", .repeats = repeats};
    context.library_paths = {EMULATOR_DIR};
    for (const Probe& probe : Probes()) {
      if (probe.name == name) return probe.run(context);
    }
    Abort("no such probe");
  };
  auto result = RunForked(changes, run);
  return result.ok() ? std::move(*result) : FailedProbe(result.error().ToString());
}

inline ProbeResult ExpectOk(std::string_view name, const Changes& changes = {}, int repeats = 1) {
  ProbeResult result = RunEmulated(name, changes, repeats);
  EXPECT_EQ(result.status, ProbeStatus::kOk) << name << ": " << result.message;
  EXPECT_FALSE(result.counts.contains("failed cases")) << name;
  return result;
}

// An order written down here, by hand, and not read from the libraries.
class PlantedTree {
 public:
  explicit PlantedTree(int leaves) : leaves_(leaves) {}

  // A node of these; its id.
  int Add(const std::vector<int>& children) {
    if (children.size() == 1) return children[0];
    inner_.push_back(children);
    return leaves_ + static_cast<int>(inner_.size()) - 1;
  }
  // Summands begin, begin + step, ... below end, `group` at once with what was before.
  int Chain(int begin, int end, int step = 1, int group = 1) {
    int sum = -1;
    for (int i = begin; i < end; i += step * group) {
      std::vector<int> children;
      if (sum >= 0) children.push_back(sum);
      for (int x = i; x < end && x < i + step * group; x += step) children.push_back(x);
      sum = Add(children);
    }
    return sum;
  }
  // Interleaved sums of [begin, end), folded in halves.
  int Lanes(int begin, int end, int lanes) {
    std::vector<int> sums;
    for (int lane = 0; lane < lanes; ++lane) sums.push_back(Chain(begin + lane, end, lanes));
    for (int half = lanes / 2; half >= 1; half /= 2) {
      for (int lane = 0; lane < half; ++lane) {
        const auto at = static_cast<std::size_t>(lane);
        sums[at] = Add({sums[at], sums[at + static_cast<std::size_t>(half)]});
      }
    }
    return sums[0];
  }
  // Parts of equal length, each a chain, then one after the other.
  int Slices(int end, int slices, int group) {
    int sum = -1;
    for (int part = 0; part < slices; ++part) {
      const int one = Chain(end / slices * part, end / slices * (part + 1), 1, group);
      sum = sum < 0 ? one : Add({sum, one});
    }
    return sum;
  }
  std::string Text() const { return SumTree::Build(leaves_, inner_)->Canonical(); }

 private:
  int leaves_;
  std::vector<std::vector<int>> inner_;
};

inline void ExpectTree(const ProbeResult& result, const std::string& name,
                       const PlantedTree& planted) {
  const auto found = result.trees.find(name);
  ASSERT_NE(found, result.trees.end()) << name << ": no tree";
  EXPECT_EQ(found->second.Canonical(), planted.Text()) << name;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_EMULATED_PROBE_H_
