// Errors to results, seeded data, bits and repeats.
#include "probes/gpu/probe_tools.h"

#include <algorithm>
#include <cmath>

#include "harness/base/digest.h"

namespace rharness {
namespace {

bool ShowsAnything(const ProbeResult& result, Shows shows) {
  if (!result.bits.empty() || !result.trees.empty() || !result.unstable.empty()) return true;
  return shows == Shows::kChoices && std::ranges::any_of(result.choices, [](const auto& choice) {
           return choice.second.Find(kFailedMember) == nullptr;
         });
}

std::uint64_t SplitMix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

ProbeResult Finish(Result<ProbeResult> result, Shows shows) {
  if (result.ok()) {
    const bool is_told = result->status != ProbeStatus::kOk;  // by a part of it
    if (is_told || ShowsAnything(*result, shows)) return std::move(*result);
    const std::string why = result->notes.empty() ? "it ran nothing" : result->notes.front();
    if (result->counts.contains(kFailedCases)) return FailedProbe("every case failed: " + why);
    return result->notes.empty() ? FailedProbe(why) : AbsentProbe(why);
  }
  const std::string text = result.error().ToString();
  if (result.error().code == ErrorCode::kTimeout) {
    ProbeResult late = FailedProbe(text);
    late.status = ProbeStatus::kTimedOut;
    return late;
  }
  return result.error().code == ErrorCode::kNotFound ? AbsentProbe(text) : FailedProbe(text);
}

void NoteUnsupported(const Status& done, const std::string& name, ProbeResult* result) {
  if (done.ok()) return;
  if (done.error().code != ErrorCode::kUnsupported) {
    return RecordFailure(name, done.error(), result);
  }
  result->notes.push_back(name + ": " + done.error().ToString());
}

std::string HashOf(std::span<const std::byte> bytes) { return ToHex(Sha256Of(bytes)); }

std::string HashOf(std::string_view text) { return Sha256HexOf(text); }

Status HaveTime(const ProbeContext& context) {
  if (!context.until || std::chrono::steady_clock::now() < *context.until) return {};
  return TimeoutError("not run: the time of the probe was up");
}

Result<std::vector<std::byte>> RecordBits(const ProbeContext& context, const std::string& name,
                                          const MakeBytes& make, ProbeResult* result) {
  RETURN_IF_ERROR(HaveTime(context));
  ASSIGN_OR_RETURN(std::vector<std::byte> first, make());
  result->bits[name] = HashOf(first);
  for (int repeat = 1; repeat < context.repeats; ++repeat) {
    ASSIGN_OR_RETURN(const std::vector<std::byte> again, make());
    if (again == first) continue;
    result->unstable.push_back(name);
    break;
  }
  return first;
}

Status RecordTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
                  ProbeResult* result) {
  RETURN_IF_ERROR(HaveTime(context));
  RevealOptions options;
  options.seed = context.seed;
  options.repeats = std::max(0, context.repeats - 1);
  ASSIGN_OR_RETURN(Revealed revealed, RevealTree(sum, options));
  result->counts["probes " + name] = revealed.probes;
  result->counts["launches " + name] = revealed.launches;
  if (!revealed.deterministic) result->unstable.push_back(name);
  if (revealed.tree) {
    result->trees.emplace(name, std::move(*revealed.tree));
  } else {
    result->notes.push_back(name + ": tree not revealed: " + revealed.why);
  }
  return {};
}

std::vector<std::uint32_t> StridedWords() {
  std::vector<std::uint32_t> words;
  // An odd stride near 2^16 walks the low bits of the significand too.
  for (std::uint32_t i = 0; i < 65536; ++i) words.push_back(i * 65537U);
  return words;
}

std::vector<float> SeededValues(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto step = static_cast<int>(SplitMix(seed * 0x100000001b3U + i) % 257U) - 128;
    values[i] = static_cast<float>(step) / 128.0F;
  }
  return values;
}

std::vector<float> RoundingValues(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = SplitMix(seed * 0x100000001b3U + i);
    const float magnitude = 1.0F + static_cast<float>(bits & 0x7fffffU) * 0x1p-23F;
    const int exponent = 4 - static_cast<int>((bits >> 32) % 12U);
    values[i] = std::ldexp((bits >> 63) != 0 ? -magnitude : magnitude, exponent);
  }
  return values;
}

Result<std::vector<std::byte>> RunWordKernel(const Device& device, CUmodule module,
                                             const std::string& kernel,
                                             const std::vector<std::uint32_t>& words) {
  ASSIGN_OR_RETURN(const CUfunction function, device.Find(module, kernel));
  ASSIGN_OR_RETURN(const DeviceBuffer in, device.Upload(words));
  const std::size_t bytes = 2 * words.size() * sizeof(std::uint32_t);
  ASSIGN_OR_RETURN(const DeviceBuffer out, device.Allocate(bytes));
  CUdeviceptr in_at = in.address(), out_at = out.address();
  int n = static_cast<int>(words.size());
  const auto blocks = static_cast<unsigned int>((words.size() + 255) / 256);
  RETURN_IF_ERROR(device.Launch(function, {blocks, 256}, {&in_at, &out_at, &n}));
  return device.Read(out, bytes);
}

Status RecordWordKernels(const ProbeContext& context, const Device& device, CUmodule module,
                         const std::vector<std::string>& names, const std::string& prefix,
                         ProbeResult* result) {
  const std::vector<std::uint32_t> words = StridedWords();
  for (const std::string& name : names) {
    const auto made = RecordBits(
        context, prefix + name, [&] { return RunWordKernel(device, module, name, words); }, result);
    if (!made.ok()) return made.error();
  }
  return {};
}

}  // namespace rharness
