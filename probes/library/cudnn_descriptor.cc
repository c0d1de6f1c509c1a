// Backend descriptors: made, set, finalized, read.
#include "probes/library/cudnn_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rharness {
namespace {

// Hostile or broken libraries aside, a list has a few hundred entries at most.
constexpr std::int64_t kMostValues = 4096;

}  // namespace

Result<CudnnDescriptor> CudnnDescriptor::Create(std::shared_ptr<const Cudnn> cudnn,
                                                cudnnBackendDescriptorType_t type,
                                                std::string_view name) {
  CudnnDescriptor made;
  made.cudnn_ = std::move(cudnn);
  made.name_ = name;
  const cudnnStatus_t status = made.cudnn_->f.cudnnBackendCreateDescriptor(type, &made.descriptor_);
  if (status != CUDNN_STATUS_SUCCESS) made.descriptor_ = nullptr;
  RETURN_IF_ERROR(
      made.cudnn_->Check(status, fmt::format("cudnnBackendCreateDescriptor of {}", name)));
  return made;
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) cudnn_->f.cudnnBackendDestroyDescriptor(descriptor_);
}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
  std::swap(cudnn_, other.cudnn_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(name_, other.name_);
  return *this;
}

Status CudnnDescriptor::SetRaw(cudnnBackendAttributeName_t attribute,
                               cudnnBackendAttributeType_t type, std::int64_t count,
                               const void* values) {
  return cudnn_->Check(
      cudnn_->f.cudnnBackendSetAttribute(descriptor_, attribute, type, count, values),
      fmt::format("cudnnBackendSetAttribute {} of {}", static_cast<int>(attribute), name_));
}

Status CudnnDescriptor::SetDescriptor(cudnnBackendAttributeName_t attribute,
                                      const CudnnDescriptor& value) {
  return SetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
}

Status CudnnDescriptor::Finalize() {
  return cudnn_->Check(cudnn_->f.cudnnBackendFinalize(descriptor_),
                       fmt::format("cudnnBackendFinalize of {}", name_));
}

Status CudnnDescriptor::GetRaw(cudnnBackendAttributeName_t attribute,
                               cudnnBackendAttributeType_t type, std::int64_t most,
                               std::int64_t* count, void* values) const {
  return cudnn_->Check(
      cudnn_->f.cudnnBackendGetAttribute(descriptor_, attribute, type, most, count, values),
      fmt::format("cudnnBackendGetAttribute {} of {}", static_cast<int>(attribute), name_));
}

bool CudnnDescriptor::Reports(cudnnBackendAttributeName_t attribute,
                              cudnnBackendAttributeType_t type) const {
  std::int64_t count = 0;
  const cudnnStatus_t status =
      cudnn_->f.cudnnBackendGetAttribute(descriptor_, attribute, type, 0, &count, nullptr);
  return !CudnnSaysNotSupported(status, cudnn_->version()) &&
         !CudnnSaysBadParam(status, cudnn_->version());
}

Result<std::vector<std::int64_t>> CudnnDescriptor::GetInt64(cudnnBackendAttributeName_t attribute,
                                                            std::int64_t most) const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(most));
  std::int64_t count = 0;
  RETURN_IF_ERROR(GetRaw(attribute, CUDNN_TYPE_INT64, most, &count, values.data()));
  values.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
  return values;
}

Result<std::vector<std::int32_t>> CudnnDescriptor::GetEnum(cudnnBackendAttributeName_t attribute,
                                                           cudnnBackendAttributeType_t type,
                                                           std::int64_t most) const {
  std::vector<std::int32_t> values(static_cast<std::size_t>(most));
  std::int64_t count = 0;
  RETURN_IF_ERROR(GetRaw(attribute, type, most, &count, values.data()));
  values.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
  return values;
}

Result<std::int64_t> CudnnDescriptor::CountDescriptors(
    cudnnBackendAttributeName_t attribute) const {
  std::int64_t count = 0;
  RETURN_IF_ERROR(GetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
  return std::clamp<std::int64_t>(count, 0, kMostValues);
}

Result<std::vector<CudnnDescriptor>> CudnnDescriptor::GetDescriptors(
    cudnnBackendAttributeName_t attribute, cudnnBackendDescriptorType_t type, std::string_view name,
    std::int64_t most) const {
  std::vector<CudnnDescriptor> made;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < most; ++i) {
    ASSIGN_OR_RETURN(CudnnDescriptor one, Create(cudnn_, type, name));
    raw.push_back(one.get());
    made.push_back(std::move(one));
  }
  std::int64_t count = 0;
  RETURN_IF_ERROR(GetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, raw.data()));
  // The library fills the first ones; the rest are unused.
  while (static_cast<std::int64_t>(made.size()) > std::max<std::int64_t>(count, 0)) made.pop_back();
  return made;
}

}  // namespace rharness
