// The table of parameters, and what follows from it.
#include "scenarios/digits_cnn_cuda/cnn.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "scenarios/common/rng.h"

namespace rharness::scenarios {

CnnLayout LayoutOf(const CnnShape& shape) {
  const std::size_t channels1 = shape.channels1();
  const std::size_t channels2 = shape.channels2();
  const std::size_t window = kKernel * kKernel;
  CnnLayout layout{{{
      {"conv1.bias", {channels1}, window, 0, 0},
      {"conv1.weight", {channels1, 1, kKernel, kKernel}, window, 0, 0},
      {"conv2.bias", {channels2}, channels1 * window, 0, 0},
      {"conv2.weight", {channels2, channels1, kKernel, kKernel}, channels1 * window, 0, 0},
      {"fc1.bias", {shape.hidden}, shape.features(), 0, 0},
      {"fc1.weight", {shape.hidden, shape.features()}, shape.features(), 0, 0},
      {"fc2.bias", {kClasses}, shape.hidden, 0, 0},
      {"fc2.weight", {kClasses, shape.hidden}, shape.hidden, 0, 0},
  }}};
  for (TensorSpec& spec : layout.tensors) {
    spec.offset = layout.total;
    spec.size =
        std::accumulate(spec.shape.begin(), spec.shape.end(), std::size_t{1}, std::multiplies<>());
    layout.total += spec.size;
  }
  return layout;
}

std::vector<float> InitialCnn(const CnnLayout& layout, std::uint64_t seed) {
  Rng rng(seed, Stream::kInit);
  std::vector<float> flat;
  flat.reserve(layout.total);
  for (const TensorSpec& spec : layout.tensors) {
    const std::vector<float> values = DrawUniform(&rng, spec.size, spec.inputs);
    flat.insert(flat.end(), values.begin(), values.end());
  }
  return flat;
}

std::vector<Tensor> TensorsOf(const CnnLayout& layout, const std::vector<float>& flat) {
  std::vector<Tensor> tensors;
  for (const TensorSpec& spec : layout.tensors) {
    const auto first = flat.begin() + static_cast<std::ptrdiff_t>(spec.offset);
    tensors.push_back({std::string(spec.name),
                       spec.shape,
                       {first, first + static_cast<std::ptrdiff_t>(spec.size)}});
  }
  return tensors;
}

Batch PartOf(const Batch& batch, std::size_t parts, std::size_t index) {
  const std::size_t share = batch.size() / parts;
  const std::size_t larger = batch.size() % parts;
  const std::size_t begin = index * share + std::min(index, larger);
  const std::size_t count = share + (index < larger ? 1 : 0);
  return Batch{batch.pixels.subspan(begin * kPixels, count * kPixels),
               batch.labels.subspan(begin, count)};
}

double StepBytesFloor(const CnnShape& shape, std::size_t images) {
  // Each activation is written, read by the next layer, and read again on the way back; its slope
  // is written and read. Each parameter is read on both ways, its gradient written and read, its
  // velocity and itself read and written.
  const std::size_t activations =
      (shape.channels1() + shape.channels2()) * kArea + shape.features() + shape.hidden + kClasses;
  const std::size_t values = images * (5 * activations + 2 * kArea) + 8 * LayoutOf(shape).total;
  return static_cast<double>(values * sizeof(float));
}

}  // namespace rharness::scenarios
