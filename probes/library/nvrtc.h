// NVRTC, the compiler of CUDA C++ at run time: from source to PTX or cubin. Needs no device.
#ifndef RHARNESS_PROBES_LIBRARY_NVRTC_H_
#define RHARNESS_PROBES_LIBRARY_NVRTC_H_

#include <nvrtc.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_NVRTC(X)      \
  X(nvrtcGetErrorString)       \
  X(nvrtcVersion)              \
  X(nvrtcGetNumSupportedArchs) \
  X(nvrtcGetSupportedArchs)    \
  X(nvrtcCreateProgram)        \
  X(nvrtcDestroyProgram)       \
  X(nvrtcCompileProgram)       \
  X(nvrtcGetPTXSize)           \
  X(nvrtcGetPTX)               \
  X(nvrtcGetProgramLogSize)    \
  X(nvrtcGetProgramLog)

namespace rharness {

struct NvrtcFunctions {
  RHARNESS_NVRTC(RHARNESS_DECLARE)
};

class Nvrtc {
 public:
  // libnvrtc.so.13 or .12. Errors: not_found, unsupported (a function is missing), io, internal.
  static Result<std::shared_ptr<Nvrtc>> Open(const std::vector<std::filesystem::path>& paths);

  Status Check(nvrtcResult result, std::string_view call) const;
  // The PTX text of one source. Errors: internal with the compiler's log.
  Result<std::string> Compile(const std::string& source, const std::string& name,
                              const std::vector<std::string>& options) const;

  const std::string& version() const { return version_; }   // "13.0"
  const std::vector<int>& archs() const { return archs_; }  // 75, 80, ...; rising
  const Library& library() const { return *library_; }

  NvrtcFunctions f;

 private:
  Nvrtc() = default;
  Status Start();
  Result<std::string> CompileProgram(nvrtcProgram program,
                                     const std::vector<std::string>& options) const;

  std::shared_ptr<Library> library_;
  std::string version_;
  std::vector<int> archs_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_NVRTC_H_
