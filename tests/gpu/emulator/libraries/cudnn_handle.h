// What every function of the emulated cuDNN asks first: the call counted, the handle alive, the
// device there.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_HANDLE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_HANDLE_H_

#include <cudnn.h>

#include <string>
#include <string_view>

struct cudnnContext {
  int device = -1;
  unsigned calls = 0;  // what may vary does so by it
};

namespace rharness {

// An injected failure, or, if the call needs the device, an error of it that stays:
// CUDNN_STATUS_EXECUTION_FAILED.
cudnnStatus_t EnterCudnn(std::string_view call, bool needs_device);
// NOT_INITIALIZED for a handle that does not live, BAD_PARAM outside of its context.
cudnnStatus_t CheckCudnnHandle(cudnnHandle_t handle);
// Keeps the text for cudnnGetLastErrorString.
cudnnStatus_t RefuseCudnn(cudnnStatus_t status, std::string text);

}  // namespace rharness

#define ENTER(name) \
  if (const cudnnStatus_t entered = rharness::EnterCudnn(#name, false)) return entered
#define ENTER_WITH_DEVICE(name) \
  if (const cudnnStatus_t entered = rharness::EnterCudnn(#name, true)) return entered
#define NEED_HANDLE(handle) \
  if (const cudnnStatus_t alive = rharness::CheckCudnnHandle(handle)) return alive

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_HANDLE_H_
