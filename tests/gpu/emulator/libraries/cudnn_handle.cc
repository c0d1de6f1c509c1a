// libcudnn: handles, versions, texts. Statuses: cudnn_graph.h 9.19 and cuDNN's API reference.
#include "tests/gpu/emulator/libraries/cudnn_handle.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

std::set<cudnnHandle_t>& Handles() {
  static std::set<cudnnHandle_t> handles;
  return handles;
}
std::string& LastError() {
  static std::string text;
  return text;
}

}  // namespace

cudnnStatus_t EnterCudnn(std::string_view call, bool needs_device) {
  const EmulatedMachine::Entry entry = TheMachine().EnterLibrary(call);
  const bool failed = entry == EmulatedMachine::Entry::kInjected ||
                      (needs_device && entry == EmulatedMachine::Entry::kDeadDevice);
  return failed ? RefuseCudnn(CUDNN_STATUS_EXECUTION_FAILED, "the emulated machine failed")
                : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CheckCudnnHandle(cudnnHandle_t handle) {
  if (!Handles().contains(handle)) {
    return RefuseCudnn(CUDNN_STATUS_NOT_INITIALIZED, "no handle of this library");
  }
  if (TheMachine().CurrentDevice() == handle->device) return CUDNN_STATUS_SUCCESS;
  return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "the handle is of another device");
}

cudnnStatus_t RefuseCudnn(cudnnStatus_t status, std::string text) {
  LastError() = std::move(text);
  return status;
}

}  // namespace rharness

extern "C" {
std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
std::size_t cudnnGetCudartVersion() { return 13000; }
cudnnStatus_t cudnnGetProperty(libraryPropertyType property, int* value) {
  ENTER(cudnnGetProperty);
  if (value == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (property < MAJOR_VERSION || property > PATCH_LEVEL) return CUDNN_STATUS_BAD_PARAM;
  *value = property == MAJOR_VERSION   ? CUDNN_MAJOR
           : property == MINOR_VERSION ? CUDNN_MINOR
                                       : CUDNN_PATCHLEVEL;
  return CUDNN_STATUS_SUCCESS;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  const auto entry = rharness::TheMachine().EnterLibrary("cudnnGetErrorString");
  if (entry == rharness::EmulatedMachine::Entry::kInjected) return nullptr;
  if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
  const int kind = static_cast<int>(status) / 1000;
  return kind == 1   ? "CUDNN_STATUS_NOT_INITIALIZED"
         : kind == 2 ? "CUDNN_STATUS_BAD_PARAM"
         : kind == 3 ? "CUDNN_STATUS_NOT_SUPPORTED"
         : kind == 5 ? "CUDNN_STATUS_EXECUTION_FAILED"
                     : "CUDNN_STATUS_INTERNAL_ERROR";
}
void cudnnGetLastErrorString(char* text, std::size_t size) {
  (void)rharness::TheMachine().EnterLibrary("cudnnGetLastErrorString");
  if (text == nullptr || size == 0) return;
  const std::string& last = rharness::LastError();
  const std::size_t length = std::min(size - 1, last.size());
  std::memcpy(text, last.data(), length);
  text[length] = '\0';
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  ENTER_WITH_DEVICE(cudnnCreate);
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (rharness::TheMachine().CurrentDevice() < 0) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext{.device = rharness::TheMachine().CurrentDevice()};
  rharness::Handles().insert(*handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  ENTER(cudnnDestroy);
  if (rharness::Handles().erase(handle) == 0) return CUDNN_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
}
