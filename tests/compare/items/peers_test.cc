// Random evaluations have the p values that scipy and statsmodels compute.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it this test says so and is
// skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compare/items/decide_items.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

// A line: the test, p, then "a b" of each item, and its cluster.
constexpr std::string_view kProgram = R"py(
import sys
try:
    import numpy as np
    from scipy import stats
    from statsmodels.stats.contingency_tables import mcnemar
except ImportError:
    sys.exit(77)
rng = np.random.default_rng(20261129)
def say(name, p, a, b, clusters):
    print(name, repr(float(p)), *(f'{x!r} {y!r} {c}' for x, y, c in
          zip(map(float, a), map(float, b), clusters)), sep='\t')
def mean(d, axis): return np.mean(d, axis=axis)
for k in range(120):
    n = int(rng.integers(2, 18))
    a = [rng.random(n), rng.integers(0, 5, n) / 4, rng.lognormal(0, 2, n)][k % 3]
    b = np.where(rng.random(n) < .4, a, [rng.random(n), rng.integers(0, 5, n) / 4,
                                         rng.lognormal(0, 2, n)][k % 3])
    if (a == b).all(): continue
    clusters = rng.integers(0, 9, n) if k % 4 == 3 else np.arange(n)
    sums = np.array([(b - a)[clusters == c].sum() for c in np.unique(clusters)])
    p = stats.permutation_test((sums,), mean, permutation_type='samples', n_resamples=np.inf,
                               vectorized=True).pvalue
    say('exact', p, a, b, [str(c) for c in clusters] if k % 4 == 3 else ['-'] * n)
for k in range(12):
    n = int(rng.integers(40, 400))
    a = rng.integers(0, 5, n) / 4 if k % 2 else rng.beta(1, 4, n)
    b = np.clip(a + (rng.random(n) < .3) * rng.choice([-.25, .25, .5], n), 0, 2)
    p = stats.permutation_test((b - a,), mean, permutation_type='samples', n_resamples=99999,
                               vectorized=True, batch=2000, random_state=k).pvalue
    say('random', p, a, b, ['-'] * n)
for k in range(60):
    n = int(rng.integers(5, 500))
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < .2, 1 - a, a)
    if (a == b).all(): continue
    lost, won = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    say('mcnemar', mcnemar([[0, lost], [won, 0]], exact=True).pvalue, a, b, ['-'] * n)
)py";

TEST(ItemPeers, ScipyAndStatsmodelsComputeTheSameP) {
  const char* peers = std::getenv("RHARNESS_PEERS");
  if (peers == nullptr) {
    GTEST_SKIP() << "./dev peers installs scipy and statsmodels; set RHARNESS_PEERS";
  }
  const ScopedTempDir folder = ScopedTempDir::Make().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "program.py", kProgram).ok());
  ProcessSpec spec;
  spec.argv = {std::string(peers) + "/venv/bin/python", (folder.path() / "program.py").string()};
  spec.environment = PickEnvironment({"PATH", "HOME"});
  const ProcessResult result = RunProcess(spec, {.timeout = std::chrono::seconds(200)});
  if (result.outcome.exit_code == 77) GTEST_SKIP() << "RHARNESS_PEERS has no scipy or statsmodels";
  ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  std::map<std::string, int> counts;
  std::istringstream lines(result.stdout_text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string test;
    double p = 0.0;
    fields >> test >> p;
    ItemScores scores{.name = "score"};
    double a = 0.0;
    double b = 0.0;
    for (std::string cluster; fields >> a >> b >> cluster;) {
      scores.a.push_back(a);
      scores.b.push_back(b);
      if (cluster != "-") scores.clusters.push_back(cluster);
    }
    // Two draws of 99,999 differ by their own standard error.
    const double room = test == "random" ? 5.0 * std::sqrt(2.0 * p * (1.0 - p) / 99'999) : 1e-12;
    EXPECT_NEAR(DecideItems(scores).decision.p_difference, p, room) << line;
    ++counts[test];
  }
  EXPECT_GT(counts["exact"], 100);
  EXPECT_EQ(counts["random"], 12);
  EXPECT_GT(counts["mcnemar"], 50);
}

}  // namespace
}  // namespace rharness
