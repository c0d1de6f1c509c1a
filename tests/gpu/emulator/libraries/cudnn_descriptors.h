// Backend descriptors of the emulated cuDNN: attributes by kind, what each needs, what it becomes.
//
// Role: between the five functions of cudnn_backend.cc and the engines. Attributes that no probe
// sets are not known, and refused as such.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_DESCRIPTORS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_DESCRIPTORS_H_

#include <cudnn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "tests/gpu/emulator/libraries/cudnn_engines.h"

namespace rharness {

struct BackendAttribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::int64_t count = 0;
  std::vector<std::byte> bytes;

  template <class T>
  T As(std::size_t at = 0) const {
    T value{};
    std::copy_n(bytes.data() + at * sizeof(T), sizeof(T), reinterpret_cast<std::byte*>(&value));
    return value;
  }
};

struct BackendConfig {
  std::shared_ptr<const CudnnGraphOperation> operation;
  CudnnEngine engine;
};

struct BackendDescriptor {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  std::map<int, BackendAttribute> attributes;
  // What it is once it is final, or was filled by the library.
  CudnnOperand tensor;
  std::int64_t padding = 0;                              // a convolution's
  std::shared_ptr<const CudnnGraphOperation> operation;  // an operation's and a graph's
  std::vector<BackendConfig> configs;                    // a heuristic's; an engine's, plan's: one
  std::pair<cudnnBackendKnobType_t, std::int64_t> knob;
  int compute = 0;  // a described device's
};

// Null for what is no descriptor, or was destroyed.
BackendDescriptor* FindDescriptor(const void* descriptor);

struct AttributeRule {
  cudnnBackendAttributeType_t type;
  std::int64_t least, most;  // elements
  bool required;
};
// Null: this kind has no such attribute.
const AttributeRule* RuleOf(cudnnBackendDescriptorType_t kind, cudnnBackendAttributeName_t name);
bool IsKind(cudnnBackendDescriptorType_t kind);  // that these libraries know
std::size_t SizeOfAttribute(cudnnBackendAttributeType_t type);

// Checks all that the kind needs, and makes of it what it is.
cudnnStatus_t FinalizeDescriptor(BackendDescriptor* descriptor);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_DESCRIPTORS_H_
