// Writing the marker, and believing it.
#include "harness/execution/rerun/end_marker.h"

#include <fmt/format.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "ended.json";
constexpr std::uint64_t kMarkerBytes = 1 << 16;

fs::path EvidencePath(const Ticket& ticket) {
  return RerunFolder({}, ticket.run_id(), ticket.rerun) / "evidence.json";
}

struct Marker {
  std::string ticket_sha256;
  std::string evidence_sha256;
  std::uint64_t evidence_bytes = 0;
  std::string logs_sha256;
  bool infrastructure = false;
};

Result<Marker> ParseMarker(const std::string& text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  Marker marker;
  JsonReader reader(json, file);
  reader.ReadSchema("rharness.ended", 1);
  reader.Read("ticket_sha256", &marker.ticket_sha256);
  reader.Read("evidence_sha256", &marker.evidence_sha256);
  reader.Read("evidence_bytes", &marker.evidence_bytes);
  reader.Read("logs_sha256", &marker.logs_sha256);
  reader.Read("infrastructure", &marker.infrastructure);
  RETURN_IF_ERROR(reader.status());
  return marker;
}

Result<ProvenEnd> Prove(const HeldFolder& folder, const Marker& marker, const Ticket& ticket) {
  const fs::path path = EvidencePath(ticket);
  const std::string file = (folder.path() / path).string();
  ASSIGN_OR_RETURN(const std::string text, folder.ReadFile(path));
  if (text.size() != marker.evidence_bytes || Sha256HexOf(text) != marker.evidence_sha256) {
    return IntegrityError("is not the evidence of the end marker", file);
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  ASSIGN_OR_RETURN(Evidence evidence, ParseEvidence(json, file));
  if (evidence.ticket_sha256 != marker.ticket_sha256 || evidence.run_id != ticket.run_id() ||
      evidence.rerun != ticket.rerun || evidence.attempt != ticket.attempt) {
    return IntegrityError("is the evidence of another ticket", file);
  }
  ASSIGN_OR_RETURN(const std::string logs, LogsSha256(folder, evidence));
  if (logs != marker.logs_sha256) {
    return IntegrityError("does not have the logs of the end marker",
                          (folder.path() / path.parent_path()).string());
  }
  return ProvenEnd{.result = {std::move(evidence), marker.infrastructure},
                   .evidence_sha256 = marker.evidence_sha256,
                   .logs_sha256 = marker.logs_sha256};
}

}  // namespace

Status WriteEndMarker(const fs::path& folder, const Ticket& ticket, const RerunResult& result) {
  ASSIGN_OR_RETURN(const std::string evidence, ReadFile(folder / EvidencePath(ticket)));
  ASSIGN_OR_RETURN(std::string logs, LogsSha256(folder, result.evidence));
  const Json marker = Json::MakeObject({{"schema", "rharness.ended/v1"},
                                        {"ticket_sha256", TicketSha256(ticket)},
                                        {"evidence_sha256", Sha256HexOf(evidence)},
                                        {"evidence_bytes", evidence.size()},
                                        {"logs_sha256", std::move(logs)},
                                        {"infrastructure", result.infrastructure}});
  return WriteJsonFile(folder / kName, marker);
}

Result<std::optional<ProvenEnd>> ReadEndMarker(const fs::path& folder, const Ticket& ticket) {
  const auto held = HeldFolder::Open(folder);
  if (!held.ok() && held.error().code == ErrorCode::kNotFound) return std::optional<ProvenEnd>();
  if (!held.ok()) return held.error();
  const auto text = held->ReadFile(kName, kMarkerBytes);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return std::optional<ProvenEnd>();
  if (!text.ok()) return text.error();
  const std::string file = (folder / kName).string();
  ASSIGN_OR_RETURN(const Marker marker, ParseMarker(*text, file));
  if (marker.ticket_sha256 != TicketSha256(ticket)) {
    return IntegrityError("is the end of another ticket", file);
  }
  ASSIGN_OR_RETURN(ProvenEnd end, Prove(*held, marker, ticket));
  return std::optional(std::move(end));
}

Result<std::string> LogsSha256(const HeldFolder& folder, const Evidence& evidence) {
  Sha256 digest;
  for (const std::string& path : {evidence.stdout_path, evidence.stderr_path}) {
    std::string text;
    if (!path.empty()) {
      ASSIGN_OR_RETURN(text, folder.ReadFile(path));
    }
    digest.UpdateU64(text.size());
    digest.Update(text);
  }
  return ToHex(digest.Finish());
}

Result<std::string> LogsSha256(const fs::path& folder, const Evidence& evidence) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  return LogsSha256(held, evidence);
}

}  // namespace rharness
