// The JSON Schema of tickets, made from the list of their members. A first drill does not compile
// it.
#include "harness/execution/rerun/ticket_schema.h"

#include <string_view>
#include <utility>

#include "harness/base/member_schema.h"
#include "harness/execution/rerun/ticket_members.h"

namespace rharness {
namespace {

Json TextSchema(std::string_view description, std::string_view example) {
  return Json::MakeObject(
      {{"description", description}, {"type", "string"}, {"examples", Json::MakeArray({example})}});
}

Json ObjectSchema(Json::Array required, Json properties) {
  return Json::MakeObject({{"type", "object"},
                           {"required", Json::MakeArray(std::move(required))},
                           {"properties", std::move(properties)}});
}

Json ListSchema(Json items) {
  return Json::MakeObject({{"type", "array"}, {"items", std::move(items)}});
}

}  // namespace

Json PlacesKind::Describe(SchemaNoun&) {
  Json map = ObjectSchema(
      {"from", "to"},
      Json::MakeObject({{"from", TextSchema("What was recorded, or the front of it.", "s3://sets")},
                        {"to", TextSchema("Where it lies.", "/mnt/sets")}}));
  Json maps = ListSchema(std::move(map));
  maps.Set("description", "Recorded locations that lie elsewhere.");
  return ObjectSchema(
      {"root"},
      Json::MakeObject(
          {{"root", TextSchema("Folder that relative locations are below.", "/shared/runs")},
           {"maps", std::move(maps)},
           {"cache", TextSchema("Folder with data by their SHA-256, for what is not at its "
                                "location.",
                                "/shared/data-cache")},
           {"python", TextSchema("Python environment for the run in place of its own.",
                                 "/shared/envs/numpy-2")},
           {"environments", TextSchema("Folder where Python environments are made that are not "
                                       "here; absent: none is made.",
                                       "/shared/environments")}}));
}

Json PortsKind::Describe(SchemaNoun&) {
  return Json::MakeObject({{"type", "string"}, {"pattern", "^[0-9]+(-[0-9]+)?$"}});
}

Json OverridesKind::Describe(SchemaNoun&) {
  Json value = Json::MakeObject({{"type", Json::MakeArray({"string", "null"})}});
  return Json::MakeObject({{"type", "object"}, {"additionalProperties", std::move(value)}});
}

Json SubstitutionsKind::Describe(SchemaNoun&) {
  return ListSchema(ObjectSchema(
      {"recorded", "here", "why"},
      Json::MakeObject(
          {{"recorded", TextSchema("Model that was recorded; * and ? match.", "NVIDIA A100*40GB")},
           {"here", TextSchema("Model that may stand in.", "NVIDIA A100*80GB")},
           {"why", TextSchema("Who decided that, or what proves it.",
                              "same chip; signed by ada until 2027-06-30")}})));
}

Json RecordedRunKind::Describe(SchemaNoun&) {
  Json form = Json::MakeObject(
      {{"const", "rharness.manifest/v1"}, {"description", "Name and version of that form."}});
  return ObjectSchema({"schema"}, Json::MakeObject({{"schema", std::move(form)}}));
}

Json TicketSchema() {
  return SchemaOf<IssuedTicket>(
      {.id = "rharness.ticket/v1",
       .title = "rharness.ticket/v1",
       .description = "One attempt of one rerun, with all that a machine must be told to carry it "
                      "out: `rharness rerun TICKET --out DIR`.",
       .closed = true,
       .extensible = true});
}

}  // namespace rharness
