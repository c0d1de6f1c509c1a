// Which of many differing facts is named first, and by which name.
//
// Role: pure; the one order of CompareFacts, Explain and the sentences of a report.
#ifndef RHARNESS_COMPARE_FACT_ORDER_H_
#define RHARNESS_COMPARE_FACT_ORDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"

namespace rharness {

// How telling a difference is, within one weight; a smaller one is named first.
enum class Telling {
  kArithmeticVariable,  // a variable that numeric libraries read
  kVariable,            // any other that the run may read, but for those that are set for people
  kInUse,               // a version that the run names, or a package that a process of it mapped
  kMaybeInUse,          // a package of which that is not known: pure Python leaves no trace
  kLibrary,             // a library by its file: where a version changed as well, that says more
  kDriver,              // GPU driver, kernel
  kOther,
  kDataPackage,  // a package of the host without a program or library: it may have been read
  kNotInUse,     // a package that no process of the run was seen to use
  kDigest,       // says that something differs, and not what
};
Telling TellingOf(const FactDifference& difference);

// Whether it is in use, or may be: neither a package that nothing of the run is known to have used
// nor a digest.
bool TellsOfTheRun(const FactDifference& difference);

// A package that nothing of the run is known to have used: many of them say no more than one.
bool IsUnusedPackage(const FactDifference& difference);

// A variable that changes which kernel runs, in which order it adds or how many threads it has:
// OPENBLAS_CORETYPE, OMP_..., CUDA_..., XLA_FLAGS.
bool ChangesArithmetic(std::string_view variable);

// A variable that is set for people: language, time zone, folders, logs.
bool IsAmbient(std::string_view variable);

// Identity before class before context; what probes saw ("probe.") after what may have caused it;
// then as telling; of packages frameworks and numeric libraries, then those that come with them
// ("nvidia-nccl-cu12" with torch), then the rest; then by key.
bool TellsMore(const FactDifference& a, const FactDifference& b);

// Takes out what another difference of the list says already: the digest of a list that is compared
// by name, a package whose version the run itself named. What is of identity stays.
void DropExplained(std::vector<FactDifference>* differences);

// For people: "numpy" for "package.python.numpy" and "software.numpy", "OMP_NUM_THREADS" for
// "variable.OMP_NUM_THREADS", "the GPU driver" for "gpu.driver"; any other key as it is.
std::string FactName(std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FACT_ORDER_H_
