// libnvJitLink: found, bound, and one link.
#include "probes/library/nvjitlink.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {
namespace {

// The library has no texts for its results.
std::string_view NameOf(nvJitLinkResult result) {
  switch (result) {
    case NVJITLINK_ERROR_UNRECOGNIZED_OPTION:
      return "NVJITLINK_ERROR_UNRECOGNIZED_OPTION";
    case NVJITLINK_ERROR_MISSING_ARCH:
      return "NVJITLINK_ERROR_MISSING_ARCH";
    case NVJITLINK_ERROR_INVALID_INPUT:
      return "NVJITLINK_ERROR_INVALID_INPUT";
    case NVJITLINK_ERROR_PTX_COMPILE:
      return "NVJITLINK_ERROR_PTX_COMPILE";
    case NVJITLINK_ERROR_NVVM_COMPILE:
      return "NVJITLINK_ERROR_NVVM_COMPILE";
    case NVJITLINK_ERROR_INTERNAL:
      return "NVJITLINK_ERROR_INTERNAL";
    default:
      return "an error of its own";
  }
}

}  // namespace

Result<std::shared_ptr<NvJitLink>> NvJitLink::Open(
    const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<NvJitLink> linker(new NvJitLink());
  ASSIGN_OR_RETURN(linker->library_,
                   Library::Open({"libnvJitLink.so.13", "libnvJitLink.so.12"}, paths));
  Symbols symbols(*linker->library_);
  NvJitLinkFunctions& f = linker->f;
  RHARNESS_NVJITLINK(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  unsigned int major = 0, minor = 0;
  RETURN_IF_ERROR(linker->Check(f.nvJitLinkVersion(&major, &minor), "nvJitLinkVersion"));
  linker->version_ = fmt::format("{}.{}", major, minor);
  return linker;
}

Status NvJitLink::Check(nvJitLinkResult result, std::string_view call) const {
  if (result == NVJITLINK_SUCCESS) return {};
  return InternalError(fmt::format("{}: {} ({})", call, NameOf(result), static_cast<int>(result)),
                       library_->soname());
}

Error NvJitLink::WithLog(nvJitLinkHandle handle, const Error& error) const {
  std::size_t size = 0;
  if (f.nvJitLinkGetErrorLogSize(handle, &size) != NVJITLINK_SUCCESS || size < 2) return error;
  std::string log(size, '\0');
  if (f.nvJitLinkGetErrorLog(handle, log.data()) != NVJITLINK_SUCCESS) return error;
  log.resize(std::min<std::size_t>(log.find('\0'), 2000));
  return InternalError(error.message + ": " + log, error.where);
}

Result<std::string> NvJitLink::Link(const std::string& ptx, const std::string& name,
                                    const std::vector<std::string>& options) const {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  nvJitLinkHandle handle = nullptr;
  RETURN_IF_ERROR(
      Check(f.nvJitLinkCreate(&handle, static_cast<uint32_t>(texts.size()), texts.data()),
            "nvJitLinkCreate"));
  auto cubin = LinkInto(handle, ptx, name);
  if (!cubin.ok()) cubin = WithLog(handle, cubin.error());
  f.nvJitLinkDestroy(&handle);
  return cubin;
}

Result<std::string> NvJitLink::LinkInto(nvJitLinkHandle handle, const std::string& ptx,
                                        const std::string& name) const {
  // The terminating zero is part of PTX input.
  RETURN_IF_ERROR(Check(
      f.nvJitLinkAddData(handle, NVJITLINK_INPUT_PTX, ptx.c_str(), ptx.size() + 1, name.c_str()),
      "nvJitLinkAddData"));
  RETURN_IF_ERROR(Check(f.nvJitLinkComplete(handle), "nvJitLinkComplete"));
  std::size_t size = 0;
  RETURN_IF_ERROR(
      Check(f.nvJitLinkGetLinkedCubinSize(handle, &size), "nvJitLinkGetLinkedCubinSize"));
  std::string cubin(size, '\0');
  RETURN_IF_ERROR(
      Check(f.nvJitLinkGetLinkedCubin(handle, cubin.data()), "nvJitLinkGetLinkedCubin"));
  return cubin;
}

}  // namespace rharness
