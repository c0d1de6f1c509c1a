// Rows G3 and G4: two buffers in device memory, their bits and their full statistics.
//
// A comparison reads both buffers, 2 S bytes; a copy reads S and writes S. So a comparison's share
// of the copy's bandwidth is (2 S / its time) / (2 S / the copy's time).
#include <fmt/format.h>

#include "tests/bench/gpu/device_comparison.h"
#include "tests/bench/gpu/gpu_bench.h"
#include "tests/bench/gpu/planted_data.h"

namespace rharness::bench {
namespace {

constexpr std::uint64_t kRareStep = 4096;
constexpr char kG3[] = "bits of two buffers: first difference, number";
constexpr char kG4[] = "full statistics in one pass, every element differs";
constexpr char kOfCopy[] =
    "device-to-device copy of the same size: (2 S / t) / (2 S / t of the copy)";

// Both sides on the device, and what the host says of them.
struct Pair {
  DeviceBuffer a, b;
  TensorDifference expected;
};

Result<Pair> UploadPair(const BenchDevice& device, DType dtype, const std::vector<std::byte>& a,
                        const std::vector<std::byte>& b) {
  Pair pair;
  ASSIGN_OR_RETURN(pair.a, device.device().Upload(a));
  ASSIGN_OR_RETURN(pair.b, device.device().Upload(b));
  pair.expected = ExpectedOf(dtype, a, b);
  return pair;
}

// One type's measurement. Data: one element in kRareStep differs, specials among them; and the same
// with every element changed.
class Measurement {
 public:
  Measurement(const GpuContext& context, const DeviceComparison& comparison, DType dtype)
      : context_(context), device_(context.device), comparison_(comparison), dtype_(dtype) {}

  Status Prepare() {
    RETURN_IF_ERROR(CheckPlanted());
    ASSIGN_OR_RETURN(bytes_, BufferBytes(context_, 5));
    elements_ = bytes_ * 8 / static_cast<std::size_t>(BitsOf(dtype_));
    std::vector<std::byte> a = SeededBuffer(dtype_, elements_, 1);
    std::vector<std::byte> b = a;
    ChangeEvery(dtype_, 0, kRareStep, &b);
    PlantSpecials(dtype_, &a, &b);
    ASSIGN_OR_RETURN(rare_, UploadPair(device_, dtype_, a, b));
    ChangeEvery(dtype_, 0, 1, &b);
    ASSIGN_OR_RETURN(all_, UploadPair(device_, dtype_, a, b));
    ASSIGN_OR_RETURN(copy_, device_.device().Allocate(bytes_));
    // Warms up, too.
    for (const Pair* pair : {&rare_, &all_}) RETURN_IF_ERROR(CheckPair(*pair, "timed data"));
    return device_.Copy(copy_, rare_.a);
  }

  Status Measure() {
    for (int round = 0; round < context_.options.rounds; ++round) {
      RETURN_IF_ERROR(Take(&copy_seconds_, [&] { return device_.Copy(copy_, rare_.a); }));
      RETURN_IF_ERROR(Take(&bits_seconds_, [&] { return Bits(rare_); }));
      RETURN_IF_ERROR(Take(&rare_seconds_, [&] { return Statistics(rare_); }));
      RETURN_IF_ERROR(Take(&all_seconds_, [&] { return Statistics(all_); }));
    }
    return {};
  }

  GpuRow BitsRow() const {
    GpuRow row{.id = "G3", .what = kG3};
    row.value = Median(copy_seconds_) / Median(bits_seconds_);
    row.of = kOfCopy;
    row.figures = {Rate("comparison", bits_seconds_), Rate("copy", copy_seconds_), Size()};
    row.note =
        fmt::format("{} of {} elements of 4 bytes differ", rare_.expected.differing, elements_);
    return row;
  }

  GpuRow StatisticsRow() const {
    const std::string name = dtype_ == DType::kF32 ? "fp32" : "bf16";
    GpuRow row{.id = "G4 " + name, .what = kG4};
    row.value = Median(copy_seconds_) / Median(all_seconds_);
    row.of = kOfCopy;
    row.figures = {Rate("comparison", all_seconds_),
                   Rate("comparison, one element in 4096 differs", rare_seconds_),
                   Rate("copy", copy_seconds_), Size()};
    return row;
  }

 private:
  Status Bits(const Pair& pair) const {
    return comparison_.EnqueueBits(dtype_, pair.a, pair.b, pair.expected.elements);
  }
  Status Statistics(const Pair& pair) const {
    return comparison_.EnqueueStatistics(dtype_, pair.a, pair.b, pair.expected.elements);
  }

  Status CheckPair(const Pair& pair, const std::string& name) const {
    RETURN_IF_ERROR(Bits(pair));
    RETURN_IF_ERROR(device_.device().Synchronize());
    ASSIGN_OR_RETURN(const BitStatistics bits, comparison_.ReadBits());
    std::string wrong = Disagreement(bits, pair.expected);
    if (!wrong.empty()) return IntegrityError("bits: " + wrong, name);
    RETURN_IF_ERROR(Statistics(pair));
    RETURN_IF_ERROR(device_.device().Synchronize());
    ASSIGN_OR_RETURN(const TensorDifference found,
                     comparison_.ReadStatistics(dtype_, pair.expected.elements));
    wrong = Disagreement(found, pair.expected);
    if (!wrong.empty()) return IntegrityError("statistics: " + wrong, name);
    return {};
  }

  Status CheckPlanted() const {
    for (const PlantedPair& planted : PlantedPairs(dtype_)) {
      ASSIGN_OR_RETURN(const Pair pair, UploadPair(device_, dtype_, planted.a, planted.b));
      RETURN_IF_ERROR(CheckPair(pair, planted.name));
    }
    return {};
  }

  Status Take(std::vector<double>* seconds, const std::function<Status()>& work) const {
    ASSIGN_OR_RETURN(const double taken, device_.Time(work));
    seconds->push_back(taken);
    return {};
  }

  Figure Rate(const char* name, const std::vector<double>& seconds) const {
    return {name, 2.0 * static_cast<double>(bytes_) / Median(seconds) * 1e-9, "GB/s"};
  }
  Figure Size() const { return {"S", static_cast<double>(bytes_ >> 20), "MiB"}; }

  const GpuContext& context_;
  const BenchDevice& device_;
  const DeviceComparison& comparison_;
  DType dtype_;
  std::size_t bytes_ = 0;
  std::uint64_t elements_ = 0;
  Pair rare_, all_;
  DeviceBuffer copy_;
  std::vector<double> copy_seconds_, bits_seconds_, rare_seconds_, all_seconds_;
};

Status AddRows(const GpuContext& context, DType dtype, std::vector<GpuRow>* rows) {
  ASSIGN_OR_RETURN(const auto comparison, DeviceComparison::Create(context.device));
  Measurement measurement(context, *comparison, dtype);
  RETURN_IF_ERROR(measurement.Prepare());
  RETURN_IF_ERROR(measurement.Measure());
  if (dtype == DType::kF32) rows->push_back(measurement.BitsRow());
  rows->push_back(measurement.StatisticsRow());
  return {};
}

}  // namespace

std::vector<GpuRow> ComparisonRows(GpuContext* context) {
  std::vector<GpuRow> rows;
  if (Wants(context->options, "G3") || Wants(context->options, "G4 fp32")) {
    const Status fp32 = AddRows(*context, DType::kF32, &rows);
    if (!fp32.ok()) {
      rows.push_back(WithoutValue("G3", kG3, fp32.error()));
      rows.push_back(WithoutValue("G4 fp32", kG4, fp32.error()));
    }
  }
  if (Wants(context->options, "G4 bf16")) {
    const Status bf16 = AddRows(*context, DType::kBF16, &rows);
    if (!bf16.ok()) rows.push_back(WithoutValue("G4 bf16", kG4, bf16.error()));
  }
  return rows;
}

}  // namespace rharness::bench
