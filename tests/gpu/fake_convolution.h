// Convolutions on the host for the false cuDNN: the plainest loops, over tensors of any strides.
#ifndef RHARNESS_TESTS_GPU_FAKE_CONVOLUTION_H_
#define RHARNESS_TESTS_GPU_FAKE_CONVOLUTION_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "probes/gpu/number_type.h"

namespace fake {

using rharness::NumberType;

struct Tensor {
  NumberType type = NumberType::kFp32;
  std::vector<std::int64_t> dims, strides;
  char* memory = nullptr;

  char* At(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const {
    const std::int64_t offset = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
    return memory + offset * static_cast<std::int64_t>(rharness::BytesOf(type));
  }
  float Get(const char* at) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, rharness::BytesOf(type));
    return static_cast<float>(rharness::Decode(type, bits));
  }
  void Put(char* at, double value) const {
    const std::uint64_t bits = rharness::Encode(type, value);
    std::memcpy(at, &bits, rharness::BytesOf(type));
  }
};

// Computes x (data), w (filter) or y from the other two: the products that meet in each element, in
// order of the loops, as `add` adds them.
inline void Convolve(const Tensor& x, const Tensor& w, const Tensor& y, std::int64_t padding,
                     bool data, bool filter, const std::function<float(std::vector<float>)>& add) {
  const Tensor& result = data ? x : filter ? w : y;
  std::map<char*, std::vector<float>> terms;
  const auto each = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
    for (std::int64_t c = 0; c < w.dims[1]; ++c) {
      for (std::int64_t r = 0; r < w.dims[2]; ++r) {
        for (std::int64_t s = 0; s < w.dims[3]; ++s) {
          const std::int64_t row = p + r - padding, column = q + s - padding;
          const bool inside = row >= 0 && column >= 0 && row < x.dims[2] && column < x.dims[3];
          if (!inside) continue;
          char* at_x = x.At(n, c, row, column);
          char* at_w = w.At(k, c, r, s);
          char* at_y = y.At(n, k, p, q);
          const float a = data ? y.Get(at_y) : x.Get(at_x);
          const float b = filter ? y.Get(at_y) : w.Get(at_w);
          terms[data ? at_x : filter ? at_w : at_y].push_back(a * b);
        }
      }
    }
  };
  for (std::int64_t n = 0; n < y.dims[0]; ++n) {
    for (std::int64_t k = 0; k < y.dims[1]; ++k) {
      for (std::int64_t p = 0; p < y.dims[2]; ++p) {
        for (std::int64_t q = 0; q < y.dims[3]; ++q) each(n, k, p, q);
      }
    }
  }
  for (const auto& [at, list] : terms) result.Put(at, static_cast<double>(add(list)));
}

}  // namespace fake

#endif  // RHARNESS_TESTS_GPU_FAKE_CONVOLUTION_H_
