// Convolutions as values.
#include "probes/gpu/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rharness {
namespace {

std::uint64_t MixedBits(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// Element offsets of a tensor by its four indices.
class Offsets {
 public:
  Offsets(const ConvolutionShape& shape, ConvolutionTensor tensor)
      : strides_(DenseStrides(DimsOf(shape, tensor), shape.layout)) {}
  std::size_t operator()(int a, int b, int row, int column) const {
    return static_cast<std::size_t>(a * strides_[0] + b * strides_[1] + row * strides_[2] +
                                    column * strides_[3]);
  }

 private:
  std::vector<std::int64_t> strides_;
};

// Where summand s of sum q is.
std::size_t SummandAt(const ConvolutionShape& shape, ConvolutionPass pass, const Offsets& x, int q,
                      int s) {
  const int side = pass == ConvolutionPass::kForward ? shape.filter : shape.side;
  const int outer = s / (side * side), row = s % (side * side) / side, column = s % side;
  return pass == ConvolutionPass::kForward ? x(q, outer, row, column) : x(outer, q, row, column);
}

template <class Make>
ConvolutionData Fill(const ConvolutionShape& shape, std::uint64_t seed, Make make) {
  ConvolutionData data;
  std::uint64_t stream = seed * 0x100000001b3U;
  for (const auto tensor : {ConvolutionTensor::kX, ConvolutionTensor::kW, ConvolutionTensor::kY}) {
    std::vector<float>& values = data.at(tensor);
    values.resize(ElementsOf(shape, tensor));
    for (float& value : values) value = make(MixedBits(stream++));
  }
  return data;
}

}  // namespace

std::string ConvolutionShape::Name() const {
  return fmt::format("{} {} {}x{}x{}x{} by {}x{}x{} pad {}", NumberTypeName(type),
                     layout == TensorLayout::kNhwc ? "nhwc" : "nchw", n, c, side, side, k, filter,
                     filter, padding);
}

ConvolutionShape BitsShape(NumberType type, TensorLayout layout) {
  ConvolutionShape shape{.n = 4, .c = 64, .k = 64, .side = 14, .filter = 3, .padding = 1};
  shape.type = type;
  shape.layout = layout;
  return shape;
}

std::vector<std::int64_t> DimsOf(const ConvolutionShape& shape, ConvolutionTensor tensor) {
  if (tensor == ConvolutionTensor::kX) return {shape.n, shape.c, shape.side, shape.side};
  if (tensor == ConvolutionTensor::kW) return {shape.k, shape.c, shape.filter, shape.filter};
  return {shape.n, shape.k, shape.out(), shape.out()};
}

std::size_t ElementsOf(const ConvolutionShape& shape, ConvolutionTensor tensor) {
  std::size_t count = 1;
  for (const std::int64_t dim : DimsOf(shape, tensor)) count *= static_cast<std::size_t>(dim);
  return count;
}

ConvolutionTensor ResultOf(ConvolutionPass pass) {
  if (pass == ConvolutionPass::kBackwardData) return ConvolutionTensor::kX;
  if (pass == ConvolutionPass::kBackwardFilter) return ConvolutionTensor::kW;
  return ConvolutionTensor::kY;
}

cudnnDataType_t CudnnTypeOfNumber(NumberType type) {
  if (type == NumberType::kFp16) return CUDNN_DATA_HALF;
  if (type == NumberType::kBf16) return CUDNN_DATA_BFLOAT16;
  return CUDNN_DATA_FLOAT;
}

CudnnConvolution ToCudnn(const ConvolutionShape& shape, ConvolutionPass pass) {
  const auto tensor = [&](ConvolutionTensor which, std::int64_t id) {
    CudnnTensor made{.id = id, .type = CudnnTypeOfNumber(shape.type)};
    made.dims = DimsOf(shape, which);
    made.strides = DenseStrides(made.dims, shape.layout);
    return made;
  };
  return {.pass = pass,
          .x = tensor(ConvolutionTensor::kX, 1),
          .w = tensor(ConvolutionTensor::kW, 2),
          .y = tensor(ConvolutionTensor::kY, 3),
          .padding = shape.padding};
}

std::vector<float>& ConvolutionData::at(ConvolutionTensor tensor) {
  if (tensor == ConvolutionTensor::kX) return x;
  return tensor == ConvolutionTensor::kW ? w : y;
}

const std::vector<float>& ConvolutionData::at(ConvolutionTensor tensor) const {
  return const_cast<ConvolutionData*>(this)->at(tensor);
}

ConvolutionData RoundingData(const ConvolutionShape& shape, std::uint64_t seed) {
  return Fill(shape, seed, [](std::uint64_t bits) {
    const float magnitude = 1.0F + static_cast<float>(bits & 0x7fffffU) * 0x1p-23F;
    const int exponent = -static_cast<int>(bits >> 32 & 7U);
    return std::ldexp((bits >> 63) != 0 ? -magnitude : magnitude, exponent);
  });
}

ConvolutionData IntegerData(const ConvolutionShape& shape, std::uint64_t seed) {
  return Fill(shape, seed, [](std::uint64_t bits) {
    return static_cast<float>(static_cast<int>(bits % 3) - 1);
  });
}

std::vector<double> ExactConvolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                     const ConvolutionData& data) {
  const Offsets x(shape, ConvolutionTensor::kX), w(shape, ConvolutionTensor::kW),
      y(shape, ConvolutionTensor::kY);
  const ConvolutionTensor target = ResultOf(pass);
  std::vector<double> result(ElementsOf(shape, target), 0.0);
  const auto add = [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
    const auto value = [&](ConvolutionTensor tensor, std::size_t at) {
      return static_cast<double>(data.at(tensor)[at]);
    };
    if (target == ConvolutionTensor::kX) {
      result[at_x] += value(ConvolutionTensor::kW, at_w) * value(ConvolutionTensor::kY, at_y);
    } else if (target == ConvolutionTensor::kW) {
      result[at_w] += value(ConvolutionTensor::kX, at_x) * value(ConvolutionTensor::kY, at_y);
    } else {
      result[at_y] += value(ConvolutionTensor::kX, at_x) * value(ConvolutionTensor::kW, at_w);
    }
  };
  const int out = shape.out(), area = shape.filter * shape.filter;
  for (int image = 0; image < shape.n; ++image) {
    for (int pixel = 0; pixel < out * out; ++pixel) {
      for (int term = 0; term < shape.terms(); ++term) {
        const int channel = term / area, r = term % area / shape.filter, s = term % shape.filter;
        const int row = pixel / out + r - shape.padding, column = pixel % out + s - shape.padding;
        if (row < 0 || column < 0 || row >= shape.side || column >= shape.side) continue;
        const std::size_t at_x = x(image, channel, row, column);
        for (int filter = 0; filter < shape.k; ++filter) {
          add(at_x, w(filter, channel, r, s), y(image, filter, pixel / out, pixel % out));
        }
      }
    }
  }
  return result;
}

int MaskedTerms(const ConvolutionShape& shape, ConvolutionPass pass) {
  if (pass == ConvolutionPass::kForward) return shape.terms();
  return shape.n * shape.side * shape.side;
}

int MaskedQuestions(const ConvolutionShape& shape, ConvolutionPass pass) {
  return pass == ConvolutionPass::kForward ? shape.n : shape.c;
}

ConvolutionData MaskedConvolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                  const MaskScheme& scheme, std::span<const MaskPair> pairs,
                                  UnitRange units) {
  const Offsets x(shape, ConvolutionTensor::kX);
  const auto other =
      pass == ConvolutionPass::kForward ? ConvolutionTensor::kW : ConvolutionTensor::kY;
  ConvolutionData data;
  data.x.assign(ElementsOf(shape, ConvolutionTensor::kX), 0.0F);
  data.at(other).assign(ElementsOf(shape, other), static_cast<float>(scheme.unit_b));
  for (int q = 0; q < MaskedQuestions(shape, pass); ++q) {
    const auto put = [&](int s, double value) {
      data.x[SummandAt(shape, pass, x, q, s)] = static_cast<float>(value);
    };
    for (int s = units.begin; s < units.end; ++s) put(s, scheme.unit_a);
    if (static_cast<std::size_t>(q) >= pairs.size()) continue;
    const MaskPair pair = pairs[static_cast<std::size_t>(q)];
    put(pair.plus, scheme.mask_a);
    put(pair.minus, -scheme.mask_a);
  }
  return data;
}

std::size_t MaskedResultAt(const ConvolutionShape& shape, ConvolutionPass pass,
                           std::size_t question) {
  const int q = static_cast<int>(question);
  return pass == ConvolutionPass::kForward ? Offsets(shape, ConvolutionTensor::kY)(q, 0, 0, 0)
                                           : Offsets(shape, ConvolutionTensor::kW)(0, q, 0, 0);
}

}  // namespace rharness
