// Shared by the probes of this folder: from errors to results, seeded data, bits and repeats.
#ifndef RHARNESS_PROBES_GPU_PROBE_TOOLS_H_
#define RHARNESS_PROBES_GPU_PROBE_TOOLS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/failed_cases.h"
#include "probes/gpu/device.h"
#include "probes/order/reveal.h"
#include "probes/probe.h"

namespace rharness {

// What a probe must have shown to have worked: something that was computed, or a list of choices.
enum class Shows { kComputed, kChoices };
// not_found means a missing library or device: absent. timeout: timed out. Every other error:
// failed. A result that shows nothing is failed, too, or, where nothing failed and a note says what
// is unsupported, absent: on a device that died, what was merely listed is no answer.
ProbeResult Finish(Result<ProbeResult> result, Shows shows = Shows::kComputed);

// For the end of a case, whose failure must not hide the others: unsupported, a removed function or
// a computation that the library never had, is a note; every other error is recorded as a failure.
void NoteUnsupported(const Status& done, const std::string& name, ProbeResult* result);

std::string HashOf(std::span<const std::byte> bytes);  // SHA-256, hex
std::string HashOf(std::string_view text);

// Errors, for the end of a case: timeout if there is no time left for it (ProbeContext::until).
Status HaveTime(const ProbeContext& context);

// Makes a result context.repeats times (at least once); the first one's hash becomes bits[name],
// and the name is unstable when a later one differs. Returns the first one's bytes.
using MakeBytes = std::function<Result<std::vector<std::byte>>()>;
Result<std::vector<std::byte>> RecordBits(const ProbeContext& context, const std::string& name,
                                          const MakeBytes& make, ProbeResult* result);

// Reveals the order of `sum` and records it under `name`: the tree, or a note why there is none,
// and an unstable case when it is not deterministic.
Status RecordTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
                  ProbeResult* result);

// 2^16 words that stride evenly over all bit patterns, so that every sign, exponent and special
// value of fp32 is among them.
std::vector<std::uint32_t> StridedWords();

// Multiples of 2^-7 in [-1, 1], by the counter-based splitmix64: exact in every type down to 8 bits
// of significand, and the same on every machine.
std::vector<float> SeededValues(std::size_t count, std::uint64_t seed);
// Values whose sums and products round, so that a different order shows in the last bits: all 24
// bits of significand, either sign, magnitudes from 2^-7 to 32: wide enough that even products of
// fp8 round in an fp32 sum, and small enough that fp16 holds sums of thousands.
std::vector<float> RoundingValues(std::size_t count, std::uint64_t seed);

// Runs one kernel of signature (const uint32* in, uint32* out, int n) and returns its 2 n words.
Result<std::vector<std::byte>> RunWordKernel(const Device& device, CUmodule module,
                                             const std::string& kernel,
                                             const std::vector<std::uint32_t>& words);

// bits["PREFIXname"] of every kernel in `names`, with repeats.
Status RecordWordKernels(const ProbeContext& context, const Device& device, CUmodule module,
                         const std::vector<std::string>& names, const std::string& prefix,
                         ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_PROBE_TOOLS_H_
