// Probe gemm_multistream: the same products on two streams of one handle at once. The library
// promises the same bits only when each stream has a workspace of its own.
#include <fmt/format.h>

#include <set>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kM = 256, kN = 256, kK = 4096;
constexpr int kProducts = 16;  // on each stream
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// Two streams, destroyed with the object.
class TwoStreams {
 public:
  explicit TwoStreams(const CudaDriver& driver) : driver_(driver) {}
  ~TwoStreams() {
    for (const CUstream stream : streams_) {
      if (stream != nullptr) driver_.f.cuStreamDestroy(stream);
    }
  }
  TwoStreams(const TwoStreams&) = delete;
  TwoStreams& operator=(const TwoStreams&) = delete;

  Status Create() {
    for (CUstream& stream : streams_) {
      RETURN_IF_ERROR(driver_.Check(driver_.f.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
                                    "cuStreamCreate"));
    }
    return {};
  }
  CUstream at(int i) const { return streams_[i % 2]; }

 private:
  const CudaDriver& driver_;
  CUstream streams_[2] = {nullptr, nullptr};
};

struct Inputs {
  DeviceBuffer a, b;
  std::vector<DeviceBuffer> c;
  DeviceBuffer workspaces[2];
};

Result<Inputs> Upload(const ProbeContext& context, const Device& device) {
  Inputs all;
  const auto upload = [&](int rows, std::uint64_t seed) {
    const std::size_t size = static_cast<std::size_t>(rows) * kK;
    return device.Upload(EncodeAll(NumberType::kBf16, SeededValues(size, seed)));
  };
  ASSIGN_OR_RETURN(all.a, upload(kM, context.seed));
  ASSIGN_OR_RETURN(all.b, upload(kN, context.seed + 1));
  for (int i = 0; i < 2 * kProducts; ++i) {
    ASSIGN_OR_RETURN(DeviceBuffer c, device.Allocate(sizeof(float) * kM * kN));
    all.c.push_back(std::move(c));
  }
  for (DeviceBuffer& workspace : all.workspaces) {
    ASSIGN_OR_RETURN(workspace, device.Allocate(kWorkspaceBytes));
  }
  // The streams do not wait for the default one, where memory is cleared.
  RETURN_IF_ERROR(device.Synchronize());
  return all;
}

Status Start(const Cublas& blas, const TwoStreams& streams, const Inputs& all, bool own_workspace) {
  const float one = 1.0F, zero = 0.0F;
  for (std::size_t i = 0; i < all.c.size(); ++i) {
    const int stream = static_cast<int>(i % 2);
    // Setting the stream gives up the workspace, so it is set again each time.
    RETURN_IF_ERROR(
        blas.Check(blas.f.cublasSetStream(blas.handle(), streams.at(stream)), "cublasSetStream"));
    if (own_workspace) {
      RETURN_IF_ERROR(
          blas.Check(blas.f.cublasSetWorkspace(blas.handle(), all.workspaces[stream].pointer(),
                                               kWorkspaceBytes),
                     "cublasSetWorkspace"));
    }
    RETURN_IF_ERROR(
        blas.Check(blas.f.cublasGemmEx(blas.handle(), CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &one,
                                       all.a.pointer(), CUDA_R_16BF, kK, all.b.pointer(),
                                       CUDA_R_16BF, kK, &zero, all.c[i].pointer(), CUDA_R_32F, kM,
                                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                   "cublasGemmEx"));
  }
  return {};
}

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  const Device& device = *blas.device;
  TwoStreams streams(device.driver());
  RETURN_IF_ERROR(streams.Create());
  ASSIGN_OR_RETURN(const Inputs all, Upload(context, device));
  ProbeResult result;
  result.parameters.Set("m", kM).Set("n", kN).Set("k", kK).Set("products", 2 * kProducts);
  result.choices["library"] = blas.Versions();
  for (const bool own_workspace : {false, true}) {
    const std::string name = own_workspace ? "a workspace a stream" : "one workspace";
    RETURN_IF_ERROR(Start(*blas.blas, streams, all, own_workspace));
    RETURN_IF_ERROR(device.Synchronize());
    std::set<std::string> seen;
    std::string first;
    for (const DeviceBuffer& c : all.c) {
      ASSIGN_OR_RETURN(const auto bytes, device.Read(c, c.bytes()));
      if (first.empty()) first = HashOf(bytes);
      seen.insert(HashOf(bytes));
    }
    result.bits[name] = first;
    if (seen.size() > 1) result.unstable.push_back(name);
    result.counts["distinct results, " + name] = seen.size();
  }
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "gemm_multistream",
                            .family = "gemm",
                            .summary = "equal products on two streams of one cuBLAS handle",
                            .device = ProbeDevice::kGpu,
                            .run = Run});

}  // namespace
}  // namespace rharness
