// Probe gemm_multistream: the same products on two streams of one handle at once. The library
// promises the same bits only when each stream has a workspace of its own, or when
// CUBLAS_WORKSPACE_CONFIG names one of two settings. It reads the variable when a handle is made,
// so each setting runs in a process of its own. Source: cuBLAS documentation, "Results
// Reproducibility".
#include <optional>
#include <utility>

#include "probes/gpu/equal_sets.h"
#include "probes/gpu/forked.h"
#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kM = 256, kN = 256, kK = 4096;
constexpr int kProducts = 16;  // on each stream
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// Two streams, destroyed with the object; the handle has the default one again by then, since it
// waits for its stream when it ends.
class TwoStreams {
 public:
  explicit TwoStreams(const BlasContext& blas)
      : driver_(blas.device->driver()), blas_(*blas.blas) {}
  ~TwoStreams() {
    blas_.f.cublasSetStream(blas_.handle(), nullptr);
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
  const Cublas& blas_;
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
    return device.Upload(EncodeAll(NumberType::kBf16, RoundingValues(size, seed)));
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
  // The streams do not wait for the default one, which clears memory.
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

// The hash of every product, of all started at once.
Result<std::vector<std::string>> Multiply(const BlasContext& blas, const TwoStreams& streams,
                                          const Inputs& all, bool own_workspace) {
  const Device& device = *blas.device;
  RETURN_IF_ERROR(Start(*blas.blas, streams, all, own_workspace));
  RETURN_IF_ERROR(device.Synchronize());
  std::vector<std::string> hashes;
  for (const DeviceBuffer& c : all.c) {
    ASSIGN_OR_RETURN(const auto bytes, device.Read(c, c.bytes()));
    hashes.push_back(HashOf(bytes));
  }
  return hashes;
}

Result<ProbeResult> MeasureSetting(const ProbeContext& context, const std::string& setting) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  TwoStreams streams(blas);
  RETURN_IF_ERROR(streams.Create());
  ASSIGN_OR_RETURN(const Inputs all, Upload(context, *blas.device));
  ProbeResult result;
  blas.Describe(&result);
  for (const bool own_workspace : {false, true}) {
    const std::string name =
        setting + (own_workspace ? ", a workspace a stream" : ", one workspace");
    ASSIGN_OR_RETURN(const auto hashes, Multiply(blas, streams, all, own_workspace));
    const EqualSets sets = GroupEqual(hashes);
    result.bits[name] = hashes.front();
    result.choices[name] = Json::MakeObject().Set("equal_products", sets.text);
    result.counts["distinct results, " + name] = sets.count;
    bool stable = sets.count == 1;
    // A race is lost only now and then.
    for (int repeat = 1; repeat < context.repeats && stable; ++repeat) {
      ASSIGN_OR_RETURN(const auto again, Multiply(blas, streams, all, own_workspace));
      stable = again == hashes;
    }
    if (!stable) result.unstable.push_back(name);
  }
  return result;
}

Result<ProbeResult> MeasureGemmMultistream(const ProbeContext& context) {
  ProbeResult result;
  result.parameters.Set("m", kM).Set("n", kN).Set("k", kK).Set("products", 2 * kProducts);
  const std::pair<std::string, std::optional<std::string>> settings[] = {
      {"no setting", {}}, {":4096:8", ":4096:8"}, {":16:8", ":16:8"}};
  for (const auto& [name, value] : settings) {
    ASSIGN_OR_RETURN(ProbeResult part, RunForked({{"CUBLAS_WORKSPACE_CONFIG", value}}, [&] {
                       return Finish(MeasureSetting(context, name));
                     }));
    if (!AddPart(name, std::move(part), &result)) return result;
  }
  return result;
}

ProbeResult RunGemmMultistream(const ProbeContext& context) {
  return Finish(MeasureGemmMultistream(context));
}

const RegisterProbe kGemmMultistreamProbe(
    {.name = "gemm_multistream",
     .family = "gemm",
     .summary = "equal products on two streams of one cuBLAS handle",
     .device = ProbeDevice::kGpu,
     .run = RunGemmMultistream,
     .limit = std::chrono::seconds(180)});

}  // namespace
}  // namespace rharness
