// Runs one kernel of a text on buffers of words, for tests.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_EMULATOR_RUN_H_
#define RHARNESS_TESTS_GPU_EMULATOR_EMULATOR_RUN_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/ptx_text.h"

namespace rharness {

// The kernel's parameters are the addresses of the buffers, then the number `n`. What a kernel
// wrote is in the buffers afterwards; bytes that nobody wrote are as they were allocated.
struct EmulatedRun {
  std::vector<std::vector<std::uint32_t>> buffers;
  int n = 0;
  LaunchExtent blocks{1, 1, 1}, threads{1, 1, 1};
  unsigned dynamic_shared_bytes = 0, order = 0;
  int compute = 90;
  std::size_t unwritten = 0;  // words of the last buffer that are given no first value

  std::optional<Fault> Of(std::string_view ptx, std::string_view kernel) {
    const auto program = ParsePtx(ptx);
    if (!program.ok()) {
      return Fault{FaultKind::kUnsupported, program.error().ToString()};
    }
    DeviceMemory memory(std::uint64_t{1} << 28);
    LaunchRequest request{.program = &*program, .kernel = program->Find(kernel)};
    if (request.kernel == nullptr) return Fault{FaultKind::kUnsupported, "no such kernel"};
    request.globals = PlaceGlobals(*program, &memory);
    request.blocks = blocks;
    request.threads = threads;
    request.dynamic_shared_bytes = dynamic_shared_bytes;
    request.order = order;
    request.compute = compute;
    request.most_steps = 1 << 24;
    request.parameters.resize(8 * buffers.size() + 4);
    std::vector<std::uint64_t> addresses;
    for (const auto& buffer : buffers) addresses.push_back(Fill(buffer, &memory));
    std::memcpy(request.parameters.data(), addresses.data(), 8 * addresses.size());
    std::memcpy(request.parameters.data() + 8 * addresses.size(), &n, 4);
    request.parameters.resize(
        std::min<std::size_t>(request.parameters.size(), request.kernel->parameter_bytes));
    auto fault = RunKernel(request, &memory);
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      std::memcpy(buffers[k].data(), memory.Find(addresses[k], 4 * buffers[k].size()).data,
                  4 * buffers[k].size());
    }
    return fault;
  }

 private:
  std::uint64_t Fill(const std::vector<std::uint32_t>& buffer, DeviceMemory* memory) const {
    const std::uint64_t address = memory->Allocate(4 * buffer.size());
    const MemoryView view = memory->Find(address, 4 * buffer.size());
    std::memcpy(view.data, buffer.data(), 4 * buffer.size());
    const std::size_t left = &buffer == &buffers.back() ? unwritten : 0;
    std::fill_n(view.written, 4 * (buffer.size() - left), std::uint8_t{1});
    return address;
  }
};

// A kernel of one or more buffers around a body, with registers of every kind; %rd1 to %rd4 are the
// addresses of its buffers, %r1 is the thread's number, %rd9 four times that.
inline std::string KernelText(std::string_view body, int buffers = 2) {
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(";
  for (int b = 0; b < buffers; ++b) {
    text += (b == 0 ? "" : ", ") + std::string(".param .u64 p") + std::to_string(b);
  }
  text +=
      ")\n{\n.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .f32 %f<32>;\n"
      ".reg .b64 %rd<24>; .reg .f64 %fd<16>;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd9, %r1, 4;\n";
  for (int b = 0; b < buffers; ++b) {
    text += "ld.param.u64 %rd" + std::to_string(b + 1) + ", [p" + std::to_string(b) + "];\n";
  }
  return text + std::string(body) + "\nret;\n}\n";
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_EMULATOR_RUN_H_
