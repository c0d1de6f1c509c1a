// What rows share.
#include "tests/bench/gpu/gpu_bench.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness::bench {

std::string_view RowStatusName(RowStatus status) {
  constexpr std::string_view names[] = {"measured", "skipped", "failed"};
  return names[static_cast<std::size_t>(status)];
}

bool Wants(const GpuOptions& options, std::string_view id) { return id.starts_with(options.only); }

GpuRow WithoutValue(std::string id, std::string what, const Error& error) {
  GpuRow row{.id = std::move(id), .what = std::move(what)};
  row.status = error.code == ErrorCode::kNotFound ? RowStatus::kSkipped : RowStatus::kFailed;
  row.why = error.ToString();
  return row;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Result<std::size_t> BufferBytes(const GpuContext& context, std::size_t count) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const std::size_t free, context.device.FreeBytes());
  const std::size_t room = free / 5 * 4 / count;
  const std::size_t bytes = std::min(room, context.options.size_bytes) / kMiB * kMiB;
  if (bytes > 0) return bytes;
  return Unsupported(
      fmt::format("{} bytes of device memory are free; needs {} buffers of 1 MiB "
                  "and a fifth to spare",
                  free, count));
}

}  // namespace rharness::bench
