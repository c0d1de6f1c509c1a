// Probe cub_reduce_tree_cuda: the order in which CUB sums on a device, at each promise that it
// makes of its order. It follows CUB's version, the device's architecture and, for long sums, the
// number of its multiprocessors.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "probes/gpu/cub_launch.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

// A tile is 4096 values of fp32 and 2048 of fp64 up to compute capability 9.0, and more later. So:
// part of a tile, a full one, and several with a ragged end.
constexpr int kTreeSizes[] = {1000, 4096, 10000};
// More than all blocks of the largest devices process in one round, so that blocks process several
// tiles and their number shows.
constexpr std::size_t kLargeSize = std::size_t{1} << 25;
// CUB loads vectors if the address allows: all rows are aligned like the first.
constexpr std::size_t kRowMultiple = 64;

template <class T>
constexpr std::string_view kTypeName = std::is_same_v<T, float> ? "fp32" : "fp64";

template <class T>
const T* PointerTo(const DeviceBuffer& buffer) {
  return static_cast<const T*>(buffer.pointer());
}

// One sum by CUB a row, one row a question, all rows in one upload.
template <class T>
class CubMaskedSum : public MaskedSum {
 public:
  CubMaskedSum(const Device& device, CubOrder order, int n)
      : device_(device), order_(order), n_(n) {}

  int size() const override { return n_; }
  int max_batch() const override { return 64; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const std::size_t stride =
        (static_cast<std::size_t>(n_) + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
    const T mask = std::ldexp(T{1}, std::is_same_v<T, float> ? 120 : 1000);
    std::vector<T> rows(pairs.size() * stride, T{0});
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      T* row = rows.data() + q * stride;
      std::fill(row + units.begin, row + units.end, T{1});
      row[pairs[q].plus] = mask;
      row[pairs[q].minus] = -mask;
    }
    ASSIGN_OR_RETURN(const DeviceBuffer in, device_.Upload(rows));
    ASSIGN_OR_RETURN(const DeviceBuffer out, device_.Allocate(pairs.size() * sizeof(T)));
    const CubRows<T> all{PointerTo<T>(in), stride, n_, static_cast<int>(pairs.size())};
    RETURN_IF_ERROR(CubSum(order_, all, static_cast<T*>(out.pointer())));
    ASSIGN_OR_RETURN(const auto bytes, device_.Read(out, pairs.size() * sizeof(T)));
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      T sum = 0;
      std::memcpy(&sum, bytes.data() + q * sizeof(T), sizeof(T));
      counts[q] = static_cast<double>(sum);
    }
    return {};
  }

 private:
  const Device& device_;
  CubOrder order_;
  int n_;
};

// Sums of seeded values of scales that differ, so that the order shows in the last bits.
template <class T>
Status RecordSums(const ProbeContext& context, const Device& device, CubOrder order,
                  const std::string& name, ProbeResult* result) {
  const std::vector<float> seeded = RoundingValues(kLargeSize, context.seed);
  std::vector<T> values(seeded.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(seeded[i]) * (T{1} + static_cast<T>(i % 997)) / T{3};
  }
  ASSIGN_OR_RETURN(const DeviceBuffer in, device.Upload(values));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device.Allocate(sizeof(T)));
  for (const std::size_t n : {std::size_t{10000}, std::size_t{1} << 20, kLargeSize}) {
    const auto sum = [&]() -> Result<std::vector<std::byte>> {
      const CubRows<T> row{PointerTo<T>(in), 0, static_cast<int>(n), 1};
      RETURN_IF_ERROR(CubSum(order, row, static_cast<T*>(out.pointer())));
      return device.Read(out, sizeof(T));
    };
    const auto made = RecordBits(context, fmt::format("{} seeded {}", name, n), sum, result);
    if (!made.ok()) return made.error();
  }
  return {};
}

template <class T>
Status RecordType(const ProbeContext& context, const Device& device, ProbeResult* result) {
  for (const CubOrder order : kCubOrders) {
    const std::string name = fmt::format("{} {}", kTypeName<T>, CubOrderName(order));
    if (!CubOffers(order)) {
      result->notes.push_back(fmt::format("{}: not in CCCL {}", name, CcclVersion()));
      continue;
    }
    for (const int n : kTreeSizes) {
      CubMaskedSum<T> sum(device, order, n);
      RETURN_IF_ERROR(RecordTree(context, fmt::format("{} {}", name, n), sum, result));
    }
    RETURN_IF_ERROR(RecordSums<T>(context, device, order, name, result));
  }
  return {};
}

Result<ProbeResult> MeasureCubReduceTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const int ordinal, DeviceOrdinal(context.device));
  RETURN_IF_ERROR(StartCub(ordinal, device->driver().version()));
  ProbeResult result;
  result.parameters.Set("seed", context.seed);
  result.libraries["cub"] =
      Json::MakeObject().Set("cccl", CcclVersion()).Set("cuda_runtime", CubRuntimeVersion());
  RETURN_IF_ERROR(RecordType<float>(context, *device, &result));
  RETURN_IF_ERROR(RecordType<double>(context, *device, &result));
  return result;
}

ProbeResult RunCubReduceTree(const ProbeContext& context) {
  return Finish(MeasureCubReduceTree(context));
}

const RegisterProbe kCubReduceTreeProbe(
    {.name = "cub_reduce_tree_cuda",
     .family = "reduction",
     .summary = "order and bits of CUB's sums, at each promise of its order",
     .device = ProbeDevice::kGpu,
     .run = RunCubReduceTree,
     .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
