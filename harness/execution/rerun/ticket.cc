// Tickets to JSON and back, and the digest that binds evidence to them.
#include "harness/execution/rerun/ticket.h"

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

Json Body(const Ticket& ticket) {
  Json gpus = Json::MakeArray();
  for (const int gpu : ticket.gpus) gpus.Append(gpu);
  Json json = Json::MakeObject({{"schema", "rharness.ticket/v1"},
                                {"drill_id", ticket.drill_id},
                                {"rerun", ticket.rerun},
                                {"attempt", ticket.attempt},
                                {"launcher", ticket.launcher},
                                {"container_root", ticket.container_root},
                                {"keep_workspace", ticket.keep_workspace},
                                {"resources", ToJson(ticket.resources)},
                                {"gpus", std::move(gpus)},
                                {"places", ToJson(ticket.places)},
                                {"environment", OverridesToJson(ticket.environment)},
                                {"manifest", ToJson(ticket.manifest)}});
  // Left out if there are none, so that an older ticket keeps its digest.
  if (!ticket.observe) json.Set("observe", false);
  if (!ticket.node.empty()) json.Set("node", ticket.node);
  if (ticket.substitutions.empty()) return json;
  Json substitutions = Json::MakeArray();
  for (const Substitution& one : ticket.substitutions) substitutions.Append(ToJson(one));
  json.Set("substitutions", std::move(substitutions));
  return json;
}

std::string DigestOf(const Json& body) { return Sha256HexOf(body.Dump()); }

// From 1 on: they become parts of paths.
void ReadNumber(JsonReader& reader, std::string_view key, int* out) {
  reader.Read(key, out);
  if (reader.ok() && *out < 1) reader.Fail("expected a number from 1 on", key);
}

Result<Ticket> Read(const Json& json, std::string_view file, std::string* sha256) {
  Ticket ticket;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.ticket", 1);
  RefuseUnknownMembers(
      reader, {"schema", "drill_id", "rerun", "attempt", "launcher", "container_root",
               "keep_workspace", "resources", "gpus", "places", "environment", "substitutions",
               "node", "observe", "manifest", "sha256"});
  ReadName(reader, "drill_id", &ticket.drill_id);
  ReadNumber(reader, "rerun", &ticket.rerun);
  ReadNumber(reader, "attempt", &ticket.attempt);
  ReadText(reader, "launcher", &ticket.launcher);
  reader.Read("container_root", &ticket.container_root);
  reader.Read("keep_workspace", &ticket.keep_workspace);
  reader.ReadOptional("observe", &ticket.observe);
  reader.ReadObject("resources", true, [&](JsonReader& r) { ReadResources(r, &ticket.resources); });
  reader.ReadArray("gpus", &ticket.gpus);
  reader.ReadObject("places", true, [&](JsonReader& r) { ReadPlaces(r, &ticket.places); });
  ReadOverrides(reader, "environment", &ticket.environment);
  reader.ForEach("substitutions",
                 [&](JsonReader& r) { ReadSubstitution(r, &ticket.substitutions.emplace_back()); });
  if (reader.Has("node")) ReadName(reader, "node", &ticket.node);
  reader.Read("sha256", sha256);
  if (reader.ok() && !reader.Has("manifest")) reader.Fail("expected a manifest", "manifest");
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(ticket.manifest,
                   ParseManifest(*json.Find("manifest"), std::string(file) + ": manifest"));
  return ticket;
}

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

Json ToJson(const Ticket& ticket) {
  Json json = Body(ticket);
  std::string digest = DigestOf(json);
  json.Set("sha256", std::move(digest));
  return json;
}

std::string TicketSha256(const Ticket& ticket) { return DigestOf(Body(ticket)); }

Result<Ticket> ParseTicket(const Json& json, std::string_view file) {
  std::string stated;
  ASSIGN_OR_RETURN(Ticket ticket, Read(json, file, &stated));
  if (TicketSha256(ticket) == stated) return ticket;
  return IntegrityError("is not the ticket that was issued: its content has another digest than " +
                            TerminalSafe(stated),
                        std::string(file));
}

Result<Ticket> LoadTicket(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path.string()));
  return ParseTicket(json, path.string());
}

}  // namespace rharness
