// libnccl.so.2: found and bound.
#include "probes/library/nccl.h"

#include <fmt/format.h>

#include "probes/library/version_text.h"

namespace rharness {

Result<std::shared_ptr<Nccl>> Nccl::Open(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<Nccl> nccl(new Nccl());
  ASSIGN_OR_RETURN(nccl->library_, Library::Open({"libnccl.so.2"}, paths));
  const Library& library = *nccl->library_;
  Symbols symbols(library);
  NcclFunctions& f = nccl->f;
  RHARNESS_NCCL(RHARNESS_BIND)
  RETURN_IF_ERROR(symbols.Check());
  f.ncclGetLastError = library.Get<const char*(ncclComm_t)>("ncclGetLastError");
  f.ncclCommSplit =
      library.Get<ncclResult_t(ncclComm_t, int, int, ncclComm_t*, void*)>("ncclCommSplit");
  RETURN_IF_ERROR(nccl->Check(f.ncclGetVersion(&nccl->version_), "ncclGetVersion"));
  return nccl;
}

Status Nccl::Check(ncclResult_t result, std::string_view call) const {
  if (result == ncclSuccess) return {};
  const char* text = f.ncclGetErrorString(result);
  // The last error is the library's, not a communicator's: the argument is not looked at.
  const char* last = f.ncclGetLastError != nullptr ? f.ncclGetLastError(nullptr) : nullptr;
  return InternalError(
      fmt::format("{}: {}{}{}", call, OrUnknown(text), last != nullptr && *last != '\0' ? ": " : "",
                  last != nullptr ? last : ""),
      library_->soname());
}

std::string Nccl::VersionText() const { return NcclVersionText(version_); }

}  // namespace rharness
