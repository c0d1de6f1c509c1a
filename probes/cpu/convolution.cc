// Patches unfolded, then one matrix product.
#include "probes/cpu/convolution.h"

namespace rharness {

std::vector<float> UnfoldPatches(const std::vector<float>& image) {
  using C = Convolution;
  std::vector<float> patches;
  for (int pixel = 0; pixel < C::kOut * C::kOut; ++pixel) {
    for (int term = 0; term < C::kTerms; ++term) {
      const int channel = term / (C::kFilter * C::kFilter);
      const int row = pixel / C::kOut + term / C::kFilter % C::kFilter;
      const int column = pixel % C::kOut + term % C::kFilter;
      patches.push_back(
          image[static_cast<std::size_t>((channel * C::kSide + row) * C::kSide + column)]);
    }
  }
  return patches;
}

std::vector<float> Convolve(const Blas& blas, const std::vector<float>& image,
                            const std::vector<float>& filters) {
  const std::vector<float> patches = UnfoldPatches(image);
  const GemmShape shape = Convolution::Shape();
  std::vector<float> out(static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.n));
  blas.Gemm(shape, filters.data(), patches.data(), 0.0F, out.data());
  return out;
}

}  // namespace rharness
