// rharness-gpu-bench: measures every row on one GPU, prints one table and writes JSON.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "harness/base/files.h"
#include "probes/library/version_text.h"
#include "tests/bench/gpu/gpu_bench.h"

namespace rharness::bench {
namespace {

constexpr int kFailed = 1, kUsage = 2, kNoDevice = 3, kError = 4;

struct Family {
  std::vector<std::string_view> ids;
  std::vector<GpuRow> (*rows)(GpuContext*);
};
const Family kFamilies[] = {
    {{"G1", "G2"}, TreeRows}, {{"G3", "G4 fp32", "G4 bf16"}, ComparisonRows}, {{"G5"}, DigestRows}};

constexpr char kUsageText[] =
    "usage: rharness-gpu-bench [--device cuda:N] [--library-path FOLDER] [--only PREFIX]\n"
    "                          [--rounds N] [--mebibytes N] [--terms N] [--limit-seconds N]\n"
    "                          [--json FILE]\n"
    "rounds from 1 to 99 (5); mebibytes of one buffer from 1 to 8192 (1024); terms of a sum from\n"
    "16 to 8192 (8192); seconds that G2 may take from 0 to 3600 (60)\n";

std::optional<int> WholeNumber(std::string_view text, int least, int most) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

bool SetOption(std::string_view flag, std::string_view value, GpuOptions* options) {
  if (flag == "--device") return options->context.device = value, true;
  if (flag == "--library-path") return options->context.library_paths.emplace_back(value), true;
  if (flag == "--only") return options->only = value, true;
  if (flag == "--json") return options->json = value, true;
  const auto number = [&](int least, int most, auto* to, int factor = 1) {
    const auto parsed = WholeNumber(value, least, most);
    if (parsed) *to = static_cast<std::remove_pointer_t<decltype(to)>>(*parsed) * factor;
    return parsed.has_value();
  };
  if (flag == "--rounds") return number(1, 99, &options->rounds);
  if (flag == "--limit-seconds") return number(0, 3600, &options->limit_seconds);
  if (flag == "--terms") return number(16, 8192, &options->terms);
  std::size_t mebibytes = 0;
  if (flag != "--mebibytes" || !number(1, 8192, &mebibytes)) return false;
  options->size_bytes = mebibytes << 20;
  return true;
}

Json FiguresJson(const std::vector<Figure>& figures) {
  Json all = Json::MakeArray();
  for (const Figure& figure : figures) {
    all.Append(Json::MakeObject()
                   .Set("name", figure.name)
                   .Set("value", figure.value)
                   .Set("unit", figure.unit));
  }
  return all;
}

Json RowJson(const GpuRow& row) {
  Json json;
  json.Set("id", row.id).Set("what", row.what).Set("status", RowStatusName(row.status));
  if (row.status != RowStatus::kMeasured) return json.Set("why", row.why);
  json.Set("value", row.value).Set("unit", row.unit).Set("of", row.of);
  return json.Set("figures", FiguresJson(row.figures)).Set("note", row.note);
}

Json ReportJson(const GpuContext& context, const std::vector<GpuRow>& rows) {
  const Device& device = context.device.device();
  Json json;
  json.Set("schema", "rharness.gpu_bench/v1");
  json.Set("device", Json::MakeObject()
                         .Set("name", device.name())
                         .Set("compute_capability",
                              fmt::format("{}.{}", device.compute() / 10, device.compute() % 10))
                         .Set("multiprocessors", device.multiprocessors()));
  json.Set("driver_cuda", CudaVersionText(context.device.driver().version()));
  json.Set("rounds", context.options.rounds);
  Json libraries = Json::MakeObject();
  for (const auto& [soname, described] : context.libraries)
    libraries.Set(soname, WithDigest(described));
  json.Set("libraries", std::move(libraries));
  Json all = Json::MakeArray();
  for (const GpuRow& row : rows) all.Append(RowJson(row));
  return json.Set("rows", std::move(all));
}

void PrintRow(const GpuRow& row) {
  if (row.status != RowStatus::kMeasured) {
    fmt::print("{:8} {}: {}: {}\n", row.id, row.what, RowStatusName(row.status), row.why);
    return;
  }
  fmt::print("{:8} {:56} {:10.3f}{}  of {}\n", row.id, row.what, row.value, row.unit, row.of);
  for (const Figure& figure : row.figures) {
    fmt::print("{:8}   {:54} {:10.6g} {}\n", "", figure.name, figure.value, figure.unit);
  }
  if (!row.note.empty()) fmt::print("{:8}   {}\n", "", row.note);
}

void PrintStack(const GpuContext& context) {
  const Device& device = context.device.device();
  fmt::print("device {}, compute capability {}.{}, driver of CUDA {}; medians of {} rounds\n",
             device.name(), device.compute() / 10, device.compute() % 10,
             CudaVersionText(context.device.driver().version()), context.options.rounds);
}

std::vector<GpuRow> MeasureAll(GpuContext* context) {
  std::vector<GpuRow> rows;
  const auto wanted = [&](std::string_view id) { return Wants(context->options, id); };
  for (const Family& family : kFamilies) {
    if (std::ranges::none_of(family.ids, wanted)) continue;
    for (GpuRow& row : family.rows(context)) {
      if (!wanted(row.id)) continue;
      PrintRow(row);
      std::fflush(stdout);
      rows.push_back(std::move(row));
    }
  }
  for (const auto& [soname, library] : context->libraries) {
    fmt::print("{} {}, {}\n", soname, library.Find("version")->AsString(),
               library.Find("path")->AsString());
  }
  return rows;
}

int Main(int argc, char** argv) {
  GpuOptions options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && SetOption(argv[i], argv[i + 1], &options)) continue;
    fmt::print(stderr, "{}", kUsageText);
    return kUsage;
  }
  const auto device = BenchDevice::Open(options.context);
  if (!device.ok()) {
    const bool absent = device.error().code == ErrorCode::kNotFound;
    fmt::print("{}: {}\n", absent ? "no device" : "rharness-gpu-bench", device.error().ToString());
    return absent ? kNoDevice : kError;
  }
  GpuContext context{options, **device, {}};
  // The file's name tells the driver's own version, which the driver does not.
  const CudaDriver& driver = (*device)->driver();
  context.libraries.emplace(driver.library().soname(),
                            DescribeLibrary(driver.library(), CudaVersionText(driver.version())));
  PrintStack(context);
  const std::vector<GpuRow> rows = MeasureAll(&context);
  if (!options.json.empty()) {
    const Status written = WriteJsonFile(options.json, ReportJson(context, rows));
    if (!written.ok()) {
      fmt::print(stderr, "rharness-gpu-bench: {}\n", written.error().ToString());
      return kError;
    }
  }
  const bool failed =
      std::ranges::any_of(rows, [](const GpuRow& row) { return row.status == RowStatus::kFailed; });
  return failed ? kFailed : 0;
}

}  // namespace
}  // namespace rharness::bench

int main(int argc, char** argv) { return rharness::bench::Main(argc, argv); }
