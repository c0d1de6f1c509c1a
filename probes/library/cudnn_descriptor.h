// A backend descriptor of cuDNN: the building block of graphs, heuristics, engines and plans.
//
// Role: ownership, and attributes by their types, with errors that name descriptor and attribute.
#ifndef RHARNESS_PROBES_LIBRARY_CUDNN_DESCRIPTOR_H_
#define RHARNESS_PROBES_LIBRARY_CUDNN_DESCRIPTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/cudnn.h"

namespace rharness {

// The attribute type that goes with a C++ type; a type that has none does not compile.
template <cudnnBackendAttributeType_t kType>
struct CudnnAttributeType {
  static constexpr cudnnBackendAttributeType_t value = kType;
};
template <class T>
struct CudnnTypeOf;
template <>
struct CudnnTypeOf<std::int64_t> : CudnnAttributeType<CUDNN_TYPE_INT64> {};
template <>
struct CudnnTypeOf<std::int32_t> : CudnnAttributeType<CUDNN_TYPE_INT32> {};
template <>
struct CudnnTypeOf<char> : CudnnAttributeType<CUDNN_TYPE_CHAR> {};
template <>
struct CudnnTypeOf<float> : CudnnAttributeType<CUDNN_TYPE_FLOAT> {};
template <>
struct CudnnTypeOf<bool> : CudnnAttributeType<CUDNN_TYPE_BOOLEAN> {};
template <>
struct CudnnTypeOf<cudnnHandle_t> : CudnnAttributeType<CUDNN_TYPE_HANDLE> {};
template <>
struct CudnnTypeOf<void*> : CudnnAttributeType<CUDNN_TYPE_VOID_PTR> {};
template <>
struct CudnnTypeOf<cudnnDataType_t> : CudnnAttributeType<CUDNN_TYPE_DATA_TYPE> {};
template <>
struct CudnnTypeOf<cudnnConvolutionMode_t> : CudnnAttributeType<CUDNN_TYPE_CONVOLUTION_MODE> {};
template <>
struct CudnnTypeOf<cudnnBackendHeurMode_t> : CudnnAttributeType<CUDNN_TYPE_HEUR_MODE> {};
template <>
struct CudnnTypeOf<cudnnBackendNormMode_t> : CudnnAttributeType<CUDNN_TYPE_NORM_MODE> {};
template <>
struct CudnnTypeOf<cudnnBackendNormFwdPhase_t> : CudnnAttributeType<CUDNN_TYPE_NORM_FWD_PHASE> {};

class CudnnDescriptor {
 public:
  // `name` appears in errors. Errors: unsupported (a kind that this cuDNN does not know).
  static Result<CudnnDescriptor> Create(std::shared_ptr<const Cudnn> cudnn,
                                        cudnnBackendDescriptorType_t type, std::string_view name);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept { *this = std::move(other); }
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;

  template <class T>
  Status Set(cudnnBackendAttributeName_t attribute, T value) {
    return SetRaw(attribute, CudnnTypeOf<T>::value, 1, &value);
  }
  template <class T>
  Status SetAll(cudnnBackendAttributeName_t attribute, const std::vector<T>& values) {
    return SetRaw(attribute, CudnnTypeOf<T>::value, static_cast<std::int64_t>(values.size()),
                  values.data());
  }
  // A descriptor that this one refers to; it must be finalized, and outlive this one.
  Status SetDescriptor(cudnnBackendAttributeName_t attribute, const CudnnDescriptor& value);
  Status Finalize();

  // False if the library says that it does not know this attribute, or not of this descriptor.
  bool Reports(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type) const;
  // At most `most` values, of 8 or 4 bytes as the attribute's type has. Names of enumerations are
  // read as numbers, since a newer library has more of them.
  Result<std::vector<std::int64_t>> GetInt64(cudnnBackendAttributeName_t attribute,
                                             std::int64_t most) const;
  Result<std::vector<std::int32_t>> GetEnum(cudnnBackendAttributeName_t attribute,
                                            cudnnBackendAttributeType_t type,
                                            std::int64_t most) const;
  // How many descriptors an attribute holds, at most.
  Result<std::int64_t> CountDescriptors(cudnnBackendAttributeName_t attribute) const;
  // Created here as `type`, filled by the library; at most `most`.
  Result<std::vector<CudnnDescriptor>> GetDescriptors(cudnnBackendAttributeName_t attribute,
                                                      cudnnBackendDescriptorType_t type,
                                                      std::string_view name,
                                                      std::int64_t most) const;

  cudnnBackendDescriptor_t get() const { return descriptor_; }
  const std::shared_ptr<const Cudnn>& cudnn() const { return cudnn_; }

 private:
  CudnnDescriptor() = default;
  Status SetRaw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                std::int64_t count, const void* values);
  Status GetRaw(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                std::int64_t most, std::int64_t* count, void* values) const;

  std::shared_ptr<const Cudnn> cudnn_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  std::string name_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUDNN_DESCRIPTOR_H_
