// The name of a signal, as in <signal.h>.
#ifndef RHARNESS_HARNESS_BASE_SIGNAL_NAME_H_
#define RHARNESS_HARNESS_BASE_SIGNAL_NAME_H_

#include <string>

namespace rharness {

// "SIGKILL" of 9; "signal 35" of one without a name.
std::string SignalName(int signal);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SIGNAL_NAME_H_
