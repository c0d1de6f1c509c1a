// Tickets to JSON and back, and the digest that binds evidence to them.
#include "harness/execution/rerun/ticket.h"

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/execution/rerun/ticket_members.h"
#include "harness/records/manifest/manifest_members.h"

namespace rharness {
namespace {

std::string DigestOf(const Json& body) { return Sha256HexOf(body.Dump()); }

}  // namespace

Json OverridesToJson(const EnvironmentOverrides& overrides) {
  Json json = Json::MakeObject();
  for (const auto& [name, value] : overrides) json.Set(name, value);
  return json;
}

void ReadOverrides(JsonReader& reader, std::string_view key, EnvironmentOverrides* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& value) {
    auto& override = (*out)[name];
    if (!value.json().IsNull()) value.Get(&override.emplace());
  });
}

void PortsKind::Read(JsonReader& reader, std::string_view key, bool,
                     std::optional<PortRange>* out) {
  std::string text;
  reader.ReadOptional(key, &text);
  if (!reader.ok() || reader.over_values() || text.empty()) return;
  const auto ports = ParsePortRange(text);
  if (!ports.ok()) return reader.Fail(ports.error().message, key);
  *out = *ports;
}

void RecordedRunKind::Read(JsonReader& reader, std::string_view key, bool required, Manifest* out) {
  reader.ReadObject(key, required, [&](JsonReader& json) { StrictReader::ReadInto(json, *out); });
}

Json ToJson(const Ticket& ticket) {
  Json json = StrictWriter::Written(ticket);
  std::string digest = DigestOf(json);
  json.Set("sha256", std::move(digest));
  return json;
}

std::string TicketSha256(const Ticket& ticket) { return DigestOf(StrictWriter::Written(ticket)); }

void NameTicket(const Ticket& ticket, Evidence* evidence) {
  evidence->run_id = ticket.run_id();
  evidence->rerun = ticket.rerun;
  evidence->attempt = ticket.attempt;
  evidence->ticket_sha256 = TicketSha256(ticket);
  evidence->manifest_sha256 = ManifestSha256(ticket.manifest);
}

Result<Ticket> ParseTicket(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  IssuedTicket issued;
  StrictReader::ReadInto(reader, issued);
  RETURN_IF_ERROR(reader.status());
  if (TicketSha256(issued.ticket) == issued.sha256) return std::move(issued.ticket);
  return IntegrityError("is not the ticket that was issued: its content has another digest than " +
                            TerminalSafe(issued.sha256),
                        std::string(file));
}

Result<Ticket> LoadTicket(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path.string()));
  return ParseTicket(json, path.string());
}

}  // namespace rharness
