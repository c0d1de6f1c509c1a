// Reproducibility records as teams keep them, for rows that read many.
#ifndef RHARNESS_TESTS_BENCH_MICRO_RECORDS_OF_RUNS_H_
#define RHARNESS_TESTS_BENCH_MICRO_RECORDS_OF_RUNS_H_

#include <string>

namespace rharness::bench {

// One line of JSON, about 800 bytes, with the members that `import --from record` reads. Differs by
// `i`.
std::string RecordOfRun(int i);

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_MICRO_RECORDS_OF_RUNS_H_
