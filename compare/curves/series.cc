// What a curve is about, by the words of its name.
#include "compare/curves/series.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "harness/base/result.h"

namespace rharness {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "trainLoss/step_time" -> {"train", "loss", "step", "time"}.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!IsUpper(c) && !IsLower(c) && !IsDigit(c)) {
      flush();
      continue;
    }
    if (IsUpper(c) && i > 0 && IsLower(name[i - 1])) flush();
    word += IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  flush();
  return words;
}

template <std::size_t N>
bool Holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array<std::string_view, 32> kResourceWords = {
    "mem",         "memory",  "bytes",  "mib",   "gib",       "mb",         "gb",    "time",
    "times",       "timing",  "sec",    "secs",  "second",    "seconds",    "ms",    "latency",
    "duration",    "elapsed", "tflops", "flops", "tps",       "throughput", "power", "watt",
    "utilization", "speed",   "wall",   "watts", "bandwidth", "runtime",    "vram",  "qps"};
constexpr std::array<std::string_view, 10> kEvaluationWords = {
    "val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout", "cv"};
constexpr std::array<std::string_view, 9> kLossWords = {
    "perplexity", "ppl", "nll", "xent", "crossentropy", "logloss", "bpb", "bpc", "elbo"};

}  // namespace

std::string_view CurveKindName(CurveKind kind) {
  switch (kind) {
    case CurveKind::kLoss:
      return "loss";
    case CurveKind::kMetric:
      return "metric";
    case CurveKind::kResource:
      return "resource";
  }
  Abort("unknown CurveKind");
}

CurveKind KindOfCurve(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  // The noun is the last word: a "memory loss" is a loss, and a "loss time" is a time.
  if (!words.empty() && words.back().ends_with("loss")) return CurveKind::kLoss;
  for (const std::string& word : words) {
    if (Holds(kResourceWords, word)) return CurveKind::kResource;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    // The scale of mixed precision is a setting of the optimizer.
    if (words[i].ends_with("loss") && next != "scale" && next != "scaling") {
      return CurveKind::kLoss;
    }
    if (Holds(kLossWords, words[i]) || (words[i] == "cross" && next == "entropy")) {
      return CurveKind::kLoss;
    }
  }
  return CurveKind::kMetric;
}

bool IsEvaluationName(std::string_view name) {
  return std::ranges::any_of(WordsOf(name),
                             [](const std::string& word) { return Holds(kEvaluationWords, word); });
}

}  // namespace rharness
