// digits_portable: trains on the handwritten digits with the same bits on every x86-64 machine.
#include <memory>
#include <string>

#include "scenarios/common/trainer.h"
#include "scenarios/digits_portable/portable_mlp.h"

int main(int argc, char** argv) {
  using namespace rharness::scenarios;
  return RunTrainer(argc, argv, [](const Options& options, std::string*) {
    return std::make_unique<PortableMlp>(InitialParameters(options.hidden, options.init_seed));
  });
}
