// Records out of the files that people write: baseline.jsonl and policies.
#include "harness/trust/audit/site_records.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/gate/baseline.h"
#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBaselineBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostPolicyFileBytes = std::uint64_t{1} << 20;

Sha256Bytes SiteDigest(std::string_view text) {
  return Sha256Of(std::as_bytes(std::span(text.data(), text.size())));
}

Json WaiverJson(const Waiver& waiver) {
  return Json::MakeObject({{"probes", waiver.probes},
                           {"reason", waiver.reason},
                           {"signed_by", waiver.signed_by},
                           {"until", FormatTime(waiver.until)}});
}

Json SubstituteJson(const Substitute& substitute) {
  Json proof = Json::MakeArray();
  for (const fs::path& path : substitute.proof) proof.Append(path.filename().string());
  return Json::MakeObject({{"recorded", substitute.recorded},
                           {"here", substitute.here},
                           {"reason", substitute.reason},
                           {"signed_by", substitute.signed_by},
                           {"until", FormatTime(substitute.until)},
                           {"proof", std::move(proof)}});
}

}  // namespace

std::string SiteName(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.string();
}

Result<std::vector<HeldRecord>> ReadBaselineRecords(const fs::path& folder) {
  const fs::path file = folder / kBaselineRecord;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostBaselineBytes));
  std::vector<HeldRecord> records;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    if (end == rest.npos) return IntegrityError("its last line has no end", file.string());
    records.push_back({kBaselineKind, fmt::format("{}/{}", SiteName(folder), records.size() + 1),
                       SiteDigest(rest.substr(0, end))});
    rest.remove_prefix(end + 1);
  }
  return records;
}

Result<std::vector<HeldRecord>> ReadPolicyRecords(const fs::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostPolicyFileBytes));
  ASSIGN_OR_RETURN(const Policy policy, ParsePolicy(text, file.string()));
  const std::string name = SiteName(file);
  std::vector<HeldRecord> records = {{kPolicyKind, name, SiteDigest(text)}};
  std::map<std::string, int> times;
  const auto add = [&](const char* kind, std::string one, const Json& content) {
    const int time = ++times[kind + one];
    if (time > 1) one += fmt::format(" #{}", time);
    records.push_back({kind, std::move(one), SiteDigest(content.Dump())});
  };
  for (const Waiver& one : policy.waivers) {
    add(kWaiverKind, fmt::format("{}/{}", name, one.probes), WaiverJson(one));
  }
  for (const Substitute& one : policy.substitutes) {
    add(kSubstituteKind, fmt::format("{}/{} -> {}", name, one.recorded, one.here),
        SubstituteJson(one));
  }
  return records;
}

}  // namespace rharness
