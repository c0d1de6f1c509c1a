// Rows D2, M1, O3, R3 and W1: what grows with fleets. A thousand reruns through Slurm; pages and
// reports from a million verdicts; the reports of a drill of 100,000 runs; a comparison page of
// 300,000 tensors; two traces of a million calls.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "harness/base/files.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMebibyte = 1 << 20;

double Mebibytes(const Usage& usage) { return static_cast<double>(usage.peak_bytes) / kMebibyte; }

Result<std::map<std::string, double>> ReportNumbers(const Context& context) {
  const fs::path folder = context.scratch / "reports";
  RETURN_IF_ERROR(MakeDirectories(folder));
  auto numbers = NumbersOf(context, {(context.bin / "rharness-overhead").string(), "reports",
                                     folder.string(), "100000"});
  RETURN_IF_ERROR(RemoveTree(folder));
  return numbers;
}

Result<Measured> ReportTime(const Context& context) {
  ASSIGN_OR_RETURN(const auto numbers, ReportNumbers(context));
  const double seconds = numbers.at("cpu_seconds");
  return Measured{seconds, fmt::format("{:.2f} s", seconds), "-",
                  "HTML, JUnit, Markdown, metrics and JSON"};
}

Result<Measured> ReportMemory(const Context& context) {
  ASSIGN_OR_RETURN(const auto numbers, ReportNumbers(context));
  return Measured{numbers.at("peak_mib"), fmt::format("{:.0f} MiB", numbers.at("peak_mib")), "-",
                  fmt::format("{:.0f} MiB are the judged runs", numbers.at("model_mib"))};
}

// A million verdicts of ten thousand runs, made on first use.
Result<std::string> MillionVerdicts(const Context& context) {
  const fs::path history = context.scratch / "million.db";
  if (!fs::exists(history)) {
    ASSIGN_OR_RETURN([[maybe_unused]] const Usage filled,
                     RunChild({(context.bin / "rharness-overhead").string(), "verdicts",
                               history.string(), "1000000"}));
  }
  return history.string();
}

Result<Measured> MemoryOf(const Context& context, const std::vector<std::string>& verb) {
  ASSIGN_OR_RETURN(const std::string history, MillionVerdicts(context));
  std::vector<std::string> argv = {(context.bin / "rharness").string(), "--quiet"};
  argv.insert(argv.end(), verb.begin(), verb.end());
  argv.insert(argv.end(), {"--history", history});
  ASSIGN_OR_RETURN(const Usage usage, RunChild(argv));
  return Measured{Mebibytes(usage), fmt::format("{:.0f} MiB", Mebibytes(usage)), "-",
                  fmt::format("{:.1f} s of CPU", usage.cpu_seconds)};
}

// Every page three times, until the trends that are measured beside them are there.
constexpr char kServe[] = R"sh(
at=127.0.0.1:$((20000 + $$ % 20000))
"$1" --quiet serve --history "$2" --listen $at >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
for i in $(seq 100); do curl -fs http://$at/healthz >/dev/null && break; sleep 0.2; done
for i in 1 2 3; do
  for page in / /families /family/family-1 /run/run-1 /trends /trends/report '/search?q=run'; do
    curl -fsS -o /dev/null "http://$at$page" || exit 1
  done
  sleep 15
done
trap - EXIT
kill $server
wait $server
exit 0
)sh";

Result<Measured> MemoryOfServe(const Context& context) {
  if (!HasProgram("curl")) return Unsupported("curl is not installed");
  ASSIGN_OR_RETURN(const std::string history, MillionVerdicts(context));
  ASSIGN_OR_RETURN(const Usage usage, RunChild({"bash", "-c", kServe, "serve",
                                                (context.bin / "rharness").string(), history}));
  return Measured{Mebibytes(usage), fmt::format("{:.0f} MiB", Mebibytes(usage)), "-",
                  "each kind of page three times in 45 s"};
}

// Of 300,000 tensors of four numbers, in layers of a hundred; the last number of each is `last`.
Status WriteManyTensors(const fs::path& path, float last) {
  constexpr int kTensors = 300'000, kBytes = 16;
  std::string json = "{";
  for (int i = 0; i < kTensors; ++i) {
    json += fmt::format(
        R"({}"model.layers.{}.block.{}.weight":{{"dtype":"F32","shape":[4],"data_offsets":[{},{}]}})",
        i == 0 ? "" : ",", i / 100, i % 100, i * kBytes, (i + 1) * kBytes);
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t size = json.size();
  const float values[] = {1, 2, 3, last};
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file << json;
  for (int i = 0; i < kTensors; ++i) {
    file.write(reinterpret_cast<const char*>(values), sizeof values);
  }
  file.close();
  return file ? Status() : IoError("cannot write", path.string());
}

Result<Usage> CompareManyTensors(const Context& context) {
  const fs::path a = context.scratch / "many_a.safetensors";
  const fs::path b = context.scratch / "many_b.safetensors";
  RETURN_IF_ERROR(WriteManyTensors(a, 4));
  RETURN_IF_ERROR(WriteManyTensors(b, 5));
  // It exits with 1, since they differ.
  return RunChild({"sh", "-c",
                   "\"$1\" --quiet compare \"$2\" \"$3\" --html \"$4.html\" --json-file "
                   "\"$4.json\" 2>/dev/null; test $? = 1",
                   "sh", (context.bin / "rharness").string(), a.string(), b.string(),
                   (context.scratch / "many").string()});
}

Result<Measured> ManyTensorsTime(const Context& context) {
  ASSIGN_OR_RETURN(const Usage usage, CompareManyTensors(context));
  return Measured{usage.cpu_seconds, fmt::format("{:.2f} s of CPU", usage.cpu_seconds), "-", ""};
}

Result<Measured> ManyTensorsMemory(const Context& context) {
  ASSIGN_OR_RETURN(const Usage usage, CompareManyTensors(context));
  const double json = static_cast<double>(fs::file_size(context.scratch / "many.json"));
  return Measured{Mebibytes(usage), fmt::format("{:.0f} MiB", Mebibytes(usage)), "-",
                  fmt::format("the JSON has {:.0f} MiB", json / kMebibyte)};
}

// A million calls of 300 steps, as the hooks write them; from call 5,000 on everything is `other`.
Status WriteCalls(const fs::path& path, std::string_view other) {
  constexpr int kSteps = 300, kCallsOfAStep = 3334;
  constexpr std::string_view kOps[] = {
      "aten.addmm.default", "aten.gelu.default", "aten.native_layer_norm.default",
      "aten.t.default",     "aten.mul.Tensor",   "aten.add.Tensor"};
  std::ofstream file(path, std::ios::binary);
  file << R"({"schema":"rharness.calls/v1","rank":0,"world":1,"digest":"sha256/64"})" << '\n';
  constexpr std::string_view kTensor =
      R"({{"digest":"{:07x}{:08x}{}","shape":[8,128,768],"dtype":"float32","norm":{}.4567891{}}})";
  for (int step = 0, call = 0; step < kSteps; ++step) {
    for (int order = 0; order < kCallsOfAStep; ++order, ++call) {
      const std::string_view mark = call < 5000 ? "0" : other;
      const std::string_view before = call <= 5000 ? "0" : other;
      const std::string input =
          fmt::format(kTensor, step, order, before, 100 + order,
                      order > 0 ? fmt::format(",\"from\":{}", order - 1) : "");
      file << fmt::format(
          R"({{"step":{},"order":{},"phase":"{}","module":"transformer.h.{}.mlp.c_fc","op":"{}","site":"model.py:{}","args":"beta=1, alpha=1","in":[{},{}],"out":[{}]}})"
          "\n",
          step, order, order < kCallsOfAStep / 3 ? "forward" : "backward", order / 20 % 48,
          kOps[order % 6], order % 300, input, fmt::format(kTensor, 0, order, "0", 12, ""),
          fmt::format(kTensor, step + 1, order, mark, 200 + order, ""));
    }
  }
  file << "{\"end\":true}\n";
  file.close();
  return file ? Status() : IoError("cannot write", path.string());
}

// Wall clock, the shortest of three.
Result<Usage> CompareCalls(const Context& context) {
  const fs::path a = context.scratch / "a.calls", b = context.scratch / "b.calls";
  if (!fs::exists(a)) RETURN_IF_ERROR(WriteCalls(a, "0"));
  if (!fs::exists(b)) RETURN_IF_ERROR(WriteCalls(b, "1"));
  std::optional<Usage> best;
  for (int round = 0; round < 3; ++round) {
    ASSIGN_OR_RETURN(const Usage usage,
                     RunChild({(context.bin / "rharness").string(), "--quiet", "compare", "--trace",
                               a.string(), b.string(), "--out", (context.scratch / "o").string()}));
    if (!best || usage.wall_seconds < best->wall_seconds) best = usage;
  }
  return *best;
}

Result<Measured> CallsTime(const Context& context) {
  ASSIGN_OR_RETURN(const Usage usage, CompareCalls(context));
  return Measured{
      usage.wall_seconds, fmt::format("{:.2f} s", usage.wall_seconds), "-",
      fmt::format("{:.2f} s of CPU; two threads; the shortest of 3", usage.cpu_seconds)};
}

Result<Measured> CallsMemory(const Context& context) {
  ASSIGN_OR_RETURN(const Usage usage, CompareCalls(context));
  return Measured{
      Mebibytes(usage), fmt::format("{:.0f} MiB", Mebibytes(usage)), "-",
      fmt::format("two files of {:.0f} MiB",
                  static_cast<double>(fs::file_size(context.scratch / "a.calls")) / kMebibyte)};
}

// The test program that asks a real Slurm, with a thousand reruns: calls, and CPU beside theirs.
Result<Measured> ThroughSlurm(const Context& context) {
  fs::path program = context.bin / "test_dispatch_slurm_load";
  if (!fs::exists(program)) {
    program = context.bin / "../../build/bin/test_dispatch_slurm_load";
  }
  if (!fs::exists(program)) return Unsupported("`./dev test` builds test_dispatch_slurm_load");
  const fs::path out = context.scratch / "slurm.txt";
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage usage,
                   RunChild({"env", "RHARNESS_LOAD=1000", program.string()}, out));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(out));
  const auto skipped = text.find("no Slurm here");
  if (skipped != text.npos) {
    return Unsupported(text.substr(skipped, text.find('\n', skipped) - skipped));
  }
  const auto after = [&](std::string_view words) {
    const auto at = text.find(words);
    return at == text.npos ? 0.0 : std::atof(text.c_str() + at + words.size());
  };
  const double ours = after("CPU of the drill ");
  const double clients = after("of Slurm's programs ");
  if (!(clients > 0.0)) return InvalidInput("says no CPU of Slurm's programs", program.string());
  return Measured{ours / clients, fmt::format("{:.2f} s", ours),
                  fmt::format("Slurm's programs {:.2f} s", clients),
                  fmt::format("{:.0f} calls of sbatch", after("\nsbatch "))};
}

}  // namespace

std::vector<Row> GrowthRows() {
  const auto memory_of = [](std::vector<std::string> verb) {
    return [verb](const Context& context) { return MemoryOf(context, verb); };
  };
  return {
      {"D2", "1,000 reruns through Slurm, CPU", Goal::kAtMost, 0.2, "", ThroughSlurm},
      {"M1a", "slo over 1,000,000 verdicts", Goal::kAtMost, 200, "MiB", memory_of({"slo"})},
      {"M1b", "trends over 1,000,000 verdicts", Goal::kAtMost, 200, "MiB",
       memory_of({"history", "trends"})},
      {"M1c", "serve over 1,000,000 verdicts", Goal::kAtMost, 200, "MiB", MemoryOfServe},
      {"O3a", "two traces of 1,000,000 calls compared, wall", Goal::kAtMost, 2, "s", CallsTime},
      {"O3b", "two traces of 1,000,000 calls compared", Goal::kAtMost, 190, "MiB", CallsMemory},
      {"R3a", "reports of 100,000 runs, CPU", Goal::kAtMost, 5, "s", ReportTime},
      {"R3b", "reports of 100,000 runs", Goal::kAtMost, 300, "MiB", ReportMemory},
      {"W1a", "300,000 differing tensors compared, CPU", Goal::kAtMost, 3, "s", ManyTensorsTime},
      {"W1b", "300,000 differing tensors compared", Goal::kAtMost, 300, "MiB", ManyTensorsMemory},
  };
}

}  // namespace rharness::bench
