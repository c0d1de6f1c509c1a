// Compares two checkpoints bit for bit, for timing beside cmp and numpy.
//
// usage: rharness-weights-compare A B [THREADS], THREADS 1 by default, 0 for one per core.
// Exit status as cmp's: 0 equal, 1 different, 2 trouble.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "compare/weights/tensor_diff.h"

namespace rharness {
namespace {

Result<CheckpointDifference> Compare(const char* path_a, const char* path_b, int threads) {
  ASSIGN_OR_RETURN(const auto a, OpenCheckpoint(path_a));
  ASSIGN_OR_RETURN(const auto b, OpenCheckpoint(path_b));
  return DiffCheckpoints(*a, *b, threads);
}

int Main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "usage: rharness-weights-compare A B [THREADS]\n");
    return 2;
  }
  const auto difference = Compare(argv[1], argv[2], argc == 4 ? std::atoi(argv[3]) : 1);
  if (!difference.ok()) {
    fmt::print(stderr, "rharness-weights-compare: {}\n", difference.error().ToString());
    return 2;
  }
  for (const TensorDifference& tensor : difference->differing) {
    fmt::print("{}: {} of {} elements differ, first at {}, by at most {} and {} ulp\n", tensor.name,
               tensor.differing, tensor.elements, tensor.first_index, tensor.max_abs,
               tensor.max_ulp);
  }
  return difference->bit_equal ? 0 : 1;
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Main(argc, argv); }
