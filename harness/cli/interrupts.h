// Interrupts of a verb that reruns: the first ends its work in order, the second the process.
#ifndef RHARNESS_HARNESS_CLI_INTERRUPTS_H_
#define RHARNESS_HARNESS_CLI_INTERRUPTS_H_

namespace rharness {

// From here on SIGINT, SIGTERM and SIGHUP are counted. A second SIGINT or SIGTERM ends the process
// at once with kExitInfrastructure; a hang-up never does, since service managers send it right
// behind SIGTERM, and under nohup it stays ignored.
void CountInterrupts();
// Whether there was one since.
bool Interrupted();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_INTERRUPTS_H_
