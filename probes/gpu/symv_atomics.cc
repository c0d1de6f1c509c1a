// Probe symv_atomics: cuBLAS's symmetric matrix-vector product, whose faster variant adds by
// atomics.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kSize = 2049;

Result<ProbeResult> MeasureSymvAtomics(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  const Device& device = *blas.device;
  const auto n = static_cast<std::size_t>(kSize);
  ASSIGN_OR_RETURN(const DeviceBuffer a, device.Upload(RoundingValues(n * n, context.seed)));
  ASSIGN_OR_RETURN(const DeviceBuffer x, device.Upload(RoundingValues(n, context.seed + 1)));
  ASSIGN_OR_RETURN(const DeviceBuffer y, device.Allocate(n * sizeof(float)));
  ProbeResult result;
  result.parameters.Set("n", kSize).Set("seed", context.seed);
  blas.Describe(&result);
  const Cublas& cublas = *blas.blas;
  for (const bool atomics : {false, true}) {
    RETURN_IF_ERROR(cublas.Check(
        cublas.f.cublasSetAtomicsMode(
            cublas.handle(), atomics ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED),
        "cublasSetAtomicsMode"));
    const auto run = [&]() -> Result<std::vector<std::byte>> {
      const float one = 1.0F / 3.0F, zero = 0.0F;  // a third: products that round
      RETURN_IF_ERROR(
          cublas.Check(cublas.f.cublasSsymv(cublas.handle(), CUBLAS_FILL_MODE_LOWER, kSize, &one,
                                            static_cast<const float*>(a.pointer()), kSize,
                                            static_cast<const float*>(x.pointer()), 1, &zero,
                                            static_cast<float*>(y.pointer()), 1),
                       "cublasSsymv"));
      RETURN_IF_ERROR(device.Synchronize());
      return device.Read(y, n * sizeof(float));
    };
    const auto made = RecordBits(context, atomics ? "atomics allowed" : "no atomics", run, &result);
    if (!made.ok()) return made.error();
  }
  return result;
}

ProbeResult RunSymvAtomics(const ProbeContext& context) {
  return Finish(MeasureSymvAtomics(context));
}

const RegisterProbe kSymvAtomicsProbe({.name = "symv_atomics",
                                       .family = "gemm",
                                       .summary = "cuBLAS symv with atomics and without",
                                       .device = ProbeDevice::kGpu,
                                       .run = RunSymvAtomics});

}  // namespace
}  // namespace rharness
