// libnvrtc: found, bound, and one compilation.
#include "probes/library/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/library/version_text.h"

namespace rharness {

Result<std::shared_ptr<Nvrtc>> Nvrtc::Open(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<Nvrtc> nvrtc(new Nvrtc());
  ASSIGN_OR_RETURN(nvrtc->library_, Library::Open({"libnvrtc.so.13", "libnvrtc.so.12"}, paths));
  Symbols symbols(*nvrtc->library_);
  NvrtcFunctions& f = nvrtc->f;
  RHARNESS_NVRTC(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  RETURN_IF_ERROR(nvrtc->Start());
  return nvrtc;
}

Status Nvrtc::Start() {
  int major = 0, minor = 0, count = 0;
  RETURN_IF_ERROR(Check(f.nvrtcVersion(&major, &minor), "nvrtcVersion"));
  version_ = fmt::format("{}.{}", major, minor);
  RETURN_IF_ERROR(Check(f.nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs"));
  if (count < 0 || count > 1000) {
    return InternalError(fmt::format("{} supported architectures; expected 0 to 1000", count),
                         library_->soname());
  }
  archs_.resize(static_cast<std::size_t>(count));
  RETURN_IF_ERROR(Check(f.nvrtcGetSupportedArchs(archs_.data()), "nvrtcGetSupportedArchs"));
  std::ranges::sort(archs_);
  return {};
}

Status Nvrtc::Check(nvrtcResult result, std::string_view call) const {
  if (result == NVRTC_SUCCESS) return {};
  const char* text = f.nvrtcGetErrorString(result);
  return InternalError(fmt::format("{}: {}", call, OrUnknown(text)), library_->soname());
}

Result<std::string> Nvrtc::Compile(const std::string& source, const std::string& name,
                                   const std::vector<std::string>& options) const {
  nvrtcProgram program = nullptr;
  RETURN_IF_ERROR(
      Check(f.nvrtcCreateProgram(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr),
            "nvrtcCreateProgram"));
  auto ptx = CompileProgram(program, options);
  f.nvrtcDestroyProgram(&program);
  return ptx;
}

Result<std::string> Nvrtc::CompileProgram(nvrtcProgram program,
                                          const std::vector<std::string>& options) const {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const nvrtcResult compiled =
      f.nvrtcCompileProgram(program, static_cast<int>(texts.size()), texts.data());
  if (compiled != NVRTC_SUCCESS) {
    std::size_t size = 0;
    std::string log;
    if (f.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      f.nvrtcGetProgramLog(program, log.data());
      log.resize(std::min<std::size_t>(size - 1, 2000));
    }
    const Status checked = Check(compiled, "nvrtcCompileProgram");
    return InternalError(checked.error().message + ": " + log, checked.error().where);
  }
  std::size_t size = 0;
  RETURN_IF_ERROR(Check(f.nvrtcGetPTXSize(program, &size), "nvrtcGetPTXSize"));
  std::string ptx(size, '\0');
  RETURN_IF_ERROR(Check(f.nvrtcGetPTX(program, ptx.data()), "nvrtcGetPTX"));
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

}  // namespace rharness
