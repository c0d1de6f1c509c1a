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

// How telling a difference is, within one weight; the smallest is named first.
enum class Telling {
  kArithmeticVariable,  // a variable that numeric libraries read
  kVariable,            // any other that the run may read, except those set for people
  kInUse,               // a version that the run names, or a package that a process of it mapped
  kMaybeInUse,          // a package not known to be used: pure Python leaves no trace
  kLibrary,             // a library by its file: a changed version says more
  kDriver,              // GPU driver, kernel
  kOther,
  kDataPackage,  // a package of the host without program or library: it may have been read
  kNotInUse,     // a package that no process of the run was seen to use
  kDigest,       // says that something differs, but not what
};
Telling TellingOf(const FactDifference& difference);

// In use, or may be: neither a digest nor a package that the run is not known to have used.
bool TellsOfTheRun(const FactDifference& difference);

// A package that the run is not known to have used: many of them say no more than one.
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

// Removes differences that another difference covers: the digest of a list that is compared by
// name, a package whose version the run itself named. Identity facts stay.
void DropExplained(std::vector<FactDifference>* differences);

// For people: "numpy" for "package.python.numpy" and "software.numpy", "OMP_NUM_THREADS" for
// "variable.OMP_NUM_THREADS", "the GPU driver" for "gpu.driver"; any other key as it is.
std::string FactName(std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FACT_ORDER_H_
