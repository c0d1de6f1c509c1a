// The machine found, and its memory checked.
#include "tests/gpu/emulator/libraries/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "harness/base/result.h"

namespace rharness {
namespace {

std::string OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

// Null after a fault.
MemoryView Checked(const void* pointer, std::uint64_t bytes, std::uint64_t alignment, int device,
                   std::string_view name) {
  EmulatedMachine& machine = TheMachine();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const auto fault = [&](std::string_view what) {
    machine.Fault(fmt::format("{}: {} bytes at {:#x}: {}", name, bytes, address, what));
    return MemoryView{};
  };
  if (address % alignment != 0) return fault("misaligned");
  const MemoryView view = machine.Find(address, bytes);
  if (view.data == nullptr) return fault("out of bounds of device memory");
  if (machine.DeviceOfMemory(address) != device) return fault("memory of another device");
  return view;
}

}  // namespace

EmulatedMachine& TheMachine() {
  static EmulatedMachine* const machine = [] {
    // Matrices come and go: their pages are kept.
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    void* driver = dlopen((OwnFolder() + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) Abort("no emulated libcuda.so.1 beside this library");
    void* found = dlsym(driver, "rharness_emulated_machine");
    if (found == nullptr) Abort("the libcuda.so.1 beside this library is not the emulated one");
    return reinterpret_cast<EmulatedMachine* (*)()>(found)();
  }();
  return *machine;
}

const std::byte* ReadFrom(const void* pointer, std::uint64_t bytes, std::uint64_t alignment,
                          int device, std::string_view name) {
  const MemoryView view = Checked(pointer, bytes, alignment, device, name);
  if (view.data == nullptr) return nullptr;
  const void* unwritten = std::memchr(view.written, 0, bytes);
  if (unwritten == nullptr) return view.data;
  TheMachine().Fault(fmt::format("{}: byte {} was read and nobody wrote it", name,
                                 static_cast<const unsigned char*>(unwritten) - view.written));
  return nullptr;
}

std::byte* WriteTo(void* pointer, std::uint64_t bytes, std::uint64_t alignment, int device,
                   std::string_view name) {
  const MemoryView view = Checked(pointer, bytes, alignment, device, name);
  if (view.data == nullptr) return nullptr;
  std::fill_n(view.written, bytes, std::uint8_t{1});
  return view.data;
}

bool IsOnDevice(const void* pointer, std::uint64_t bytes, int device) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return TheMachine().Find(address, bytes).data != nullptr &&
         TheMachine().DeviceOfMemory(address) == device;
}

}  // namespace rharness
