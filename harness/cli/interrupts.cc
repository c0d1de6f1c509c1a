// Interrupts of a verb that reruns.
#include "harness/cli/interrupts.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "harness/base/stderr_line.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

std::atomic<int> g_interrupts{0};

void OnInterrupt(int signal) {
  if (++g_interrupts <= 1 || signal == SIGHUP) return;
  AbandonStatusLine();
  std::_Exit(kExitInfrastructure);
}

}  // namespace

void CountInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  if (std::signal(SIGHUP, OnInterrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool Interrupted() { return g_interrupts.load() > 0; }

}  // namespace rharness
