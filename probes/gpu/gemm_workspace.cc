// Probe gemm_workspace: cuBLASLt's choices and results for different workspaces and alignments of
// the matrices. Both differ between programs that otherwise run the same product.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kWorkspaces[] = {0, std::size_t{1} << 20, std::size_t{4} << 20,
                                       std::size_t{32} << 20};
constexpr std::uint32_t kAlignments[] = {256, 16, 8, 4};

struct Matrices {
  DeviceBuffer a, b, c, workspace;
};

Result<Matrices> Upload(const ProbeContext& context, const Device& device,
                        const DeviceGemmShape& shape) {
  Matrices all;
  ASSIGN_OR_RETURN(
      all.a, device.Upload(EncodeAll(shape.input, RoundingValues(shape.a_size(), context.seed))));
  ASSIGN_OR_RETURN(all.b, device.Upload(EncodeAll(
                              shape.input, RoundingValues(shape.b_size(), context.seed + 1))));
  ASSIGN_OR_RETURN(all.c, device.Allocate(shape.c_size() * BytesOf(shape.output)));
  ASSIGN_OR_RETURN(all.workspace, device.Allocate(kWorkspaces[3]));
  return all;
}

Status RecordWorkspace(const ProbeContext& context, const BlasContext& blas,
                       const LtProduct& product, const DeviceGemmShape& shape, const Matrices& all,
                       const LtLimits& limits, const std::string& name, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto found, product.Heuristic(limits, 1));
  if (found.empty()) {
    result->notes.push_back(name + ": no algorithm");
    return {};
  }
  ASSIGN_OR_RETURN(result->choices[name], product.Describe(found[0].algo));
  const auto run = [&]() -> Result<std::vector<std::byte>> {
    RETURN_IF_ERROR(product.Run(found[0].algo, all.a.pointer(), all.b.pointer(), all.c.pointer(),
                                all.c.pointer(), 0.0F, all.workspace.pointer(),
                                limits.workspace_bytes));
    RETURN_IF_ERROR(blas.device->Synchronize());
    return blas.device->Read(all.c, shape.c_size() * BytesOf(shape.output));
  };
  const auto made = RecordBits(context, name, run, result);
  return made.ok() ? Status() : made.error();
}

Status RecordWorkspaces(const ProbeContext& context, const BlasContext& blas,
                        const DeviceGemmShape& shape, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto product, LtProduct::Create(blas.lt, ToLtShape(shape)));
  ASSIGN_OR_RETURN(const Matrices all, Upload(context, *blas.device, shape));
  for (const std::size_t workspace : kWorkspaces) {
    for (const std::uint32_t alignment : kAlignments) {
      const std::string name =
          fmt::format("{} {} workspace {} MiB alignment {}", NumberTypeName(shape.input),
                      shape.Name(), workspace >> 20, alignment);
      NoteUnsupported(RecordWorkspace(context, blas, *product, shape, all, {workspace, alignment},
                                      name, result),
                      name, result);
    }
  }
  return {};
}

Result<ProbeResult> MeasureGemmWorkspace(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  result.parameters.Set("layout", "TN").Set("seed", context.seed);
  blas.Describe(&result);
  using T = NumberType;
  for (const DeviceGemmShape& shape : {DeviceGemmShape{16, 16, 4096, T::kBf16, T::kBf16},
                                       DeviceGemmShape{256, 256, 1024, T::kBf16, T::kBf16},
                                       DeviceGemmShape{16, 16, 4096, T::kFp32, T::kFp32}}) {
    const std::string name = fmt::format("{} {}", NumberTypeName(shape.input), shape.Name());
    NoteUnsupported(RecordWorkspaces(context, blas, shape, &result), name, &result);
  }
  return result;
}

ProbeResult RunGemmWorkspace(const ProbeContext& context) {
  return Finish(MeasureGemmWorkspace(context));
}

const RegisterProbe kGemmWorkspaceProbe(
    {.name = "gemm_workspace",
     .family = "gemm",
     .summary = "cuBLASLt's choice and bits by workspace and alignment",
     .device = ProbeDevice::kGpu,
     .run = RunGemmWorkspace});

}  // namespace
}  // namespace rharness
