// Compares two checkpoints, for timing beside cmp and numpy.
//
// usage: rharness-weights-compare A B [THREADS [differ]], THREADS 1 by default, 0 for one per core.
// Prints the statistics of each tensor that differs as lines "NAME NUMBER". Exit status as cmp's: 0
// equal, 1 different, 2 trouble; with `differ`, 0 different and 1 equal.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "compare/weights/tensor_diff.h"

namespace rharness {
namespace {

Result<CheckpointDifference> Compare(const char* path_a, const char* path_b, int threads) {
  ASSIGN_OR_RETURN(const auto a, OpenCheckpoint(path_a));
  ASSIGN_OR_RETURN(const auto b, OpenCheckpoint(path_b));
  return DiffCheckpoints(*a, *b, threads);
}

void Print(const TensorDifference& tensor) {
  fmt::print("differing {}\nfirst_index {}\nmax_abs {}\nmax_rel {}\nmax_ulp {}\n", tensor.differing,
             tensor.first_index, tensor.max_abs, tensor.max_rel, tensor.max_ulp);
  fmt::print("nan_changes {}\nnorm_a {}\nnorm_b {}\nnorm_difference {}\ncosine {}\n",
             tensor.nan_changes, tensor.norm_a, tensor.norm_b, tensor.norm_difference,
             tensor.cosine);
  for (std::size_t i = 0; i < tensor.ulp_histogram.size(); ++i) {
    fmt::print("ulp_2^{} {}\n", i, tensor.ulp_histogram[i]);
  }
}

int Main(int argc, char** argv) {
  const bool expect_difference = argc == 5 && std::string_view(argv[4]) == "differ";
  if (argc != 3 && argc != 4 && !expect_difference) {
    fmt::print(stderr, "usage: rharness-weights-compare A B [THREADS [differ]]\n");
    return 2;
  }
  const auto difference = Compare(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
  if (!difference.ok()) {
    fmt::print(stderr, "rharness-weights-compare: {}\n", difference.error().ToString());
    return 2;
  }
  for (const TensorDifference& tensor : difference->differing) Print(tensor);
  return difference->bit_equal == expect_difference ? 1 : 0;
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Main(argc, argv); }
