// libcudnn: found, bound, one handle.
#include "probes/library/cudnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

// In the order in which they need each other; of cuDNN 9, then of 8.
constexpr std::string_view kParts[] = {
    "libcudnn_graph",     "libcudnn_ops",       "libcudnn_engines_precompiled",
    "libcudnn_cnn",       "libcudnn_heuristic", "libcudnn_engines_runtime_compiled",
    "libcudnn_adv",       "libcudnn_ops_infer", "libcudnn_ops_train",
    "libcudnn_cnn_infer", "libcudnn_cnn_train", "libcudnn_adv_infer",
    "libcudnn_adv_train"};

// Of cuDNN 8: CUDNN_STATUS_ARCH_MISMATCH, NOT_SUPPORTED, RUNTIME_PREREQUISITE_MISSING.
constexpr std::array<int, 3> kNotSupported8 = {6, 9, 11};

}  // namespace

std::string CudnnVersionText(std::uint64_t version) {
  const std::uint64_t step = version >= 90000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", version / step, version % step / 100, version % 100);
}

bool CudnnSaysNotSupported(cudnnStatus_t status, std::uint64_t version) {
  const int code = static_cast<int>(status);
  if (version >= 90000) return code >= 3000 && code < 4000;
  return std::ranges::count(kNotSupported8, code) > 0;
}

bool CudnnSaysBadParam(cudnnStatus_t status, std::uint64_t version) {
  const int code = static_cast<int>(status);
  return version >= 90000 ? code >= 2000 && code < 3000 : code == 3;
}

Result<std::shared_ptr<Cudnn>> Cudnn::Load(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<Cudnn> cudnn(new Cudnn());
  cudnn->paths_ = paths;
  ASSIGN_OR_RETURN(cudnn->library_, Library::Open({"libcudnn.so.9", "libcudnn.so.8"}, paths));
  Symbols symbols(*cudnn->library_);
  CudnnFunctions& f = cudnn->f;
  RHARNESS_CUDNN(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  Symbols optional(*cudnn->library_);
#define RHARNESS_BIND_OPTIONAL(name) optional.Bind(RHARNESS_SYMBOL_TEXT(name), &f.name);
  RHARNESS_CUDNN_OPTIONAL(RHARNESS_BIND_OPTIONAL)
#undef RHARNESS_BIND_OPTIONAL
  return cudnn;
}

Result<std::shared_ptr<Cudnn>> Cudnn::Open(const std::vector<std::filesystem::path>& paths) {
  ASSIGN_OR_RETURN(std::shared_ptr<Cudnn> cudnn, Load(paths));
  RETURN_IF_ERROR(cudnn->Check(cudnn->f.cudnnCreate(&cudnn->handle_), "cudnnCreate"));
  return cudnn;
}

Cudnn::~Cudnn() {
  if (handle_ != nullptr) f.cudnnDestroy(handle_);
}

Status Cudnn::Check(cudnnStatus_t status, std::string_view call) const {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  std::string text = fmt::format("{}: {}", call, OrUnknown(f.cudnnGetErrorString(status)));
  if (f.cudnnGetLastErrorString != nullptr) {
    std::array<char, 1024> last{};
    f.cudnnGetLastErrorString(last.data(), last.size() - 1);
    std::string said(last.data());
    std::ranges::replace(said, '\n', ' ');
    if (!said.empty()) text += ": " + said;
  }
  return CudnnSaysNotSupported(status, version()) ? Unsupported(text, library_->soname())
                                                  : InternalError(text, library_->soname());
}

Status Cudnn::Need(const std::map<std::string_view, bool>& present) const {
  std::string missing;
  for (const auto& [name, there] : present) {
    if (!there) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (missing.empty()) return {};
  return Unsupported("the library lacks " + missing, library_->path().filename().string());
}

std::string Cudnn::VersionText() const { return CudnnVersionText(version()); }

std::map<std::string, Json> Cudnn::Describe() const {
  return {{library_->soname(), DescribeLibrary(*library_, VersionText())}};
}

std::map<std::string, Json> Cudnn::DescribeParts() const {
  std::map<std::string, Json> described = Describe();
  std::vector<std::filesystem::path> paths = paths_;
  // Where cuDNN itself looks first.
  paths.push_back(library_->path().parent_path());
  const auto add = [&](const std::vector<std::string>& sonames, const std::string& version) {
    const auto part = Library::Open(sonames, paths);
    if (part.ok()) described.emplace((*part)->soname(), DescribeLibrary(**part, version));
  };
  const std::string suffix = library_->soname().substr(library_->soname().rfind(".so"));
  for (const std::string_view part : kParts) add({std::string(part) + suffix}, VersionText());
  add({"libcublasLt.so.13", "libcublasLt.so.12"}, {});
  add({"libnvrtc.so.13", "libnvrtc.so.12"}, {});
  return described;
}

}  // namespace rharness
