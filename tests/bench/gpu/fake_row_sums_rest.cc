// Every other function that the wrappers of cuBLAS and cuBLASLt bind: there, and never meant to be
// called.
#include "probes/library/cublas.h"
#include "probes/library/cublaslt.h"

extern "C" __attribute__((used)) int RefusedByTheTest() { return 999; }

// Weak, so that those which fake_row_sums.cc has stand.
#define REFUSED(name) \
  asm(".weak " RHARNESS_SYMBOL_TEXT(name)                   \
      "\n.type " RHARNESS_SYMBOL_TEXT(name) ", @function\n" \
      ".set " RHARNESS_SYMBOL_TEXT(name) ", RefusedByTheTest");
RHARNESS_CUBLAS(REFUSED)
RHARNESS_CUBLASLT(REFUSED)
