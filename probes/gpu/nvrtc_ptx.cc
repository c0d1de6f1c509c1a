// Probe nvrtc_ptx: the PTX that NVRTC makes of our sources. Needs no device.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/gpu/kernels.h"
#include "probes/gpu/probe_tools.h"
#include "probes/library/nvrtc.h"

namespace rharness {
namespace {

struct Variant {
  int compute;
  std::string_view name;    // of the case, after the architecture
  std::string_view option;  // beside the architecture; may be empty
};

constexpr std::array<Variant, 9> kVariants = {{
    {75, "", ""},
    {80, "", ""},
    {80, " no fmad", "--fmad=false"},
    {80, " fast math", "--use_fast_math"},
    {86, "", ""},
    {89, "", ""},
    {90, "", ""},
    {100, "", ""},
    {120, "", ""},
}};

Status Compile(const ProbeContext& context, const Nvrtc& nvrtc, const KernelImage& image,
               const Variant& variant, ProbeResult* result) {
  const std::string architecture = fmt::format("compute_{}{}", variant.compute, variant.name);
  std::vector<std::string> options = {fmt::format("--gpu-architecture=compute_{}", variant.compute),
                                      "--std=c++17"};
  if (!variant.option.empty()) options.emplace_back(variant.option);
  std::string first;
  for (int repeat = 0; repeat < std::max(1, context.repeats); ++repeat) {
    ASSIGN_OR_RETURN(const std::string ptx,
                     nvrtc.Compile(std::string(image.source), std::string(image.name), options));
    if (repeat == 0) first = ptx;
    if (ptx != first) result->unstable.push_back(fmt::format("{} {}", architecture, image.name));
  }
  // By entry: the text's head names the compiler's build and would change with every version.
  for (const std::string& entry : EntriesOf(first)) {
    result->bits[fmt::format("{} {}", architecture, entry)] = HashOf(EntryText(first, entry));
  }
  return {};
}

Result<ProbeResult> MeasureNvrtcPtx(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto nvrtc, Nvrtc::Open(context.library_paths));
  ProbeResult result;
  result.parameters.Set("sources", Json::MakeArray({"corpus", "math", "reduce"}));
  result.libraries.emplace(nvrtc->library().soname(),
                           DescribeLibrary(nvrtc->library(), nvrtc->version()));
  for (const Variant& variant : kVariants) {
    if (!std::ranges::binary_search(nvrtc->archs(), variant.compute)) {
      result.notes.push_back(
          fmt::format("NVRTC {} knows no compute_{}", nvrtc->version(), variant.compute));
      continue;
    }
    for (const KernelImage* image : {&kCorpusKernels, &kMathKernels, &kReduceKernels}) {
      RETURN_IF_ERROR(Compile(context, *nvrtc, *image, variant, &result));
    }
  }
  if (result.bits.empty()) return Unsupported("NVRTC knows none of the architectures asked for");
  return result;
}

ProbeResult RunNvrtcPtx(const ProbeContext& context) { return Finish(MeasureNvrtcPtx(context)); }

const RegisterProbe kNvrtcPtxProbe({.name = "nvrtc_ptx",
                                    .family = "compiler",
                                    .summary = "PTX that NVRTC makes of fixed sources, by kernel",
                                    .device = ProbeDevice::kCpu,
                                    .run = RunNvrtcPtx,
                                    .by_name = true,
                                    .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
