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
    const bool unit = c == 'B' && word.size() == 2 && word[1] == 'i';  // of "GiB"
    if (IsUpper(c) && i > 0 && IsLower(name[i - 1]) && !unit) flush();
    word += IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  flush();
  return words;
}

template <class List>
bool Holds(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::ranges::end(list);
}

// What is measured, or its unit, if it is the noun of the name.
constexpr auto kResourceNouns = std::to_array<std::string_view>(
    {"mem",        "memory",   "vram",        "rss",       "bytes",  "kb",      "kib",
     "mb",         "mib",      "gb",          "gib",       "tb",     "tib",     "time",
     "times",      "timing",   "timings",     "timer",     "timers", "secs",    "seconds",
     "ms",         "msec",     "usec",        "minutes",   "hours",  "latency", "latencies",
     "duration",   "elapsed",  "runtime",     "walltime",  "wall",   "uptime",  "eta",
     "timestamp",  "datetime", "clock",       "tflops",    "gflops", "flops",   "mfu",
     "hfu",        "tps",      "qps",         "fps",       "wps",    "ups",     "ips",
     "throughput", "speed",    "utilization", "bandwidth", "watt",   "watts",   "pid",
     "ooms",       "ttft",     "tpot",        "itl"});
// Of a machine only, since the words have other meanings: the power of a test, a temperature.
constexpr auto kMachineNouns = std::to_array<std::string_view>(
    {"power", "temp", "temperature", "util", "usage", "load", "energy", "percent", "draw", "fan"});
constexpr auto kMachines = std::to_array<std::string_view>(
    {"gpu", "cpu", "cuda", "tpu", "hpu", "ram", "memory", "mem", "vram", "disk", "network", "swap",
     "vm", "system", "node", "proc"});
// May follow the noun: "memory_allocated", "time/train", "latency_p99", "seconds_per_step".
constexpr auto kQualifiers = std::to_array<std::string_view>(
    {"avg",     "average",  "mean",      "median", "max",     "min",       "std",    "sum",
     "total",   "peak",     "peaked",    "all",    "current", "allocated", "alloc",  "reserved",
     "active",  "cached",   "used",      "usage",  "free",    "delta",     "count",  "retries",
     "gpu",     "cpu",      "cuda",      "device", "rank",    "node",      "global", "local",
     "forward", "backward", "optimizer", "train",  "val",     "eval",      "test",   "in",
     "s",       "us",       "ns",        "p50",    "p90",     "p95",       "p99"});
// Groups of such figures, before the first '/' or '.'.
constexpr auto kResourceGroups = std::to_array<std::string_view>(
    {"system", "perf", "profiler", "hardware", "throughput", "memory", "mem", "time", "timers",
     "timing", "timer", "gpu", "cpu", "clock", "monitor"});
// A result even within such a group.
constexpr auto kResults = std::to_array<std::string_view>(
    {"acc",   "accuracy",  "mae",    "mse",     "rmse",   "mape",   "error", "err",  "score",
     "f1",    "f",         "auc",    "auroc",   "ap",     "map",    "iou",   "dice", "bleu",
     "rouge", "precision", "recall", "corr",    "reward", "return", "match", "em",   "pass",
     "wer",   "cer",       "kl",     "entropy", "norm",   "mcc",    "mrr",   "ndcg", "r"});
constexpr std::array<std::string_view, 10> kEvaluationWords = {
    "val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout", "cv"};
constexpr std::array<std::string_view, 9> kLossWords = {
    "perplexity", "ppl", "nll", "xent", "crossentropy", "logloss", "bpb", "bpc", "elbo"};

// "rank" of "rank0"; nothing of a number.
std::string_view StemOf(std::string_view word) {
  while (!word.empty() && IsDigit(word.back())) word.remove_suffix(1);
  return word;
}

// A time in seconds or a rate, whose unit means nothing as a word.
bool EndsInSeconds(std::string_view name) {
  constexpr auto kEnds =
      std::to_array<std::string_view>({"(s)", "[s]", " in s", "/s", "/sec", "/second"});
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

bool IsOfResourceGroup(std::string_view name, const std::vector<std::string>& words) {
  const std::size_t end = name.find_first_of("/.");
  if (end == name.npos) return false;
  const std::string_view last = StemOf(words.back());
  if (Holds(kResults, words.back()) || Holds(kResults, last) || Holds(kLossWords, last)) {
    return false;
  }
  const std::vector<std::string> group = WordsOf(name.substr(0, end));
  const bool plural = group.size() == 2 && group[1] == "metrics";  // "time_metrics"
  const bool seconds = group.size() == 2 && group[1] == "s";       // "timing_s"
  if (group.empty()) return false;
  return Holds(kResourceGroups, plural || seconds ? group.front() : group.back());
}

// Times, rates and memory: by the noun of the name, its unit or its group. A word elsewhere says
// nothing: "time_series_mae", "memory_accuracy".
bool IsResource(std::string_view name) {
  name = name.substr(0, name.find(" vs "));
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty()) return false;
  if (EndsInSeconds(name) || IsOfResourceGroup(name, words)) return true;
  const bool machine =
      std::ranges::any_of(words, [](const std::string& word) { return Holds(kMachines, word); });
  if (machine && Holds(kMachineNouns, words.back())) return true;
  constexpr auto kUnits = std::to_array<std::string_view>({"s", "sec", "second", "minute", "hour"});
  for (std::size_t i = words.size(); i-- > 0;) {
    const bool per = i > 0 && words[i - 1] == "per";
    if (Holds(kResourceNouns, words[i]) || (per && Holds(kUnits, words[i]))) return true;
    if (per) --i;  // "seconds_per_step"
    const std::string_view stem = StemOf(words[i]);
    if (!per && !stem.empty() && !Holds(kQualifiers, words[i]) && !Holds(kQualifiers, stem)) {
      return false;
    }
  }
  return false;
}

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
  if (IsResource(name)) return CurveKind::kResource;
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
