// Arrays of numbers in device memory as double, and back.
//
// Role: shared by the libraries; conversions are those of short_floats.h, fast enough for matrices.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_ELEMENTS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rharness {

enum class Element { kF64, kF32, kBf16, kF16, kE4m3, kE5m2, kI8, kI32 };
std::size_t SizeOf(Element element);

double Load(Element element, const std::byte* at);
// Rounded to nearest, ties to even.
void Store(Element element, double value, std::byte* at);
void LoadRun(Element element, const std::byte* from, std::size_t count, double* to);
std::vector<double> LoadAll(Element element, const std::byte* from, std::size_t count);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_ELEMENTS_H_
