// Fuzzes the reader of NCCL's tuning log: lines are read each for itself, a choice written as a
// line of the log is read again as the same, and its description is JSON.
//
// Run: rharness-tuning-log-fuzz -max_total_time=60 -dict=tuning_log.dict CORPUS tuning_log_seeds
#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/records/manifest/nccl_log.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

std::string LineOf(const TuningChoice& choice) {
  const std::string function = choice.function.empty() ? "" : choice.function + ": ";
  if (choice.algorithm == "SYMMETRIC" && !choice.kernel.empty()) {
    const std::string channels =
        choice.last_channel ? fmt::format(" nchannels {}", *choice.last_channel + 1) : "";
    return fmt::format("NCCL INFO {} [Symmetric]: {} Bytes -> Kernel {}{}\n", choice.function,
                       choice.bytes, choice.kernel, channels);
  }
  const std::string channels = choice.last_channel
                                   ? fmt::format(" channel{{Lo..Hi}}={{{}..{}}}",
                                                 *choice.first_channel, *choice.last_channel)
                                   : "";
  return fmt::format("NCCL INFO {}{} Bytes -> Algo {} proto {}{}\n", function, choice.bytes,
                     choice.algorithm, choice.protocol, channels);
}

void CheckChoice(const TuningChoice& choice) {
  Require(!choice.algorithm.empty() && choice.kernel.empty() != choice.protocol.empty());
  Require(choice.first_channel.has_value() == choice.last_channel.has_value());
  Require(!choice.last_channel ||
          (*choice.first_channel >= 0 && *choice.first_channel <= *choice.last_channel));
  Require(ParseTuningLog(LineOf(choice)) == std::vector<TuningChoice>{choice});
}

// The choices of the lines before and after any line break.
void CheckCut(std::string_view text, const std::vector<TuningChoice>& choices) {
  const std::size_t cut = text.find('\n', text.size() / 2);
  if (cut == text.npos) return;
  std::vector<TuningChoice> parts = ParseTuningLog(text.substr(0, cut));
  for (TuningChoice& choice : ParseTuningLog(text.substr(cut))) parts.push_back(std::move(choice));
  Require(parts == choices);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rharness::TextOf(data, size);
  const auto choices = rharness::ParseTuningLog(text);
  for (const auto& choice : choices) rharness::CheckChoice(choice);
  rharness::CheckCut(text, choices);
  rharness::RequireReadable(rharness::DescribeChoices(choices));
  return 0;
}
