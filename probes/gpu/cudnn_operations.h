// The operations whose engines are listed: the same questions for every device and version.
#ifndef RHARNESS_PROBES_GPU_CUDNN_OPERATIONS_H_
#define RHARNESS_PROBES_GPU_CUDNN_OPERATIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "probes/library/cudnn_graph.h"
#include "probes/probe.h"

namespace rharness {

struct CudnnOperation {
  std::string name;  // "fprop fp16 nhwc 32x64x56x56 by 64x3x3 pad 1", "layer norm bf16 4096x1024"
  std::function<Result<std::unique_ptr<CudnnGraph>>(std::shared_ptr<const Cudnn>)> build;
};
// Convolutions in three directions, a layer norm, an attention.
std::vector<CudnnOperation> ListedOperations();

// Layer norm of rows by 1 by 1; ids 1 x, 2 scale, 3 bias, 4 epsilon, 5 y, 6 mean, 7 inverse
// deviation; x and y of `type`, everything else fp32.
CudnnLayerNorm LayerNormOf(std::int64_t rows, std::int64_t columns, cudnnDataType_t type);

// A device by the numbers that cuDNN's heuristics use: as in published data sheets and from
// drivers, as constants of the question rather than of a specific card.
struct NamedDevice {
  std::string_view name;
  Json properties;  // for CudnnDevice
};
std::vector<NamedDevice> NamedDevices();

// choices["PREFIXoperation mode rank"] of the first `limit` of each mode, A, B and FALLBACK.
// An operation missing from this cuDNN is a note.
Status ListEngines(const std::shared_ptr<const Cudnn>& cudnn, const std::string& prefix,
                   const CudnnDescriptor* device, std::int64_t limit, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_OPERATIONS_H_
