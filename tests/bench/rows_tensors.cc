// Rows T1, T2 and T4: rharness-weights-compare beside cmp, numpy and a pass that only reads.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
constexpr std::uint64_t kPairBytes = 384 * kMebi;

std::string Comparer(const Context& context) {
  return (context.bin / "rharness-weights-compare").string();
}

// Random words of finite elements: exponents stay below infinity's. Of these bits each changes in a
// quarter of all elements.
constexpr std::uint64_t kFinite = 0xbfffffffbfffffff;
constexpr std::uint64_t kChanged = 0x0000ffff0000ffff;

// The bytes before the data of a safetensors file with one tensor.
std::string HeaderOf(std::uint64_t data_bytes) {
  std::string json = fmt::format(R"({{"w":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})",
                                 data_bytes / sizeof(float), data_bytes);
  while (json.size() % 8 != 0) json.push_back(' ');
  std::string header;
  for (std::size_t i = 0; i < 8; ++i) header.push_back(static_cast<char>(json.size() >> (8 * i)));
  return header + json;
}

// A checkpoint of pseudorandom values, made on first use; the same words for every name, changed in
// places if asked.
Result<std::string> FullCheckpoint(const Context& context, const std::string& name,
                                   bool change = false) {
  const fs::path path = context.scratch / name;
  if (fs::exists(path)) return path.string();
  std::ofstream file(path, std::ios::binary);
  file << HeaderOf(kPairBytes);
  std::mt19937_64 random(1), change_random(2);
  std::vector<std::uint64_t> block(kMebi / 8);
  for (std::uint64_t written = 0; written < kPairBytes; written += kMebi) {
    if (InterruptingSignal() != 0) return ProcessError("interrupted", path.string());
    for (std::uint64_t& word : block) {
      word = random() & kFinite;
      if (change) word ^= change_random() & change_random() & kChanged;
    }
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

// Both files through `cat`: what one core can read at all, if nothing looks at the bytes.
Result<Measured> BesideReading(const Context& context) {
  ASSIGN_OR_RETURN(const std::string a, FullCheckpoint(context, "weights0"));
  ASSIGN_OR_RETURN(const std::string b, FullCheckpoint(context, "weights1"));
  ASSIGN_OR_RETURN(const auto usages,
                   Interleave({{Comparer(context), a, b}, {"cat", a, b}}, context.rounds));
  const double ours = MedianCpu(usages[0]);
  const double peer = MedianCpu(usages[1]);
  return Measured{peer / ours, fmt::format("{:.3f} s", ours), fmt::format("cat {:.3f} s", peer),
                  "reads both files and compares nothing"};
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

// The same statistics in numpy, by chunks that stay in the cache.
std::string StatisticsScript() {
  return fmt::format(R"(
import numpy as np, sys
a, b = (np.memmap(p, dtype='<f4', mode='r', offset={}) for p in sys.argv[1:])
differing = nan_changes = max_ulp = 0
first = None
max_abs = max_rel = aa = bb = dd = ab = 0.0
histogram = np.zeros(65, np.int64)
step = 1 << 15
np.seterr(divide='ignore', invalid='ignore')
for begin in range(0, len(a), step):
    x, y = a[begin:begin + step], b[begin:begin + step]
    i, j = x.view('<i4'), y.view('<i4')
    unequal = i != j
    count = np.count_nonzero(unequal)
    if first is None and count: first = begin + unequal.argmax()
    differing += count
    u, v = x.astype('f8'), y.astype('f8')
    nan_changes += np.count_nonzero(np.isnan(u) != np.isnan(v))
    finite = np.isfinite(u) & np.isfinite(v)
    if not finite.all(): u, v, i, j = u[finite], v[finite], i[finite], j[finite]
    d = u - v
    distance = np.abs(d)
    max_abs = max(max_abs, distance.max())
    max_rel = max(max_rel, np.nanmax(distance / np.maximum(np.abs(u), np.abs(v))))
    p = np.where(i < 0, i ^ 0x7fffffff, i).astype('i8')
    q = np.where(j < 0, j ^ 0x7fffffff, j).astype('i8')
    steps = np.abs(p - q)
    max_ulp = max(max_ulp, steps.max())
    histogram += np.bincount(np.frexp(steps)[1], minlength=65)
    aa += u @ u
    bb += v @ v
    dd += d @ d
    ab += u @ v
for name, number in (
        ('differing', differing), ('first_index', first), ('max_abs', float(max_abs)),
        ('max_rel', float(max_rel)), ('max_ulp', max_ulp), ('nan_changes', nan_changes),
        ('norm_a', aa ** 0.5), ('norm_b', bb ** 0.5), ('norm_difference', dd ** 0.5),
        ('cosine', ab / aa ** 0.5 / bb ** 0.5)):
    print(name, repr(float(number)) if isinstance(number, float) else number)
for k in range(64): print('ulp_2^%d' % k, histogram[k + 1])
)",
                     HeaderOf(kPairBytes).size());
}

// Sums depend on their order a little; all else must be the same.
Status CheckSameNumbers(const Context& context, const Command& ours, const Command& peer) {
  ASSIGN_OR_RETURN(const auto numbers, NumbersOf(context, ours));
  ASSIGN_OR_RETURN(const auto peer_numbers, NumbersOf(context, peer));
  for (const auto& [name, number] : peer_numbers) {
    const bool is_sum = name.starts_with("norm") || name == "cosine";
    const auto at = numbers.find(name);
    if (at == numbers.end() ||
        std::abs(at->second - number) > (is_sum ? 1e-9 * std::abs(number) : 0)) {
      return IntegrityError("our statistics and numpy's are not the same", name);
    }
  }
  return {};
}

Result<Measured> StatisticsBesideNumpy(const Context& context) {
  const Command import_only = {kPython, "-c", "import numpy"};
  if (!RunChild(import_only).ok()) return Unsupported("needs /usr/bin/python3 with numpy");
  ASSIGN_OR_RETURN(const std::string a, FullCheckpoint(context, "weights0"));
  ASSIGN_OR_RETURN(const std::string b, FullCheckpoint(context, "changed", true));
  const Command ours = {Comparer(context), a, b, "1", "differ"};
  const Command numpy = {kPython, "-c", StatisticsScript(), a, b};
  RETURN_IF_ERROR(CheckSameNumbers(context, ours, numpy));
  ASSIGN_OR_RETURN(const auto usages, Interleave({ours, numpy, import_only}, context.rounds));
  const double seconds = MedianCpu(usages[0]);
  const double import_cpu = MedianCpu(usages[2]);
  const double peer = MedianCpu(usages[1]) - import_cpu;
  return Measured{peer / seconds, fmt::format("{:.3f} s", seconds),
                  fmt::format("numpy {:.3f} s", peer),
                  fmt::format("same results; numpy's import of {:.3f} s taken off", import_cpu)};
}

std::string RateOf(double cpu_seconds) {
  return fmt::format("{:.2f} GB/s", 2e-9 * static_cast<double>(kPairBytes) / cpu_seconds);
}

Result<Measured> StatisticsBesideBits(const Context& context) {
  ASSIGN_OR_RETURN(const std::string a, FullCheckpoint(context, "weights0"));
  ASSIGN_OR_RETURN(const std::string same, FullCheckpoint(context, "weights1"));
  ASSIGN_OR_RETURN(const std::string b, FullCheckpoint(context, "changed", true));
  ASSIGN_OR_RETURN(const auto usages, Interleave({{Comparer(context), a, b, "1", "differ"},
                                                  {Comparer(context), a, same}},
                                                 context.rounds));
  const double ours = MedianCpu(usages[0]);
  const double bits = MedianCpu(usages[1]);
  return Measured{bits / ours, RateOf(ours), "bitwise " + RateOf(bits), "both files"};
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
  const std::string bits = "bitwise compare, 2 x 384 MiB, rate per CPU";
  return {
      {"T1a", bits, Goal::kAtLeast, 2.0, "", BesideCmp},
      {"T1b", bits, Goal::kAtLeast, 1.0, "", BesideNumpy},
      {"T1c", bits, Goal::kAtLeast, 0.9, "", BesideReading},
      {"T2a", "full statistics, fp32, rate per CPU", Goal::kAtLeast, 30.0, "",
       StatisticsBesideNumpy},
      {"T2b", "full statistics, fp32, rate per CPU", Goal::kAtLeast, 0.5, "", StatisticsBesideBits},
      {"T4", "memory of a compare beyond the headers", Goal::kAtMost, 256, "MiB", PeakMemory},
  };
}

}  // namespace rharness::bench
