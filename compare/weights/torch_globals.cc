// The table of PyTorch's globals.
#include "compare/weights/torch_globals.h"

#include <array>

namespace rharness {
namespace {

using Kind = TorchGlobalKind;

constexpr auto kGlobals = std::to_array<TorchGlobal>({
    {"collections OrderedDict", Kind::kOrderedDict},
    {"torch._utils _rebuild_tensor", Kind::kTensor},
    {"torch._utils _rebuild_tensor_v2", Kind::kTensorV2},
    {"torch._utils _rebuild_tensor_v3", Kind::kTensorV3},
    {"torch._tensor _rebuild_from_type_v2", Kind::kTensorOfType},
    {"torch._utils _rebuild_parameter", Kind::kParameter},
    {"torch._utils _rebuild_parameter_with_state", Kind::kParameter},
    {"torch Tensor", Kind::kTensorClass},
    {"torch.nn.parameter Parameter", Kind::kTensorClass},
    {"torch.autograd.variable Variable", Kind::kTensorClass},

    {"torch._utils _rebuild_qtensor", Kind::kQuantised},
    {"torch._utils _rebuild_sparse_tensor", Kind::kComposed},
    {"torch._utils _rebuild_sparse_csr_tensor", Kind::kComposed},
    {"torch._utils _rebuild_nested_tensor", Kind::kComposed},
    {"torch._utils _rebuild_meta_tensor_no_storage", Kind::kUnreadTensor},
    {"torch._utils _rebuild_wrapper_subclass", Kind::kUnreadTensor},
    {"torch._utils _rebuild_device_tensor_from_numpy", Kind::kUnreadTensor},
    {"torch._utils _rebuild_device_tensor_from_cpu_tensor", Kind::kUnreadTensor},
    {"torch._utils _rebuild_xla_tensor", Kind::kUnreadTensor},

    {"torch DoubleStorage", Kind::kStorage, DType::kF64},
    {"torch FloatStorage", Kind::kStorage, DType::kF32},
    {"torch HalfStorage", Kind::kStorage, DType::kF16},
    {"torch BFloat16Storage", Kind::kStorage, DType::kBF16},
    {"torch LongStorage", Kind::kStorage, DType::kI64},
    {"torch IntStorage", Kind::kStorage, DType::kI32},
    {"torch ShortStorage", Kind::kStorage, DType::kI16},
    {"torch CharStorage", Kind::kStorage, DType::kI8},
    {"torch ByteStorage", Kind::kStorage, DType::kU8},
    {"torch BoolStorage", Kind::kStorage, DType::kBool},
    {"torch ComplexFloatStorage", Kind::kStorage, DType::kC64},
    {"torch ComplexDoubleStorage", Kind::kStorage, DType::kC128},
    {"torch.storage UntypedStorage", Kind::kUntypedStorage},
    {"torch.storage _UntypedStorage", Kind::kUntypedStorage},
    {"torch UntypedStorage", Kind::kUntypedStorage},
    {"torch QUInt8Storage", Kind::kQuantisedStorage, DType::kU8},
    {"torch QInt8Storage", Kind::kQuantisedStorage, DType::kI8},
    {"torch QInt32Storage", Kind::kQuantisedStorage, DType::kI32},
    {"torch QUInt4x2Storage", Kind::kUnreadStorage},
    {"torch QUInt2x4Storage", Kind::kUnreadStorage},
    {"torch.storage TypedStorage", Kind::kUnreadStorage},
    {"torch.storage _TypedStorage", Kind::kUnreadStorage},

    {"torch float64", Kind::kDType, DType::kF64},
    {"torch float32", Kind::kDType, DType::kF32},
    {"torch float16", Kind::kDType, DType::kF16},
    {"torch bfloat16", Kind::kDType, DType::kBF16},
    {"torch float8_e4m3fn", Kind::kDType, DType::kF8E4M3},
    {"torch float8_e5m2", Kind::kDType, DType::kF8E5M2},
    {"torch float8_e4m3fnuz", Kind::kDType, DType::kF8E4M3Fnuz},
    {"torch float8_e5m2fnuz", Kind::kDType, DType::kF8E5M2Fnuz},
    {"torch float8_e8m0fnu", Kind::kDType, DType::kF8E8M0},
    {"torch int64", Kind::kDType, DType::kI64},
    {"torch int32", Kind::kDType, DType::kI32},
    {"torch int16", Kind::kDType, DType::kI16},
    {"torch int8", Kind::kDType, DType::kI8},
    {"torch uint64", Kind::kDType, DType::kU64},
    {"torch uint32", Kind::kDType, DType::kU32},
    {"torch uint16", Kind::kDType, DType::kU16},
    {"torch uint8", Kind::kDType, DType::kU8},
    {"torch bool", Kind::kDType, DType::kBool},
    {"torch complex64", Kind::kDType, DType::kC64},
    {"torch complex128", Kind::kDType, DType::kC128},
    {"torch complex32", Kind::kUnreadDType},
    {"torch float4_e2m1fn_x2", Kind::kUnreadDType},
    {"torch quint8", Kind::kUnreadDType},
    {"torch qint8", Kind::kUnreadDType},
    {"torch qint32", Kind::kUnreadDType},
    {"torch quint4x2", Kind::kUnreadDType},
    {"torch quint2x4", Kind::kUnreadDType},

    {"torch Size", Kind::kPlain},
    {"torch device", Kind::kPlain},
    {"torch.torch_version TorchVersion", Kind::kPlain},
    {"torch.serialization _get_layout", Kind::kPlain},
    {"torch per_tensor_affine", Kind::kPlain},
    {"torch per_channel_affine", Kind::kPlain},
    {"torch per_channel_affine_float_qparams", Kind::kPlain},
    {"collections Counter", Kind::kPlain},
    {"_codecs encode", Kind::kPlain},
    {"builtins set", Kind::kPlain},
    {"builtins frozenset", Kind::kPlain},
    {"builtins bytearray", Kind::kPlain},
    {"builtins complex", Kind::kPlain},
    {"__builtin__ set", Kind::kPlain},
    {"__builtin__ frozenset", Kind::kPlain},
    {"__builtin__ bytearray", Kind::kPlain},
    {"__builtin__ complex", Kind::kPlain},
});

constexpr auto kNames = [] {
  std::array<std::string_view, kGlobals.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kGlobals[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> TorchGlobalNames() { return kNames; }

const TorchGlobal& TorchGlobalAt(std::size_t index) {
  static constexpr TorchGlobal kForeign = {"", Kind::kForeign};
  return index < kGlobals.size() ? kGlobals[index] : kForeign;
}

}  // namespace rharness
