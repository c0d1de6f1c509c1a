// The table of flags.
#include "scenarios/digits_cnn_cuda/switches.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace rharness::scenarios {
namespace {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// A flag that takes one of some words and stores what the word stands for.
template <typename T>
ExtraFlag Choice(std::string name, const std::string& meaning, Choices<T> choices, T* value) {
  std::string words;
  for (const auto& [word, unused] : choices) words += (words.empty() ? "" : "|") + word;
  const auto set = [choices = std::move(choices), value](std::string_view text) {
    for (const auto& [word, stands_for] : choices) {
      if (word != text) continue;
      *value = stands_for;
      return true;
    }
    return false;
  };
  return {std::move(name), fmt::format("{}: {}", words, meaning), set};
}

ExtraFlag Number(std::string name, std::string expected, std::size_t low, std::size_t high,
                 std::size_t* value) {
  const auto set = [low, high, value](std::string_view text) {
    std::size_t parsed = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, parsed);
    if (status != std::errc() || stop != end || parsed < low || parsed > high) return false;
    *value = parsed;
    return true;
  };
  return {std::move(name), std::move(expected), set};
}

}  // namespace

void MakeDeterministic(CnnSwitches* switches) {
  switches->deterministic_convolutions = true;
  switches->autotune = false;
  switches->tree_reduction = true;
  switches->tf32 = false;
  switches->cublas_workspace = ":4096:8";
  switches->two_streams = false;
}

std::vector<ExtraFlag> FlagsOf(CnnSwitches* switches) {
  const Choices<bool> on_off = {{"on", true}, {"off", false}};
  return {
      Choice<CnnDevice>(
          "--device", "where it trains; both holds the GPU to the CPU (default cuda)",
          {{"cuda", CnnDevice::kCuda}, {"cpu", CnnDevice::kCpu}, {"both", CnnDevice::kBoth}},
          &switches->device),
      Number("--channels", "an integer 1..256, feature maps of the first layer (default 16)", 1,
             256, &switches->channels),
      Number("--gpus", "an integer 0..64 of GPUs that share each batch; 0: all (default 0)", 0, 64,
             &switches->gpus),
      {"--deterministic", "no value: every switch below at its reproducible setting",
       [switches](std::string_view) {
         MakeDeterministic(switches);
         return true;
       },
       true},
      Choice<bool>("--conv-algo", "cuDNN's algorithms (default nondeterministic)",
                   {{"deterministic", true}, {"nondeterministic", false}},
                   &switches->deterministic_convolutions),
      Choice<bool>("--autotune", "take the algorithms that measure fastest (default off)", on_off,
                   &switches->autotune),
      Choice<bool>("--reduction", "how losses and bias gradients are summed (default atomic)",
                   {{"tree", true}, {"atomic", false}}, &switches->tree_reduction),
      Choice<bool>("--tf32", "tensor cores that round inputs to 10 bits (default on)", on_off,
                   &switches->tf32),
      Choice<std::string>("--cublas-workspace", "CUBLAS_WORKSPACE_CONFIG (default none)",
                          {{"4096:8", ":4096:8"}, {"16:8", ":16:8"}, {"none", ""}},
                          &switches->cublas_workspace),
      Choice<bool>("--streams", "streams that share the cuBLAS handle (default 1)",
                   {{"1", false}, {"2", true}}, &switches->two_streams),
  };
}

}  // namespace rharness::scenarios
