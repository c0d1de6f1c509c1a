// Rows T1 and T4: rharness-weights-compare beside cmp and numpy.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
constexpr std::uint64_t kPairBytes = 384 * kMebi;
constexpr char kPython[] = "/usr/bin/python3";

std::string Comparer(const Context& context) {
  return (context.bin / "rharness-weights-compare").string();
}

// The bytes before the data of a safetensors file with one fp32 tensor.
std::string HeaderOf(std::uint64_t data_bytes) {
  std::string json = fmt::format(R"({{"w":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})",
                                 data_bytes / 4, data_bytes);
  while (json.size() % 8 != 0) json.push_back(' ');
  std::string header;
  for (std::size_t i = 0; i < 8; ++i) header.push_back(static_cast<char>(json.size() >> (8 * i)));
  return header + json;
}

// A checkpoint of pseudorandom finite values, the same for both names, made on first use.
Result<std::string> FullCheckpoint(const Context& context, const std::string& name) {
  const fs::path path = context.scratch / name;
  if (fs::exists(path)) return path.string();
  std::ofstream file(path, std::ios::binary);
  file << HeaderOf(kPairBytes);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> block(kMebi / 8);
  constexpr std::uint64_t kBelowTwo = 0xbfffffffbfffffff;  // keeps every exponent below infinity's
  for (std::uint64_t written = 0; written < kPairBytes; written += kMebi) {
    if (InterruptingSignal() != 0) return ProcessError("interrupted", path.string());
    for (std::uint64_t& word : block) word = random() & kBelowTwo;
    file.write(reinterpret_cast<const char*>(block.data()), kMebi);
  }
  file.close();
  if (!file) return IoError("cannot write", path.string());
  return path.string();
}

// A checkpoint of zeros that takes no space.
Result<std::string> SparseCheckpoint(const Context& context, const std::string& name,
                                     std::uint64_t data_bytes) {
  const fs::path path = context.scratch / name;
  const std::string header = HeaderOf(data_bytes);
  std::ofstream(path, std::ios::binary) << header;
  std::error_code error;
  fs::resize_file(path, header.size() + data_bytes, error);
  struct stat info {};
  if (error || ::stat(path.c_str(), &info) != 0) return IoError("cannot extend", path.string());
  if (static_cast<std::uint64_t>(info.st_blocks) * 512 > 16 * kMebi) {
    return Unsupported("this file system keeps no sparse files", path.string());
  }
  return path.string();
}

Result<Measured> BesideCmp(const Context& context) {
  if (!HasProgram("cmp")) return Unsupported("needs cmp");
  ASSIGN_OR_RETURN(const std::string a, FullCheckpoint(context, "weights0"));
  ASSIGN_OR_RETURN(const std::string b, FullCheckpoint(context, "weights1"));
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({{Comparer(context), a, b}, {"cmp", a, b}}, context.rounds));
  const double ours = MedianCpu(usages[0]);
  const double peer = MedianCpu(usages[1]);
  return Measured{peer / ours, fmt::format("{:.3f} s", ours), fmt::format("cmp {:.3f} s", peer),
                  ""};
}

// The process that only loads numpy is taken off, so that array_equal alone counts.
Result<Measured> BesideNumpy(const Context& context) {
  const Command import_only = {kPython, "-c", "import numpy"};
  if (!RunChild(import_only).ok()) return Unsupported("needs /usr/bin/python3 with numpy");
  ASSIGN_OR_RETURN(const std::string a, FullCheckpoint(context, "weights0"));
  ASSIGN_OR_RETURN(const std::string b, FullCheckpoint(context, "weights1"));
  const std::string equal = fmt::format(
      "import numpy, sys\n"
      "a, b = (numpy.memmap(p, dtype='<f4', mode='r', offset={}) for p in sys.argv[1:])\n"
      "sys.exit(0 if numpy.array_equal(a, b) else 1)",
      HeaderOf(kPairBytes).size());
  ASSIGN_OR_RETURN(
      const auto usages,
      Interleave({{Comparer(context), a, b}, {kPython, "-c", equal, a, b}, import_only},
                 context.rounds));
  const double ours = MedianCpu(usages[0]);
  const double import_cpu = MedianCpu(usages[2]);
  const double peer = MedianCpu(usages[1]) - import_cpu;
  return Measured{peer / ours, fmt::format("{:.3f} s", ours),
                  fmt::format("array_equal {:.3f} s", peer),
                  fmt::format("numpy's import of {:.3f} s taken off", import_cpu)};
}

// A child counts the pages that it shares with its parent until it becomes another program.
double OwnPeak() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

// The larger pair is looked at for what grows; both are holes, which read as zeros.
Result<Measured> PeakMemory(const Context& context) {
  std::vector<double> peaks;
  for (const std::uint64_t gibibytes : {1, 12}) {
    const std::uint64_t data_bytes = gibibytes << 30;
    const double header = static_cast<double>(HeaderOf(data_bytes).size());
    ASSIGN_OR_RETURN(const std::string a, SparseCheckpoint(context, "sparse0", data_bytes));
    ASSIGN_OR_RETURN(const std::string b, SparseCheckpoint(context, "sparse1", data_bytes));
    ASSIGN_OR_RETURN(const Usage usage, RunChild({Comparer(context), a, b, "0"}));
    peaks.push_back((static_cast<double>(usage.peak_bytes) - 2 * header) / kMebi);
    fs::remove(a);  // also from the page cache
    fs::remove(b);
  }
  return Measured{
      *std::max_element(peaks.begin(), peaks.end()),
      fmt::format("1 GiB {:.1f}, 12 GiB {:.1f} MiB", peaks[0], peaks[1]), "-",
      fmt::format("this program's own {:.1f} MiB are the least it can show", OwnPeak())};
}

}  // namespace

std::vector<Row> TensorRows() {
  return {
      {"T1a", "bitwise compare, 2 x 384 MiB, rate per CPU", Goal::kAtLeast, 2.0, "", BesideCmp},
      {"T1b", "bitwise compare, 2 x 384 MiB, rate per CPU", Goal::kAtLeast, 1.0, "", BesideNumpy},
      {"T4", "memory of a compare beyond the headers", Goal::kAtMost, 256, "MiB", PeakMemory},
  };
}

}  // namespace rharness::bench
