// Wrong descriptors and arguments of the emulated cuDNN: the documented status of each.
#include <array>

#include "probes/gpu/cudnn_run.h"
#include "probes/library/cudnn_legacy.h"
#include "tests/gpu/emulator/libraries/checked.h"

namespace rharness {
namespace {

TEST(EmulatedCudnnArguments, OfDescriptorsHaveTheirStatus) {
  const auto check = [](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const CudnnContext opened, CudnnContext::Open(context));
    const auto& f = opened.cudnn->f;
    const auto expect = [&](std::string_view what, cudnnStatus_t got, cudnnStatus_t wanted) {
      ExpectStatus(what, got, wanted, result);
    };
    cudnnBackendDescriptor_t tensor = nullptr, graph = nullptr;
    expect("kind",
           f.cudnnBackendCreateDescriptor(Numbered<cudnnBackendDescriptorType_t>(999), &tensor),
           CUDNN_STATUS_NOT_SUPPORTED);
    f.cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &tensor);
    f.cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &graph);
    const std::int64_t number = 1, dims[] = {1, 1, 1, 1}, wrong[] = {1, 0, 1, 1};
    const auto type = CUDNN_DATA_FLOAT;
    const auto set = [&](cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t of,
                         std::int64_t count, const void* values) {
      return f.cudnnBackendSetAttribute(tensor, name, of, count, values);
    };
    expect("attribute of another", set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_INT64, 1, &number),
           CUDNN_STATUS_BAD_PARAM);
    expect("type", set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT32, 1, &number),
           CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    expect("count", set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, &number),
           CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
    expect("null", set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr),
           CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    expect("not final",
           f.cudnnBackendSetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &tensor),
           CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    expect("missing", f.cudnnBackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
    set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number);
    set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &number);
    set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, wrong);
    set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, dims);
    expect("a dimension of 0", f.cudnnBackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
    set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, dims);
    expect("fewer dimensions", f.cudnnBackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
    set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    expect("right", f.cudnnBackendFinalize(tensor), CUDNN_STATUS_SUCCESS);
    expect("set when final", set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number),
           CUDNN_STATUS_NOT_INITIALIZED);
    std::int64_t count = 0;
    expect("read when not final",
           f.cudnnBackendGetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
           CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    expect("destroy", f.cudnnBackendDestroyDescriptor(tensor), CUDNN_STATUS_SUCCESS);
    expect("destroyed", f.cudnnBackendDestroyDescriptor(tensor), CUDNN_STATUS_BAD_PARAM);
    expect("no handle", f.cudnnBackendExecute(nullptr, graph, graph), CUDNN_STATUS_NOT_INITIALIZED);
    expect("no plan", f.cudnnBackendExecute(opened.cudnn->handle(), graph, graph),
           CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
    return {};
  };
  ExpectAsDocumented(check);
}

// One convolution, run with operands that are not as they should be.
TEST(EmulatedCudnnArguments, OfAnExecutionAreRefusedOrFaultsOfTheDevice) {
  const auto fails = [](std::string_view wanted, std::size_t offset, bool has_workspace,
                        std::size_t ids) {
    const auto check = [=](const ProbeContext& context, ProbeResult* result) -> Status {
      ASSIGN_OR_RETURN(const CudnnContext opened, CudnnContext::Open(context));
      const ConvolutionShape shape{.n = 1, .c = 8, .k = 8, .side = 4, .filter = 3, .padding = 1};
      ASSIGN_OR_RETURN(const auto graph,
                       CudnnGraph::Create(opened.cudnn, ToCudnn(shape, ConvolutionPass::kForward)));
      ASSIGN_OR_RETURN(const auto ranked, graph->Rank(CUDNN_HEUR_MODE_A, 8));
      ASSIGN_OR_RETURN(const CudnnPlan plan, CudnnPlan::Create(opened.cudnn, ranked[2]));
      ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(opened.device, shape));
      ASSIGN_OR_RETURN(const DeviceBuffer workspace,
                       opened.device->Allocate(static_cast<std::size_t>(plan.workspace_bytes())));
      auto* x = static_cast<std::byte*>(memory.pointer(ConvolutionTensor::kX)) + offset;
      std::vector<CudnnOperand> operands = {{1, x},
                                            {2, memory.pointer(ConvolutionTensor::kW)},
                                            {3, memory.pointer(ConvolutionTensor::kY)}};
      operands.resize(ids);
      Status done = plan.Run(operands, has_workspace ? workspace.pointer() : nullptr);
      if (done.ok()) done = opened.device->Synchronize();
      const std::string text = done.ok() ? "done" : done.error().ToString();
      ExpectStatus(text, text.find(wanted) != std::string::npos, true, result);
      return {};
    };
    ExpectAsDocumented(check);
  };
  fails("done", 0, true, 3);
  fails("BAD_PARAM: a tensor's memory", 4, true, 3);
  fails("out of bounds", 64, true, 3);
  fails("BAD_PARAM", 0, false, 3);
  fails("BAD_PARAM: a tensor without memory", 0, true, 2);
}

TEST(EmulatedCudnnArguments, OfOlderFunctionsHaveTheirStatus) {
  const auto check = [](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const CudnnContext opened, CudnnContext::Open(context));
    const auto& f = opened.cudnn->f;
    const auto expect = [&](std::string_view what, cudnnStatus_t got, cudnnStatus_t wanted) {
      ExpectStatus(what, got, wanted, result);
    };
    const LegacyDims dims = {1, 8, 4, 4};
    ASSIGN_OR_RETURN(const auto x,
                     LegacyTensor(opened.cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNchw, dims));
    expect("dims",
           f.cudnnSetTensor4dDescriptor(x.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1),
           CUDNN_STATUS_BAD_PARAM);
    expect("format",
           f.cudnnSetTensor4dDescriptor(x.get(), CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT, 1, 1,
                                        1, 1),
           CUDNN_STATUS_BAD_PARAM);
    expect("type",
           f.cudnnSetTensor4dDescriptor(x.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8, 1, 1, 1, 1),
           CUDNN_STATUS_NOT_SUPPORTED);
    // A result that x and w do not give.
    const auto unfit =
        LegacyConvolution::Create(opened.cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNchw, dims,
                                  {8, 8, 3, 3}, dims, 0, CUDNN_FMA_MATH);
    const auto ranked = unfit->Rank(ConvolutionPass::kForward);
    expect("shapes", ranked.ok() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM,
           CUDNN_STATUS_BAD_PARAM);
    const auto fit = LegacyConvolution::Create(opened.cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNchw,
                                               dims, {8, 8, 3, 3}, dims, 1, CUDNN_FMA_MATH);
    const auto unknown = fit->WorkspaceBytes(ConvolutionPass::kForward, 5);
    ExpectStatus("algorithm", unknown.ok() ? ErrorCode::kIo : unknown.error().code,
                 ErrorCode::kUnsupported, result);
    ASSIGN_OR_RETURN(const DeviceBuffer memory, opened.device->Allocate(8192));
    void* at = memory.pointer();
    const Status small = fit->Run(ConvolutionPass::kForward, 1, at, at, at, at, 1);
    ExpectStatus("workspace", small.ok() ? ErrorCode::kIo : small.error().code,
                 ErrorCode::kInternal, result);
    const auto pooling = LegacyPooling(opened.cudnn, CUDNN_POOLING_MAX, 3, 1, 2);
    ExpectStatus("stride", pooling.ok() ? ErrorCode::kIo : pooling.error().code,
                 ErrorCode::kUnsupported, result);
    const float one = 1, zero = 0;
    expect(
        "softmax",
        f.cudnnSoftmaxForward(opened.cudnn->handle(), Numbered<cudnnSoftmaxAlgorithm_t>(9),
                              CUDNN_SOFTMAX_MODE_INSTANCE, &one, x.get(), at, &zero, x.get(), at),
        CUDNN_STATUS_BAD_PARAM);
    expect("pooling",
           f.cudnnPoolingForward(opened.cudnn->handle(), nullptr, &one, x.get(), at, &zero, x.get(),
                                 at),
           CUDNN_STATUS_BAD_PARAM);
    return {};
  };
  ExpectAsDocumented(check);
}

}  // namespace
}  // namespace rharness
