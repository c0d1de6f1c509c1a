// libcudnn's five functions of backend descriptors, and their execution.
//
// Statuses: cuDNN API reference, "cudnnBackendSetAttribute" and its kin, and cudnn_graph.h 9.19.
#include <cstring>
#include <set>

#include "tests/gpu/emulator/libraries/cudnn_descriptors.h"
#include "tests/gpu/emulator/libraries/cudnn_handle.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

std::map<const void*, std::unique_ptr<BackendDescriptor>>& Descriptors() {
  static std::map<const void*, std::unique_ptr<BackendDescriptor>> all;
  return all;
}

// Values into what the caller gave, as many as fit; `count` says how many there are.
template <class T>
cudnnStatus_t Give(const std::vector<T>& values, std::int64_t most, std::int64_t* count, void* to) {
  if (count != nullptr) *count = static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size() && static_cast<std::int64_t>(i) < most; ++i) {
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof(T), &values[i], sizeof(T));
  }
  return CUDNN_STATUS_SUCCESS;
}

// Fills descriptors that the caller made.
template <class Fill>
cudnnStatus_t GiveDescriptors(std::size_t there, cudnnBackendDescriptorType_t kind,
                              std::int64_t most, std::int64_t* count, void* to, const Fill& fill) {
  if (count != nullptr) *count = static_cast<std::int64_t>(there);
  auto* const* made = static_cast<cudnnBackendDescriptor_t*>(to);
  for (std::size_t i = 0; i < there && static_cast<std::int64_t>(i) < most; ++i) {
    BackendDescriptor* one = FindDescriptor(made[i]);
    if (one == nullptr || one->type != kind) return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
    fill(i, one);
    one->finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t GetOf(const BackendDescriptor& one, cudnnBackendAttributeName_t name,
                    std::int64_t most, std::int64_t* count, void* to) {
  const auto give_configs = [&](cudnnBackendDescriptorType_t kind) {
    return GiveDescriptors(
        one.configs.size(), kind, most, count, to,
        [&](std::size_t i, BackendDescriptor* made) { made->configs = {one.configs[i]}; });
  };
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return give_configs(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return give_configs(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: {
      const auto& knobs = one.configs[0].engine.knobs;
      return GiveDescriptors(
          knobs.size(), CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, most, count, to,
          [&](std::size_t i, BackendDescriptor* made) { made->knob = knobs[i]; });
    }
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return Give(std::vector{WorkspaceOf(*one.configs[0].operation, one.configs[0].engine)}, most,
                  count, to);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return Give(std::vector{one.configs[0].engine.index}, most, count, to);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return Give(one.configs[0].engine.notes, most, count, to);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      return Give(one.configs[0].engine.behavior, most, count, to);
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
      return Give(std::vector{one.knob.first}, most, count, to);
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
      return Give(std::vector{one.knob.second}, most, count, to);
    default:
      return RefuseCudnn(CUDNN_STATUS_NOT_SUPPORTED, "the emulated cuDNN does not read this");
  }
}

// The memory of every operand, aligned as its tensor says.
cudnnStatus_t PackedMemory(const CudnnGraphOperation& operation, const BackendDescriptor& pack,
                           std::map<std::int64_t, void*>* memory) {
  const BackendAttribute& ids = pack.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const BackendAttribute& pointers = pack.attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (std::size_t i = 0; static_cast<std::int64_t>(i) < ids.count; ++i) {
    (*memory)[ids.As<std::int64_t>(i)] = pointers.As<void*>(i);
  }
  for (const CudnnOperand& operand : operation.operands) {
    const auto found = memory->find(operand.id);
    if (found == memory->end()) {
      return RefuseCudnn(CUDNN_STATUS_BAD_PARAM, "a tensor without memory");
    }
    if (found->second == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    const auto address = reinterpret_cast<std::uint64_t>(found->second);
    if (!operand.by_value && address % static_cast<std::uint64_t>(operand.alignment) != 0) {
      return RefuseCudnn(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "a tensor's memory");
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

BackendDescriptor* FindDescriptor(const void* descriptor) {
  const auto found = Descriptors().find(descriptor);
  return found == Descriptors().end() ? nullptr : found->second.get();
}

}  // namespace rharness

using rharness::FindDescriptor;

extern "C" {
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  ENTER(cudnnBackendCreateDescriptor);
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!rharness::IsKind(type)) return CUDNN_STATUS_NOT_SUPPORTED;
  auto made = std::make_unique<rharness::BackendDescriptor>();
  made->type = type;
  *descriptor = made.get();
  rharness::Descriptors()[*descriptor] = std::move(made);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  ENTER(cudnnBackendDestroyDescriptor);
  return rharness::Descriptors().erase(descriptor) > 0 ? CUDNN_STATUS_SUCCESS
                                                       : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  ENTER(cudnnBackendFinalize);
  rharness::BackendDescriptor* one = FindDescriptor(descriptor);
  if (one == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (one->finalized) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = FinalizeDescriptor(one);
  one->finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  ENTER(cudnnBackendSetAttribute);
  rharness::BackendDescriptor* one = FindDescriptor(descriptor);
  if (one == nullptr || values == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (one->finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  const rharness::AttributeRule* rule = rharness::RuleOf(one->type, name);
  if (rule == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (rule->type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (count < rule->least || count > rule->most) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* inner = FindDescriptor(static_cast<void* const*>(values)[i]);
      if (inner == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      if (!inner->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    }
  }
  rharness::BackendAttribute& attribute = one->attributes[name];
  attribute = {type, count, {}};
  attribute.bytes.resize(static_cast<std::size_t>(count) * rharness::SizeOfAttribute(type));
  std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t most,
                                       std::int64_t* count, void* values) {
  ENTER(cudnnBackendGetAttribute);
  const rharness::BackendDescriptor* one = FindDescriptor(descriptor);
  if (one == nullptr || (most > 0 && values == nullptr)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!one->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const rharness::AttributeRule* rule = rharness::RuleOf(one->type, name);
  if (rule == nullptr || most < 0) return CUDNN_STATUS_BAD_PARAM;
  if (rule->type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  return rharness::GetOf(*one, name, most, count, values);
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ENTER_WITH_DEVICE(cudnnBackendExecute);
  NEED_HANDLE(handle);
  const auto* planned = FindDescriptor(plan);
  const auto* packed = FindDescriptor(pack);
  if (planned == nullptr || packed == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!planned->finalized || !packed->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (planned->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      packed->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  const rharness::BackendConfig& config = planned->configs[0];
  std::map<std::int64_t, void*> memory;
  const cudnnStatus_t status = rharness::PackedMemory(*config.operation, *packed, &memory);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const auto bytes =
      static_cast<std::uint64_t>(rharness::WorkspaceOf(*config.operation, config.engine));
  void* workspace = packed->attributes.at(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).As<void*>();
  if (bytes > 0 && workspace == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (bytes > 0 && !rharness::IsOnDevice(workspace, bytes, handle->device)) {
    rharness::TheMachine().Fault("cudnnBackendExecute: the workspace is too small, or no memory");
    return CUDNN_STATUS_SUCCESS;
  }
  RunEngine(*config.operation, config.engine, memory, handle->device, handle->calls++);
  return CUDNN_STATUS_SUCCESS;
}
}
