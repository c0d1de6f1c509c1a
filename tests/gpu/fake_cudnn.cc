// A cuDNN that runs on the host, for tests: graphs of one convolution or layer norm, engines that
// are as they are asked to be, and plans that compute. Kinds: FAKE_full; FAKE_wrong, with an engine
// that computes nonsense; FAKE_eight, which is version 8.9.7 and lacks what came later and what may
// go; FAKE_incomplete, without cudnnBackendExecute; FAKE_unranked, whose heuristics fail;
// FAKE_broken, whose handle cannot be made.
// Written against the documented attributes, and not with the code under test.
#include <cudnn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/fake_convolution.h"

#if defined(FAKE_eight)
#define FAKE_VERSION 8907
#define FAKE_NOT_SUPPORTED 9
#else
#define FAKE_VERSION 91900
#define FAKE_NOT_SUPPORTED 3000
#endif

namespace {

using fake::NumberType;
using fake::Tensor;

constexpr auto kNotSupported = static_cast<cudnnStatus_t>(FAKE_NOT_SUPPORTED);

struct Object {
  cudnnBackendDescriptorType_t type;
  std::map<int, std::vector<char>> values;
  std::int64_t engine = -1;  // of configurations, engines, plans
  std::int64_t knob = 0;     // of knob choices

  template <class T>
  std::vector<T> Get(int attribute) const {
    const auto found = values.find(attribute);
    if (found == values.end()) return {};
    std::vector<T> list(found->second.size() / sizeof(T));
    std::memcpy(list.data(), found->second.data(), list.size() * sizeof(T));
    return list;
  }
  const Object* One(int attribute) const {
    const auto list = Get<const Object*>(attribute);
    return list.empty() ? nullptr : list.front();
  }
};

std::string last_error;
int live = 0;
int executions = 0;

cudnnStatus_t Fail(cudnnStatus_t status, const char* text) {
  last_error = text;
  return status;
}

// Engines: 11 adds in order; 12 adds in an order that changes, and says so; 13 the same, and does
// not say so; 14 is ranked and cannot be run; 15 is a Winograd; 16 adds in order on tensor cores;
// 20 adds backwards; 66 is wrong.
std::vector<std::int64_t> Ranked(int mode) {
  if (mode == CUDNN_HEUR_MODE_FALLBACK) return {11, 20};
#if defined(FAKE_wrong)
  return {11, 66, 12};
#else
  if (mode == CUDNN_HEUR_MODE_A) return {11, 11, 14, 12, 13, 15, 16};
  return {};
#endif
}

std::vector<std::int32_t> NotesOf(std::int64_t engine) {
  if (engine == 12) return {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, 77};
  if (engine == 15) return {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6};
  if (engine == 16) return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  return {};
}

Tensor TensorOf(const Object* described, const Object& pack) {
  Tensor tensor;
  const auto type = described->Get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE).front();
  if (type == CUDNN_DATA_HALF) tensor.type = NumberType::kFp16;
  if (type == CUDNN_DATA_BFLOAT16) tensor.type = NumberType::kBf16;
  tensor.dims = described->Get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = described->Get<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  const auto id = described->Get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID).front();
  const auto ids = pack.Get<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto memory = pack.Get<char*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == id) tensor.memory = memory[i];
  }
  return tensor;
}

float Add(std::vector<float> terms, std::int64_t engine) {
  const bool backwards = engine == 20 || ((engine == 12 || engine == 13) && executions % 2 == 0);
  if (backwards) std::reverse(terms.begin(), terms.end());
  float sum = 0.0F;
  for (const float term : terms) sum += term;
  if (engine == 15) sum += 0.25F;
  return engine == 66 ? sum + 1.0F : sum;
}

void Convolve(const Object& operation, const Object& pack, std::int64_t engine) {
  const bool data = operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const bool filter =
      operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
  const int first = data     ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA
                    : filter ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA
                             : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA;
  const int x_at = data     ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX
                   : filter ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X
                            : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X;
  const int w_at = data     ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W
                   : filter ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW
                            : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W;
  const int y_at = data     ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY
                   : filter ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY
                            : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y;
  const Tensor x = TensorOf(operation.One(x_at), pack), w = TensorOf(operation.One(w_at), pack),
               y = TensorOf(operation.One(y_at), pack);
  // The convolution's descriptor follows alpha and beta in every direction's attributes.
  const std::int64_t padding =
      operation.One(first + 2)->Get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS).front();
  fake::Convolve(x, w, y, padding, data, filter,
                 [engine](const std::vector<float>& terms) { return Add(terms, engine); });
}

void Normalize(const Object& operation, const Object& pack, std::int64_t engine) {
  const Tensor x = TensorOf(operation.One(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC), pack);
  const Tensor mean = TensorOf(operation.One(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC), pack);
  for (std::int64_t row = 0; row < x.dims[0]; ++row) {
    std::vector<float> terms;
    for (std::int64_t c = 0; c < x.dims[1]; ++c) terms.push_back(x.Get(x.At(row, c, 0, 0)));
    mean.Put(mean.At(row, 0, 0, 0),
             static_cast<double>(Add(terms, engine) / static_cast<float>(x.dims[1])));
  }
}

// Fills `into`, which the caller has made, and tells how many there are.
cudnnStatus_t Give(const Object& from, const std::vector<std::int64_t>& engines, std::int64_t asked,
                   std::int64_t* count, void* into) {
  *count = static_cast<std::int64_t>(engines.size());
  if (asked == 0) return CUDNN_STATUS_SUCCESS;
  *count = std::min(asked, *count);
  for (std::int64_t i = 0; i < *count; ++i) {
    Object& given = *static_cast<Object**>(into)[i];
    given.engine = engines[static_cast<std::size_t>(i)];
    // A configuration knows the graph that its heuristic was asked about.
    const auto graph = from.values.find(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    if (graph != from.values.end()) given.values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = graph->second;
  }
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
cudnnStatus_t Answer(const std::vector<T>& values, std::int64_t asked, std::int64_t* count,
                     void* into) {
  *count = static_cast<std::int64_t>(values.size());
  // Whoever asks for none gives no address.
  std::copy_n(values.begin(), std::min(asked, *count), static_cast<T*>(into));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Query(const Object& object, int attribute, std::int64_t asked, std::int64_t* count,
                    void* into) {
  switch (attribute) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return Give(object, Ranked(object.Get<int>(CUDNN_ATTR_ENGINEHEUR_MODE).front()), asked, count,
                  into);
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return Give(object, {object.engine}, asked, count, into);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return Answer<std::int64_t>({object.engine}, asked, count, into);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return Answer(NotesOf(object.engine), asked, count, into);
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      // The split-K knob of 17, and one that no header knows.
      if (object.engine != 12) return Give(object, {}, asked, count, into);
      *count = 2;
      static_cast<Object**>(into)[0]->knob = 17;
      static_cast<Object**>(into)[1]->knob = 99;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
      return Answer<std::int32_t>({static_cast<std::int32_t>(object.knob)}, asked, count, into);
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
      return Answer<std::int64_t>({object.knob == 17 ? 4 : 1}, asked, count, into);
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return Answer<std::int64_t>({4096}, asked, count, into);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
#if !defined(FAKE_eight)
      return Answer<std::int32_t>({CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY}, asked, count, into);
#endif
    default:
      return Fail(kNotSupported, "no such attribute");
  }
}

}  // namespace

extern "C" {
int fake_cudnn_live() { return live; }

size_t cudnnGetVersion() { return FAKE_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
  return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
#if defined(FAKE_broken)
  *handle = nullptr;
  return Fail(CUDNN_STATUS_BAD_PARAM, "the handle\nis broken");
#endif
  *handle = reinterpret_cast<cudnnHandle_t>(&live);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; }

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR) {
    return Fail(kNotSupported, "no attention");
  }
  *descriptor = new Object{.type = type};
  ++live;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Object*>(descriptor);
  --live;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t attribute,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  const bool word = type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_VOID_PTR ||
                    type == CUDNN_TYPE_BACKEND_DESCRIPTOR || type == CUDNN_TYPE_HANDLE;
  const bool byte = type == CUDNN_TYPE_CHAR || type == CUDNN_TYPE_BOOLEAN;
  const auto* bytes = static_cast<const char*>(values);
  static_cast<Object*>(descriptor)
      ->values[attribute]
      .assign(bytes, bytes + count * (word   ? 8
                                      : byte ? 1
                                             : 4));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  auto* object = static_cast<Object*>(descriptor);
  if (object->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    for (const std::int64_t dim : object->Get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)) {
      if (dim < 1) return Fail(CUDNN_STATUS_BAD_PARAM, "dim < 1");
    }
  }
  if (object->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    const auto alpha = object->Get<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
    const auto beta = object->Get<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
    const bool plain = alpha == std::vector<float>{1.0F} && beta == std::vector<float>{0.0F};
    if (!plain) return Fail(CUDNN_STATUS_BAD_PARAM, "not alpha 1 and beta 0");
  }
  if (object->type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    const auto text = object->Get<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
    const std::string json(text.begin(), text.end());
    if (json.find("\"deviceVer\":") == std::string::npos) {
      return Fail(CUDNN_STATUS_BAD_PARAM, "no deviceVer");
    }
  }
#if defined(FAKE_unranked)
  if (object->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    return Fail(CUDNN_STATUS_INTERNAL_ERROR, "no heuristics today");
  }
#endif
  if (object->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return CUDNN_STATUS_SUCCESS;
  object->engine = object->One(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine;
  return object->engine == 14 ? Fail(kNotSupported, "not here") : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t attribute,
                                       cudnnBackendAttributeType_t, int64_t asked, int64_t* count,
                                       void* into) {
  return Query(*static_cast<const Object*>(descriptor), attribute, asked, count, into);
}

#if defined(FAKE_incomplete)
#define cudnnBackendExecute cudnnBackendExecuteUnderAnotherName
#endif
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ++executions;
  const auto& planned = *static_cast<const Object*>(plan);
  const auto* graph =
      planned.One(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->One(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  const Object& operation = *graph->One(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Object& variant = *static_cast<const Object*>(pack);
  if (operation.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) {
    Normalize(operation, variant, planned.engine);
  } else {
    Convolve(operation, variant, planned.engine);
  }
  return CUDNN_STATUS_SUCCESS;
}

#if !defined(FAKE_eight)
void cudnnGetLastErrorString(char* message, size_t size) {
  std::strncpy(message, last_error.c_str(), size);
}
#endif
}
