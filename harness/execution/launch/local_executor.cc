// The executor of this machine: a call of RunProcess.
#include "harness/execution/launch/job.h"

namespace rharness {
namespace {

class LocalExecutor : public Executor {
 public:
  std::string_view name() const override { return "local"; }
  ProcessResult Execute(const ProcessSpec& spec, const ProcessLimits& limits,
                        const ExecutionHooks& hooks) override {
    return RunProcess(spec, limits, hooks.on_start, hooks.should_cancel, hooks.on_failure);
  }
};

}  // namespace

std::unique_ptr<Executor> MakeLocalExecutor() { return std::make_unique<LocalExecutor>(); }

}  // namespace rharness
