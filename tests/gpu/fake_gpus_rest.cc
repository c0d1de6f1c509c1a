// Every other function that the wrapper of the driver binds: there, and never meant to be called.
#include "probes/library/cuda_driver.h"

extern "C" __attribute__((used)) int RefusedByTheTest() { return 999; }

// Weak, so that those which fake_gpus.cc has stand.
#define REFUSED(name) \
  asm(".weak " RHARNESS_SYMBOL_TEXT(name)                    \
      "\n.type " RHARNESS_SYMBOL_TEXT(name) ", @function\n"  \
      ".set " RHARNESS_SYMBOL_TEXT(name) ", RefusedByTheTest");
RHARNESS_CUDA_DRIVER(REFUSED)
