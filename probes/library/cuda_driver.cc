// libcuda.so.1: found, bound, initialised.
#include "probes/library/cuda_driver.h"

#include <fmt/format.h>

namespace rharness {

Result<std::shared_ptr<CudaDriver>> CudaDriver::Open(
    const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<CudaDriver> driver(new CudaDriver());
  ASSIGN_OR_RETURN(driver->library_, Library::Open({"libcuda.so.1"}, paths));
  Symbols symbols(*driver->library_);
  CudaDriverFunctions& f = driver->f;
  RHARNESS_CUDA_DRIVER(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  RETURN_IF_ERROR(driver->Start());
  return driver;
}

Status CudaDriver::Start() {
  const CUresult started = f.cuInit(0);
  const Status checked = Check(started, "cuInit");
  if (started == CUDA_ERROR_NO_DEVICE || started == CUDA_ERROR_STUB_LIBRARY) {
    return NotFound(checked.error().message, checked.error().where);
  }
  if (!checked.ok()) return checked;
  RETURN_IF_ERROR(Check(f.cuDriverGetVersion(&version_), "cuDriverGetVersion"));
  int devices = 0;
  RETURN_IF_ERROR(Check(f.cuDeviceGetCount(&devices), "cuDeviceGetCount"));
  if (devices == 0) return NotFound("the driver knows no device", library_->soname());
  return {};
}

Status CudaDriver::Check(CUresult result, std::string_view call) const {
  if (result == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  f.cuGetErrorName(result, &name);
  f.cuGetErrorString(result, &text);
  std::string message =
      fmt::format("{}: {}: {}", call, name != nullptr ? name : std::to_string(result),
                  text != nullptr ? text : "an error that the driver cannot name");
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return IoError(std::move(message), library_->soname());
  return InternalError(std::move(message), library_->soname());
}

}  // namespace rharness
