// Operations, named devices, and the listing of engines.
#include "probes/gpu/cudnn_operations.h"

#include <fmt/format.h>

#include "probes/gpu/convolution.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

CudnnTensor Dense(std::int64_t id, cudnnDataType_t type, std::vector<std::int64_t> dims,
                  TensorLayout layout) {
  CudnnTensor tensor{.id = id, .type = type, .dims = std::move(dims)};
  tensor.strides = DenseStrides(tensor.dims, layout);
  return tensor;
}

CudnnOperation ConvolutionOperation(ConvolutionPass pass, NumberType type, TensorLayout layout) {
  ConvolutionShape shape{.n = 32, .c = 64, .k = 64, .side = 56, .filter = 3, .padding = 1};
  shape.type = type;
  shape.layout = layout;
  return {fmt::format("{} {}", ConvolutionPassName(pass), shape.Name()),
          [=](std::shared_ptr<const Cudnn> cudnn) {
            return CudnnGraph::Create(std::move(cudnn), ToCudnn(shape, pass));
          }};
}

CudnnOperation AttentionOperation() {
  constexpr std::int64_t kBatch = 2, kHeads = 16, kLength = 1024, kWidth = 64;
  const auto tensor = [&](std::int64_t id) {
    return Dense(id, CUDNN_DATA_BFLOAT16, {kBatch, kHeads, kLength, kWidth}, TensorLayout::kNchw);
  };
  CudnnAttention attention;
  attention.q = tensor(1);
  attention.k = tensor(2);
  attention.v = tensor(3);
  attention.scale = Dense(4, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, TensorLayout::kNchw);
  attention.scale.by_value = true;
  attention.o = tensor(5);
  attention.statistics =
      Dense(6, CUDNN_DATA_FLOAT, {kBatch, kHeads, kLength, 1}, TensorLayout::kNchw);
  return {"attention bf16 2x16x1024x64", [=](std::shared_ptr<const Cudnn> cudnn) {
            return CudnnGraph::Create(std::move(cudnn), attention);
          }};
}

struct Limits {
  std::string_view name, model;
  int compute, multiprocessors;
  int shared_memory, blocks, threads;  // of a multiprocessor; shared memory that a block may have
  int clock_khz, memory_khz, memory_bits;
  std::int64_t cache_bytes, memory_bytes;
};

Json PropertiesOf(const Limits& limits) {
  // Every member that cuDNN 9.19 or 9.28 wants. The driver is of CUDA 13.0.
  return Json::MakeObject()
      .Set("cudaDeviceId", 0)
      .Set("deviceVer", limits.compute)
      .Set("driverVer", 13000)
      .Set("maxGridSize", Json::MakeArray({2147483647, 65535, 65535}))
      .Set("maxBlockSize", Json::MakeArray({1024, 1024, 64}))
      .Set("regsPerBlock", 65536)
      .Set("multiProcessorCount", limits.multiprocessors)
      .Set("warpSize", 32)
      .Set("maxSharedMemoryPerBlock", 49152)
      .Set("maxSharedMemoryPerBlockOptin", limits.shared_memory)
      .Set("reservedSharedMemoryPerBlock", 1024)
      .Set("maxRegistersPerSM", 65536)
      .Set("maxCtasPerSM", limits.blocks)
      .Set("maxThreadsPerBlock", 1024)
      .Set("maxThreadsPerSM", limits.threads)
      .Set("pciDeviceId", 0)
      .Set("isTccDriver", 0)
      .Set("supportCoopLaunch", 1)
      .Set("smClockRateKHz", limits.clock_khz)
      .Set("memClockRateKHz", limits.memory_khz)
      .Set("memoryBusWidth", limits.memory_bits)
      .Set("l2CacheSize", limits.cache_bytes)
      .Set("deviceName", limits.model)
      .Set("totalGlobalMem", limits.memory_bytes);
}

void ListRanks(const CudnnGraph& graph, cudnnBackendHeurMode_t mode, const CudnnDescriptor* device,
               std::int64_t limit, const std::string& name, ProbeResult* result) {
  const auto ranked = graph.Rank(mode, limit, device);
  if (!ranked.ok() && ranked.error().code != ErrorCode::kUnsupported) {
    RecordFailure(name, ranked.error(), result);
    return;
  }
  if (!ranked.ok() || ranked->empty()) {
    result->notes.push_back(fmt::format("{}: no engine{}{}", name, ranked.ok() ? "" : ": ",
                                        ranked.ok() ? "" : ranked.error().ToString()));
    return;
  }
  for (std::size_t rank = 0; rank < ranked->size(); ++rank) {
    result->choices[fmt::format("{} rank {}", name, rank)] = DescribeConfig((*ranked)[rank]);
  }
}

}  // namespace

CudnnLayerNorm LayerNormOf(std::int64_t rows, std::int64_t columns, cudnnDataType_t type) {
  const auto tensor = [](std::int64_t id, cudnnDataType_t element, std::int64_t n, std::int64_t c) {
    return Dense(id, element, {n, c, 1, 1}, TensorLayout::kNhwc);
  };
  CudnnLayerNorm norm;
  norm.x = tensor(1, type, rows, columns);
  norm.scale = tensor(2, CUDNN_DATA_FLOAT, 1, columns);
  norm.bias = tensor(3, CUDNN_DATA_FLOAT, 1, columns);
  norm.epsilon = tensor(4, CUDNN_DATA_FLOAT, 1, 1);
  norm.epsilon.by_value = true;
  norm.y = tensor(5, type, rows, columns);
  norm.mean = tensor(6, CUDNN_DATA_FLOAT, rows, 1);
  norm.inverse_deviation = tensor(7, CUDNN_DATA_FLOAT, rows, 1);
  return norm;
}

std::vector<CudnnOperation> ListedOperations() {
  using Pass = ConvolutionPass;
  using Type = NumberType;
  std::vector<CudnnOperation> operations;
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardFilter}) {
    operations.push_back(ConvolutionOperation(pass, Type::kFp32, TensorLayout::kNchw));
    operations.push_back(ConvolutionOperation(pass, Type::kFp16, TensorLayout::kNhwc));
    operations.push_back(ConvolutionOperation(pass, Type::kBf16, TensorLayout::kNhwc));
  }
  operations.push_back({"layer norm bf16 4096x1024", [](std::shared_ptr<const Cudnn> cudnn) {
                          return CudnnGraph::Create(std::move(cudnn),
                                                    LayerNormOf(4096, 1024, CUDNN_DATA_BFLOAT16));
                        }});
  operations.push_back(AttentionOperation());
  return operations;
}

std::vector<NamedDevice> NamedDevices() {
  constexpr std::int64_t kMega = std::int64_t{1} << 20, kGiga = std::int64_t{1} << 30;
  const Limits known[] = {{"A10G", "NVIDIA A10G", 860, 80, 101376, 16, 1536, 1710000, 6251000, 384,
                           6 * kMega, 22 * kGiga},
                          {"A100", "NVIDIA A100-SXM4-80GB", 800, 108, 166912, 32, 2048, 1410000,
                           1593000, 5120, 40 * kMega, 79 * kGiga},
                          {"H100", "NVIDIA H100 80GB HBM3", 900, 132, 232448, 32, 2048, 1980000,
                           2619000, 5120, 50 * kMega, 79 * kGiga},
                          {"B200", "NVIDIA B200", 1000, 148, 232448, 32, 2048, 1965000, 3996000,
                           8192, 126 * kMega, 178 * kGiga}};
  std::vector<NamedDevice> devices;
  for (const Limits& limits : known) devices.push_back({limits.name, PropertiesOf(limits)});
  return devices;
}

Status ListEngines(const std::shared_ptr<const Cudnn>& cudnn, const std::string& prefix,
                   const CudnnDescriptor* device, std::int64_t limit, ProbeResult* result) {
  for (const CudnnOperation& operation : ListedOperations()) {
    const auto graph = operation.build(cudnn);
    if (!graph.ok()) {
      if (graph.error().code != ErrorCode::kUnsupported) return graph.error();
      result->notes.push_back(prefix + operation.name + ": " + graph.error().ToString());
      continue;
    }
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
      const std::string name =
          fmt::format("{}{} mode {}", prefix, operation.name, HeuristicModeName(mode));
      ListRanks(**graph, mode, device, limit, name, result);
    }
  }
  return {};
}

}  // namespace rharness
