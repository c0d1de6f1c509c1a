// Probe fatbin_force_jit: results of our own kernels as machine code of the toolkit's assembler,
// and as code that the driver makes from the same PTX when CUDA_FORCE_PTX_JIT tells it to ignore
// machine code. Each in a process of its own, since the driver reads its variables once.
#include <fmt/format.h>

#include "probes/gpu/fat_kernels.h"
#include "probes/gpu/forked.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kForcedRows = 8, kRowSize = 4096;
constexpr const FatKernels* kFiles[] = {&kReduceFat, &kCorpusFat, &kMathFat};

// The sums of rows in a fixed order; reduce_atomic has none, and is left out.
Status RecordReductions(const ProbeContext& context, const Device& device, CUmodule module,
                        const std::string& prefix, ProbeResult* result) {
  ASSIGN_OR_RETURN(const DeviceBuffer in, device.Upload(RoundingValues(
                                              std::size_t{kForcedRows} * kRowSize, context.seed)));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device.Allocate(kForcedRows * sizeof(float)));
  for (const auto& [kernel, threads] : {std::pair{"reduce_rows", 256U}, {"reduce_serial", 1U}}) {
    ASSIGN_OR_RETURN(const CUfunction function, device.Find(module, kernel));
    const auto sum = [&]() -> Result<std::vector<std::byte>> {
      CUdeviceptr in_at = in.address(), out_at = out.address();
      int n = kRowSize;
      RETURN_IF_ERROR(device.Launch(function, {kForcedRows, threads}, {&in_at, &out_at, &n}));
      return device.Read(out, out.bytes());
    };
    const auto made = RecordBits(context, prefix + kernel, sum, result);
    if (!made.ok()) return made.error();
  }
  return {};
}

Status RecordFile(const ProbeContext& context, const Device& device, const FatKernels& file,
                  const std::string& image, const std::string& prefix, ProbeResult* result) {
  ASSIGN_OR_RETURN(const CUmodule module, device.Load(image));
  if (&file == &kReduceFat) return RecordReductions(context, device, module, prefix, result);
  return RecordWordKernels(context, device, module, EntriesOf(file.image->ptx), prefix, result);
}

Result<std::shared_ptr<Device>> OpenForMachineCode(const ProbeContext& context) {
  ASSIGN_OR_RETURN(auto device, Device::Open(context));
  const int toolkit = kReduceFat.driver, driver = device->driver().version();
  if (driver / 1000 >= toolkit / 1000) return device;
  return Unsupported(fmt::format(
      "machine code of CUDA {}.{} needs a driver of CUDA {}.0 or newer; this one is "
      "of {}.{}",
      toolkit / 1000, toolkit % 1000 / 10, toolkit / 1000, driver / 1000, driver % 1000 / 10));
}

Result<ProbeResult> MeasureMachineCode(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, OpenForMachineCode(context));
  ProbeResult result;
  for (const FatKernels* file : kFiles) {
    if (MachineCodeFor(file->architectures, device->compute()) == 0) {
      result.notes.push_back(fmt::format(
          "{}: no machine code for compute capability {}.{} in this program (it has {})",
          file->image->name, device->compute() / 10, device->compute() % 10, file->architectures));
      continue;
    }
    RETURN_IF_ERROR(RecordFile(context, *device, *file, FatImage(*file), "machine code ", &result));
  }
  return result;
}

Result<ProbeResult> MeasureForced(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, OpenForMachineCode(context));
  ProbeResult result;
  for (const FatKernels* file : kFiles) {
    RETURN_IF_ERROR(RecordFile(context, *device, *file, FatImage(*file), "forced ", &result));
    // A bare text leaves the driver no choice: the forced fatbin must give the same.
    RETURN_IF_ERROR(RecordFile(context, *device, *file, std::string(file->image->ptx),
                               "driver code ", &result));
  }
  return result;
}

Result<ProbeResult> MeasureFatbinForceJit(const ProbeContext& context) {
  struct Part {
    std::string name;
    std::vector<VariableChange> variables;
    Result<ProbeResult> (*measure)(const ProbeContext&);
  };
  const Part parts[] = {
      {"machine code",
       {{"CUDA_CACHE_DISABLE", "1"}, {"CUDA_FORCE_PTX_JIT", {}}, {"CUDA_DISABLE_PTX_JIT", "1"}},
       MeasureMachineCode},
      {"CUDA_FORCE_PTX_JIT=1",
       {{"CUDA_CACHE_DISABLE", "1"}, {"CUDA_FORCE_PTX_JIT", "1"}, {"CUDA_DISABLE_PTX_JIT", {}}},
       MeasureForced}};
  ProbeResult result;
  result.parameters.Set("seed", context.seed)
      .Set("sources", Json::MakeArray({"reduce", "corpus", "math"}))
      .Set("machine_code", kReduceFat.architectures);
  for (const Part& part : parts) {
    ASSIGN_OR_RETURN(ProbeResult made,
                     RunForked(part.variables, [&] { return Finish(part.measure(context)); }));
    if (!AddPart(part.name, std::move(made), &result)) return result;
  }
  CompareDriverCode(&result);
  return result;
}

ProbeResult RunFatbinForceJit(const ProbeContext& context) {
  return Finish(MeasureFatbinForceJit(context));
}

const RegisterProbe kFatbinForceJitProbe(
    {.name = "fatbin_force_jit",
     .family = "compiler",
     .summary = "our machine code against the driver's code of its PTX",
     .device = ProbeDevice::kGpu,
     .run = RunFatbinForceJit,
     .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
