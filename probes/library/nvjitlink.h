// nvJitLink, the toolkit's assembler and linker as a library: from PTX to cubin. Needs no device.
#ifndef RHARNESS_PROBES_LIBRARY_NVJITLINK_H_
#define RHARNESS_PROBES_LIBRARY_NVJITLINK_H_

#include <nvJitLink.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_NVJITLINK(X)    \
  X(nvJitLinkVersion)            \
  X(nvJitLinkCreate)             \
  X(nvJitLinkDestroy)            \
  X(nvJitLinkAddData)            \
  X(nvJitLinkComplete)           \
  X(nvJitLinkGetLinkedCubinSize) \
  X(nvJitLinkGetLinkedCubin)     \
  X(nvJitLinkGetErrorLogSize)    \
  X(nvJitLinkGetErrorLog)

namespace rharness {

struct NvJitLinkFunctions {
  RHARNESS_NVJITLINK(RHARNESS_DECLARE)
};

class NvJitLink {
 public:
  // libnvJitLink.so.13 or .12. Errors: not_found, unsupported (a function is missing), io,
  // internal.
  static Result<std::shared_ptr<NvJitLink>> Open(const std::vector<std::filesystem::path>& paths);

  Status Check(nvJitLinkResult result, std::string_view call) const;
  // The cubin of one PTX text, with options such as "-arch=sm_90" and "-O3". Errors: internal with
  // the linker's log.
  Result<std::string> Link(const std::string& ptx, const std::string& name,
                           const std::vector<std::string>& options) const;

  const std::string& version() const { return version_; }  // "13.0"
  const Library& library() const { return *library_; }

  NvJitLinkFunctions f;

 private:
  NvJitLink() = default;
  Result<std::string> LinkInto(nvJitLinkHandle handle, const std::string& ptx,
                               const std::string& name) const;
  Error WithLog(nvJitLinkHandle handle, const Error& error) const;

  std::shared_ptr<Library> library_;
  std::string version_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_NVJITLINK_H_
