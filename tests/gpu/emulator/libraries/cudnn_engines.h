// The engines of the emulated cuDNN: which there are, what they say, and what they compute.
//
// Stated orders of a convolution's engines, by index:
//   0 one accumulator, rising              3 as 2, from another part each call; backward alone
//   1 tensor cores, in groups              5 four lanes; it says that it is Winograd's
//   2 four parts, then the parts in order
// EMULATED_ENGINES: at most so many in a ranking. Of a layer norm: 0 eight lanes, 1 rising. Of an
// attention: 0, which is ranked and cannot be run.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_ENGINES_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_ENGINES_H_

#include <cudnn.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/gpu/emulator/libraries/convolution_sum.h"

namespace rharness {

struct CudnnOperand {
  std::int64_t id = 0;
  ConvolutionOperand shape;
  std::int64_t alignment = 1;
  bool by_value = false;
};

enum class OperationKind { kForward, kBackwardData, kBackwardFilter, kNorm, kAttention };
struct CudnnGraphOperation {
  OperationKind kind = OperationKind::kForward;
  std::int64_t padding = 0;
  std::vector<CudnnOperand> operands;  // a convolution's x, w, y; a norm's as CudnnNormOperand
};
// Operands of a norm in this order.
enum CudnnNormOperand {
  kNormX,
  kNormMean,
  kNormDeviation,
  kNormScale,
  kNormBias,
  kNormEpsilon,
  kNormY
};

struct CudnnEngine {
  std::int64_t index = 0;
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::vector<cudnnBackendBehaviorNote_t> behavior;
  std::vector<std::pair<cudnnBackendKnobType_t, std::int64_t>> knobs;
};

std::optional<Element> ElementOf(cudnnDataType_t type);
// Best first; `compute` is the device's capability. Empty: no engine for this.
std::vector<CudnnEngine> RankEngines(const CudnnGraphOperation& operation,
                                     cudnnBackendHeurMode_t mode, int compute);
std::int64_t WorkspaceOf(const CudnnGraphOperation& operation, const CudnnEngine& engine);
bool CanRun(const CudnnGraphOperation& operation);

// Memory by the operands' ids. A fault of the device stays.
void RunEngine(const CudnnGraphOperation& operation, const CudnnEngine& engine,
               const std::map<std::int64_t, void*>& memory, int device, unsigned turn);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_ENGINES_H_
