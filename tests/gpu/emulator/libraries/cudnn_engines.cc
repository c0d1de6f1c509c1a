// Engines ranked and run.
#include "tests/gpu/emulator/libraries/cudnn_engines.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

constexpr int kParts = 4;

bool IsConvolution(const CudnnGraphOperation& operation) {
  return operation.kind != OperationKind::kNorm && operation.kind != OperationKind::kAttention;
}

Element TypeOf(const CudnnGraphOperation& operation) { return operation.operands[0].shape.element; }

CudnnEngine TensorEngine(const CudnnGraphOperation& operation) {
  CudnnEngine engine{.index = 1, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}};
  if (TypeOf(operation) == Element::kF32) {
    engine.notes.push_back(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  }
  engine.knobs = {{CUDNN_KNOB_TYPE_TILE_SIZE, 1}, {CUDNN_KNOB_TYPE_STAGES, 3}};
  return engine;
}

std::vector<CudnnEngine> ConvolutionEngines(const CudnnGraphOperation& operation,
                                            cudnnBackendHeurMode_t mode) {
  const CudnnEngine plain{.index = 0};
  const CudnnEngine split{.index = 2, .knobs = {{CUDNN_KNOB_TYPE_SPLIT_K_SLC, kParts}}};
  const CudnnEngine varies{.index = 3, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}};
  const CudnnEngine winograd{.index = 5,
                             .notes = {CUDNN_NUMERICAL_NOTE_WINOGRAD},
                             .behavior = {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}};
  if (mode == CUDNN_HEUR_MODE_FALLBACK) return {plain};
  std::vector<CudnnEngine> ranked = {TensorEngine(operation), plain, split};
  if (operation.kind != OperationKind::kForward) {
    ranked.push_back(varies);
  } else if (operation.operands[1].shape.dims[2] == 3) {
    ranked.push_back(winograd);
  }
  if (mode == CUDNN_HEUR_MODE_B) std::ranges::reverse(ranked);
  return ranked;
}

SumOrder OrderOf(const CudnnEngine& engine, Element element, unsigned turn) {
  SumOrder order;
  const bool hopper = TheMachine().compute() >= 90;
  if (engine.index == 1) {
    order.group = element == Element::kF32 ? (hopper ? 8 : 4) : (hopper ? 16 : 8);
  }
  if (engine.index == 2 || engine.index == 3) order.slices = kParts;
  if (engine.index == 3) order.turn = turn % kParts;
  if (engine.index == 5) order.lanes = 4;
  return order;
}

void RunNorm(const CudnnGraphOperation& operation, const CudnnEngine& engine,
             const std::map<std::int64_t, void*>& memory, int device) {
  const auto& operands = operation.operands;
  const auto at = [&](CudnnNormOperand which) { return memory.at(operands[which].id); };
  const auto read = [&](CudnnNormOperand which) {
    const ConvolutionOperand& shape = operands[which].shape;
    const std::byte* bytes =
        ReadFrom(at(which), shape.Bytes(), SizeOf(shape.element), device, "layer norm: an input");
    return bytes == nullptr ? std::vector<double>()
                            : LoadAll(shape.element, bytes, shape.Bytes() / SizeOf(shape.element));
  };
  const auto write = [&](CudnnNormOperand which, const std::vector<double>& values) {
    const ConvolutionOperand& shape = operands[which].shape;
    std::byte* bytes =
        WriteTo(at(which), shape.Bytes(), SizeOf(shape.element), device, "layer norm: a result");
    for (std::size_t i = 0; bytes != nullptr && i < values.size(); ++i) {
      Store(shape.element, values[i], bytes + i * SizeOf(shape.element));
    }
  };
  const std::vector<double> x = read(kNormX), scale = read(kNormScale), bias = read(kNormBias);
  if (x.empty() || scale.empty() || bias.empty()) return;
  const float epsilon = *static_cast<const float*>(at(kNormEpsilon));
  const SumOrder order{.lanes = engine.index == 0 ? 8 : 1};
  const std::size_t columns = scale.size(), rows = x.size() / columns;
  std::vector<double> y(x.size()), means(rows), deviations(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> values(x.begin() + static_cast<std::ptrdiff_t>(row * columns),
                              x.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
    const float mean = AddInOrder(order, values) / static_cast<float>(columns);
    std::vector<float> squares(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      squares[i] = (values[i] - mean) * (values[i] - mean);
    }
    const float variance = AddInOrder(order, squares) / static_cast<float>(columns);
    const float inverse = 1.0F / std::sqrt(variance + epsilon);
    means[row] = static_cast<double>(mean), deviations[row] = static_cast<double>(inverse);
    for (std::size_t i = 0; i < columns; ++i) {
      const float normal = (values[i] - mean) * inverse;
      y[row * columns + i] =
          static_cast<double>(normal * static_cast<float>(scale[i]) + static_cast<float>(bias[i]));
    }
  }
  write(kNormY, y), write(kNormMean, means), write(kNormDeviation, deviations);
}

}  // namespace

std::optional<Element> ElementOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return Element::kF32;
    case CUDNN_DATA_HALF:
      return Element::kF16;
    case CUDNN_DATA_BFLOAT16:
      return Element::kBf16;
    default:
      return std::nullopt;
  }
}

std::vector<CudnnEngine> RankEngines(const CudnnGraphOperation& operation,
                                     cudnnBackendHeurMode_t mode, int compute) {
  std::vector<CudnnEngine> ranked;
  if (IsConvolution(operation)) {
    ranked = ConvolutionEngines(operation, mode);
  } else if (operation.kind == OperationKind::kNorm) {
    ranked = {CudnnEngine{.index = mode == CUDNN_HEUR_MODE_FALLBACK ? 1 : 0}};
  } else if (mode != CUDNN_HEUR_MODE_FALLBACK && compute >= 80) {
    ranked = {CudnnEngine{.index = 0, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}}};
  }
  const char* most = std::getenv("EMULATED_ENGINES");
  const std::size_t limit =
      most == nullptr ? ranked.size() : static_cast<std::size_t>(std::atoi(most));
  if (ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

std::int64_t WorkspaceOf(const CudnnGraphOperation& operation, const CudnnEngine& engine) {
  if (!IsConvolution(operation) || (engine.index != 2 && engine.index != 3)) return 0;
  const std::size_t result = operation.kind == OperationKind::kForward        ? 2
                             : operation.kind == OperationKind::kBackwardData ? 0
                                                                              : 1;
  std::int64_t elements = 1;
  for (const std::int64_t dim : operation.operands[result].shape.dims) elements *= dim;
  return elements * kParts * static_cast<std::int64_t>(sizeof(float));
}

bool CanRun(const CudnnGraphOperation& operation) {
  return operation.kind != OperationKind::kAttention;
}

void RunEngine(const CudnnGraphOperation& operation, const CudnnEngine& engine,
               const std::map<std::int64_t, void*>& memory, int device, unsigned turn) {
  if (operation.kind == OperationKind::kNorm) return RunNorm(operation, engine, memory, device);
  ConvolutionCall call{.name = "cudnnBackendExecute", .device = device};
  call.pass = static_cast<PassKind>(operation.kind);
  call.order = OrderOf(engine, TypeOf(operation), turn);
  if (engine.index == 1) call.places = TheMachine().compute() >= 90 ? 25 : 24;
  call.padding = operation.padding;
  const auto& operands = operation.operands;
  call.x = operands[0].shape, call.w = operands[1].shape, call.y = operands[2].shape;
  call.x_at = memory.at(operands[0].id), call.w_at = memory.at(operands[1].id);
  call.y_at = memory.at(operands[2].id);
  RunConvolution(call);
}

}  // namespace rharness
