// NumPy's sum: the published orders, and the NumPy of this machine when there is one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "probes/order/reveal.h"
#include "probes/order/tree_name.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

SumTree NumpyTree(int n) {
  return routines::TreeOf(n, [](auto x) { return routines::NumpySum(x); });
}

// Published for NumPy fp32 sums on three CPUs: sequential below 8, 8-way strided and pairwise from
// 8 to 128, more ways above (FPRev, section 6.1).
TEST(Numpy, HasThePublishedOrders) {
  EXPECT_EQ(NumpyTree(7).Canonical(), "((((((0 1) 2) 3) 4) 5) 6)");
  EXPECT_EQ(NumpyTree(8).Canonical(), "(((0 1) (2 3)) ((4 5) (6 7)))");
  EXPECT_EQ(NumpyTree(16).Canonical(),
            "((((0 8) (1 9)) ((2 10) (3 11))) (((4 12) (5 13)) ((6 14) (7 15))))");
  EXPECT_EQ(NameOf(NumpyTree(7)), "sequential");
  EXPECT_EQ(NameOf(NumpyTree(64)), "8-way strided + pairwise");
  EXPECT_EQ(NameOf(NumpyTree(128)), "8-way strided + pairwise");
  EXPECT_EQ(NameOf(NumpyTree(100)), "8-way strided + pairwise, then 4 more");
}

// NumPy's own sum in one child: for every size, the counts of all pairs in order.
constexpr char kDriver[] = R"(
import json
import numpy as np
out = {}
for n in [5, 8, 29, 100, 128, 129, 300]:
    x = np.ones(n, dtype=np.float32)
    counts = []
    for i in range(n):
        for j in range(i + 1, n):
            x[i], x[j] = 2.0**127, -2.0**127
            counts.append(float(np.sum(x)))
            x[j] = 1.0
        x[i] = 1.0
    out[str(n)] = counts
print(json.dumps(out))
)";

class NumpyTable final : public MaskedSum {
 public:
  NumpyTable(int n, const Json& counts) : n_(n), counts_(counts.AsArray()) {}
  int size() const override { return n_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange, std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto [i, j] = std::minmax(pairs[k].plus, pairs[k].minus);
      counts[k] = *counts_.at(routines::At(i * n_ - i * (i + 1) / 2 + j - i - 1)).ToDouble();
    }
    return {};
  }

 private:
  int n_;
  const Json::Array& counts_;
};

TEST(Numpy, OfThisMachineAddsAsPublished) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  const ProcessSpec spec{.argv = {"/usr/bin/python3", "-c", kDriver},
                         .environment = PickEnvironment({"PATH", "LANG"})};
  const ProcessResult run = RunProcess(
      spec, {.timeout = std::chrono::seconds(100), .output_bytes = std::uint64_t{1} << 24});
  if (run.stderr_text.find("No module named") != std::string::npos) GTEST_SKIP() << "no NumPy";
  ASSERT_TRUE(run.outcome.Succeeded()) << run.outcome.ToString() << run.stderr_text;
  const auto tables = ParseJson(run.stdout_text, "NumPy");
  ASSERT_TRUE(tables.ok()) << tables.error().ToString();
  for (const auto& [size, counts] : tables->AsObject()) {
    const int n = std::stoi(size);
    NumpyTable sum(n, counts);
    // Validation asks with fewer units, which the table does not have.
    const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
    ASSERT_TRUE(revealed.ok() && revealed->tree) << n << ": " << revealed->why;
    EXPECT_EQ(*revealed->tree, NumpyTree(n)) << n << ": " << NameOf(*revealed->tree);
  }
}

}  // namespace
}  // namespace rharness
