// Probes mma_features and wgmma_features: how wide and in which groups a tensor-core instruction
// adds, and how it rounds. Facts of the device and the instruction; a change after an upgrade is
// another instruction. The instructions of a warpgroup are a probe of their own, since one fault
// takes all answers of its process with it.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "probes/gpu/mma_fp64.h"
#include "probes/gpu/mma_model.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

struct Kernel {
  const KernelImage* image;
  MmaInstruction instruction;
};

const Kernel kKernels[] = {
    {&kMma75Kernels, {"mma_f16_k8", NumberType::kFp16, 8}},
    {&kMma80Kernels, {"mma_f16_k16", NumberType::kFp16, 16}},
    {&kMma80Kernels, {"mma_bf16_k16", NumberType::kBf16, 16}},
    {&kMma80Kernels, {"mma_tf32_k4", NumberType::kTf32, 4}},
    {&kMma80Kernels, {"mma_tf32_k8", NumberType::kTf32, 8}},
    {&kMma89Kernels, {"mma_e4m3_k32", NumberType::kE4m3, 32}},
    {&kMma89Kernels, {"mma_e5m2_k32", NumberType::kE5m2, 32}},
    {&kWgmma90aKernels, {"wgmma_f16_k16", NumberType::kFp16, 16, true}},
    {&kWgmma90aKernels, {"wgmma_bf16_k16", NumberType::kBf16, 16, true}},
    {&kWgmma90aKernels, {"wgmma_tf32_k8", NumberType::kTf32, 8, true}},
    {&kWgmma90aKernels, {"wgmma_e4m3_k32", NumberType::kE4m3, 32, true}},
};

// One answer a case.
Result<std::vector<float>> Ask(const Device& device, CUfunction kernel,
                               const MmaInstruction& instruction,
                               const std::vector<MmaCase>& cases) {
  const NumberType type = instruction.type;
  std::vector<float> a, b, c;
  for (const MmaCase& one : cases) {
    for (const double value : one.a) a.push_back(static_cast<float>(value));
    for (const double value : one.b) b.push_back(static_cast<float>(value));
    c.push_back(one.c);
  }
  ASSIGN_OR_RETURN(const DeviceBuffer a_in, device.Upload(EncodeAll(type, a)));
  ASSIGN_OR_RETURN(const DeviceBuffer b_in, device.Upload(EncodeAll(type, b)));
  ASSIGN_OR_RETURN(const DeviceBuffer c_in, device.Upload(c));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device.Allocate(c.size() * sizeof(float)));
  CUdeviceptr a_at = a_in.address(), b_at = b_in.address(), c_at = c_in.address();
  CUdeviceptr d_at = out.address();
  int count = static_cast<int>(cases.size());
  RETURN_IF_ERROR(device.Launch(kernel, {1, instruction.warpgroup ? 128U : 32U},
                                {&a_at, &b_at, &c_at, &d_at, &count}));
  ASSIGN_OR_RETURN(const auto bytes, device.Read(out, c.size() * sizeof(float)));
  std::vector<float> answers(cases.size());
  std::memcpy(answers.data(), bytes.data(), bytes.size());
  return answers;
}

// The published model's answers are read like the device's, and recorded beside them.
void CompareWithPublished(const MmaInstruction& instruction, const Device& device,
                          const std::vector<MmaCase>& cases, const std::vector<float>& answers,
                          Json* features, ProbeResult* result) {
  const std::string name(instruction.kernel);
  const auto published = PublishedAddition(instruction, device.compute());
  if (!published) {
    result->notes.push_back(fmt::format("{}: nothing published for compute capability {}.{}", name,
                                        device.compute() / 10, device.compute() % 10));
    return;
  }
  std::uint64_t unlike = 0;
  std::map<std::string, float> expected;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].finite) continue;
    const float one = FusedDot(instruction.type, cases[i].a, cases[i].b, cases[i].c, *published);
    expected[cases[i].name] = one;
    if (std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(answers[i])) continue;
    ++unlike;
    result->notes.push_back(fmt::format("{} {}: {} where the published model gives {}", name,
                                        cases[i].name, answers[i], one));
  }
  result->counts["unlike the published model " + name] = unlike;
  features->Set("published", ReadMmaFeatures(instruction, expected));
}

Status RecordFeatures(const ProbeContext& context, const Device& device, const Kernel& kernel,
                      ProbeResult* result) {
  const MmaInstruction& instruction = kernel.instruction;
  const std::string name(instruction.kernel);
  ASSIGN_OR_RETURN(const CUmodule module, device.Load(*kernel.image));
  ASSIGN_OR_RETURN(const CUfunction function, device.Find(module, name));
  const std::vector<MmaCase> cases = BuildMmaCases(instruction);
  std::vector<float> answers;
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    ASSIGN_OR_RETURN(answers, Ask(device, function, instruction, cases));
    const auto bytes = std::as_bytes(std::span(answers));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto made = RecordBits(context, name, ask, result);
  if (!made.ok()) return made.error();
  std::map<std::string, float> by_name;
  for (std::size_t i = 0; i < cases.size(); ++i) by_name[cases[i].name] = answers[i];
  Json features = ReadMmaFeatures(instruction, by_name);
  features.Set("nan_bits",
               fmt::format("{:#010x}", std::bit_cast<std::uint32_t>(by_name["not a number"])));
  CompareWithPublished(instruction, device, cases, answers, &features, result);
  result->choices[name] = std::move(features);
  return {};
}

Result<std::vector<double>> AskFp64(const Device& device, CUfunction kernel,
                                    const std::vector<Fp64Case>& cases) {
  std::vector<double> a, b, c;
  for (const Fp64Case& one : cases) {
    a.insert(a.end(), one.a.begin(), one.a.end());
    b.insert(b.end(), one.b.begin(), one.b.end());
    c.push_back(one.c);
  }
  ASSIGN_OR_RETURN(const DeviceBuffer a_in, device.Upload(a));
  ASSIGN_OR_RETURN(const DeviceBuffer b_in, device.Upload(b));
  ASSIGN_OR_RETURN(const DeviceBuffer c_in, device.Upload(c));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device.Allocate(c.size() * sizeof(double)));
  CUdeviceptr a_at = a_in.address(), b_at = b_in.address(), c_at = c_in.address();
  CUdeviceptr d_at = out.address();
  int count = static_cast<int>(cases.size());
  RETURN_IF_ERROR(device.Launch(kernel, {1, 32}, {&a_at, &b_at, &c_at, &d_at, &count}));
  ASSIGN_OR_RETURN(const auto bytes, device.Read(out, c.size() * sizeof(double)));
  std::vector<double> answers(cases.size());
  std::memcpy(answers.data(), bytes.data(), bytes.size());
  return answers;
}

Status RecordFp64(const ProbeContext& context, const Device& device, ProbeResult* result) {
  const std::string name = "mma_f64_k4";
  ASSIGN_OR_RETURN(const CUmodule module, device.Load(kMma80Kernels));
  ASSIGN_OR_RETURN(const CUfunction function, device.Find(module, name));
  const std::vector<Fp64Case> cases = BuildFp64Cases();
  std::vector<double> answers;
  const auto ask = [&]() -> Result<std::vector<std::byte>> {
    ASSIGN_OR_RETURN(answers, AskFp64(device, function, cases));
    const auto bytes = std::as_bytes(std::span(answers));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto made = RecordBits(context, name, ask, result);
  if (!made.ok()) return made.error();
  Json features = ReadFp64Features(cases, answers);
  if (const auto published = PublishedFp64Order(device.compute()); !published.empty()) {
    features.Set("published", Json::MakeObject().Set("order", published));
  }
  result->choices[name] = std::move(features);
  return {};
}

// Whether this device and its driver run the kernels; a note if not.
bool Runs(const Device& device, const KernelImage& image, std::string_view kernel,
          ProbeResult* result) {
  if (!image.Runs(device.compute())) {
    result->notes.push_back(fmt::format("{} is not in compute capability {}.{}", kernel,
                                        device.compute() / 10, device.compute() % 10));
    return false;
  }
  if (device.driver().version() >= image.driver) return true;
  result->notes.push_back(fmt::format("{} needs a driver of CUDA {}.{}", kernel,
                                      image.driver / 1000, image.driver % 1000 / 10));
  return false;
}

Result<ProbeResult> MeasureMmaFeatures(const ProbeContext& context, bool warpgroup) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ProbeResult result;
  result.parameters.Set("compute", device->compute());
  bool in_device = false;
  for (const Kernel& kernel : kKernels) {
    if (kernel.instruction.warpgroup != warpgroup) continue;
    in_device = in_device || kernel.image->Runs(device->compute());
    if (!Runs(*device, *kernel.image, kernel.instruction.kernel, &result)) continue;
    const Status done = RecordFeatures(context, *device, kernel, &result);
    if (!done.ok()) RecordFailure(std::string(kernel.instruction.kernel), done.error(), &result);
  }
  if (!warpgroup && Runs(*device, kMma80Kernels, "mma_f64_k4", &result)) {
    const Status done = RecordFp64(context, *device, &result);
    if (!done.ok()) RecordFailure("mma_f64_k4", done.error(), &result);
  }
  if (!result.bits.empty()) return result;
  const std::string why = "none of the instructions: " + result.notes.front();
  return in_device ? Unsupported(why) : NotFound(why);
}

ProbeResult RunMma(const ProbeContext& context) {
  return Finish(MeasureMmaFeatures(context, false));
}
ProbeResult RunWgmma(const ProbeContext& context) {
  return Finish(MeasureMmaFeatures(context, true));
}

const RegisterProbe kMmaProbe({.name = "mma_features",
                               .family = "gemm",
                               .summary = "width, groups and rounding of tensor-core instructions",
                               .device = ProbeDevice::kGpu,
                               .run = RunMma});
const RegisterProbe kWgmmaProbe({.name = "wgmma_features",
                                 .family = "gemm",
                                 .summary = "the same of a warpgroup's instructions on Hopper",
                                 .device = ProbeDevice::kGpu,
                                 .run = RunWgmma});

}  // namespace
}  // namespace rharness
