// NumPy's sum: the published orders, and the NumPy of this machine when there is one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/files.h"
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

// NumPy's own sum in a child; questions go in batches, as JSON.
constexpr char kDriver[] = R"(
import json, sys
import numpy as np
job = json.load(open(sys.argv[1]))
x = np.ones(job["n"], dtype=np.float32)
out = []
for i, j in job["pairs"]:
    x[i], x[j] = 2.0**127, -2.0**127
    out.append(float(np.sum(x)))
    x[i] = x[j] = 1.0
print(json.dumps(out))
)";

class RealNumpy final : public MaskedSum {
 public:
  explicit RealNumpy(int n) : n_(n) {}
  int size() const override { return n_; }
  int max_batch() const override { return 100'000; }
  Status Count(std::span<const MaskPair> pairs, UnitRange, std::span<double> counts) override {
    Json job, list = Json::MakeArray();
    for (const MaskPair& pair : pairs) {
      list.Append(Json::MakeArray({Json(pair.plus), Json(pair.minus)}));
    }
    job.Set("n", n_).Set("pairs", std::move(list));
    ASSIGN_OR_RETURN(const std::string answer, Ask(job.Dump()));
    ASSIGN_OR_RETURN(const Json numbers, ParseJson(answer, "NumPy"));
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = *numbers.AsArray()[k].ToDouble();
    return {};
  }

 private:
  static Result<std::string> Ask(const std::string& question);
  int n_;
};

Result<std::string> RealNumpy::Ask(const std::string& question) {
  ASSIGN_OR_RETURN(const ScopedTempDir folder, ScopedTempDir::Make("rharness-numpy-"));
  const auto job = folder.path() / "job.json";
  RETURN_IF_ERROR(WriteFileAtomic(job, question));
  const ProcessSpec spec{.argv = {"/usr/bin/python3", "-c", kDriver, job.string()},
                         .environment = PickEnvironment({"PATH", "LANG"})};
  const ProcessResult run = RunProcess(
      spec, {.timeout = std::chrono::seconds(100), .output_bytes = std::uint64_t{1} << 26});
  if (!run.outcome.Succeeded())
    return ProcessError(run.outcome.ToString() + ": " + run.stderr_text);
  return run.stdout_text;
}

TEST(Numpy, OfThisMachineAddsAsPublished) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  RealNumpy first(8);
  if (const auto any = RevealTree(first); !any.ok()) {
    GTEST_SKIP() << "no NumPy: " << any.error().ToString();
  }
  for (const int n : {5, 8, 29, 100, 128, 129, 1000}) {
    RealNumpy sum(n);
    const auto revealed = RevealTree(sum, {.repeats = 0});
    ASSERT_TRUE(revealed.ok() && revealed->tree) << n << ": " << revealed->why;
    EXPECT_EQ(*revealed->tree, NumpyTree(n)) << n << ": " << NameOf(*revealed->tree);
  }
}

}  // namespace
}  // namespace rharness
