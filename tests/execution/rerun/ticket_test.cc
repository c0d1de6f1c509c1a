// Tickets: what one machine tells another, whole and unchanged.
#include "harness/execution/rerun/ticket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/execution/rerun/ticket_schema.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

using testing::HasSubstr;

Ticket Example() {
  Ticket ticket{.drill_id = "20261120T080300Z-1f2e3d4c",
                .rerun = 2,
                .attempt = 3,
                .launcher = "podman",
                .container_root = true,
                .keep_workspace = true,
                .observe = false,
                .resources = {.cpus = 4,
                              .gpus = 2,
                              .memory_bytes = 1U << 30,
                              .disk_bytes = 7,
                              .timeout_seconds = 0.1},
                .gpus = {1, 3},
                .places = {.root = "/srv",
                           .maps = {{"s3://sets", "/mnt/sets"}},
                           .cache = {},
                           .python = "/envs/numpy-2",
                           .environments = "/envs/made"},
                .environment = {{"A", "1"}, {"B", std::nullopt}}};
  ticket.manifest.run_id = "digits-1";
  ticket.manifest.command = {"python3", "train.py"};
  ticket.manifest.duration_seconds = 0.3;
  ticket.manifest.seeds["numpy"] = -7;
  return ticket;
}

TEST(Ticket, SaysWhatOneRankGets) {
  Ticket ticket = Example();
  ticket.ports = PortRange{29500, 29999};
  ticket.node = "n1,n2";
  ticket.ranks = {
      {.rank = 3, .command = {"train"}, .environment = {{"A", "2"}, {"B", std::nullopt}}}};
  const auto again = ParseTicket(ToJson(ticket), "t.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->node, "n1,n2");
  EXPECT_EQ(again->ports, ticket.ports);
  ASSERT_EQ(again->ranks.size(), 1U);
  EXPECT_EQ(again->ranks[0].rank, 3);
  EXPECT_EQ(again->ranks[0].command, std::vector<std::string>{"train"});
  EXPECT_EQ(again->ranks[0].environment, ticket.ranks[0].environment);
  EXPECT_NE(TicketSha256(ticket), TicketSha256(Example()));
}

// Evidence answers to it. The digest of version 0.1.0, 2026-11-29.
TEST(Ticket, KeepsItsDigest) {
  EXPECT_EQ(TicketSha256(Example()),
            "0542f04455e726ea1bdaac59066a96d48853284ac75d295c3eed25fdaf46db88");
}

TEST(Ticket, ComesBackAsItWas) {
  const Json json = ToJson(Example());
  const auto again = ParseTicket(json, "t.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(), json.Dump());
  EXPECT_EQ(again->job(), "digits-1.2");
  EXPECT_EQ(again->gpus, (std::vector<int>{1, 3}));
  EXPECT_EQ(again->environment, Example().environment);
  EXPECT_EQ(again->places.maps, Example().places.maps);
  EXPECT_EQ(again->places.python, "/envs/numpy-2");
  EXPECT_EQ(json.Find("sha256")->AsString(), TicketSha256(*again));
}

TEST(Ticket, MayBeForOneNode) {
  Ticket ticket = Example();
  const std::string anywhere = TicketSha256(ticket);
  EXPECT_EQ(ToJson(ticket).Find("node"), nullptr) << "tickets of before keep their digests";
  ticket.node = "n1";
  EXPECT_NE(TicketSha256(ticket), anywhere);
  const auto again = ParseTicket(ToJson(ticket), "t.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->node, "n1");
}

// Whatever is changed, added or taken away.
TEST(Ticket, WithAnyMemberChangedIsRefused) {
  const Json whole = ToJson(Example());
  for (const auto& [name, value] : whole.AsObject()) {
    for (const Json& other : {Json("x"), Json(9), Json(false), Json()}) {
      Json changed = whole;
      changed.Set(name, other);
      if (changed.Dump() == whole.Dump()) continue;
      const auto ticket = ParseTicket(changed, "t.json");
      ASSERT_FALSE(ticket.ok()) << name << " = " << other.Dump();
      EXPECT_THAT(ticket.error().ToString(), HasSubstr("t.json"));
    }
  }
  Json other_run = whole;
  Json manifest = *whole.Find("manifest");
  manifest.Set("run_id", "digits-2");
  other_run.Set("manifest", manifest);
  EXPECT_EQ(ParseTicket(other_run, "t.json").error().code, ErrorCode::kIntegrity);
  Json more = whole;
  more.Set("command", "rm");
  EXPECT_THAT(ParseTicket(more, "t.json").error().ToString(), HasSubstr("command"));
}

TEST(Ticket, OfEveryAttemptHasADigestOfItsOwn) {
  Ticket other = Example();
  ++other.attempt;
  EXPECT_NE(TicketSha256(other), TicketSha256(Example()));
  other = Example();
  other.environment["A"] = "2";
  EXPECT_NE(TicketSha256(other), TicketSha256(Example()));
}

// They become parts of paths and names.
TEST(Ticket, WithoutANumberOfItsOwnIsRefused) {
  for (const char* member : {"rerun", "attempt"}) {
    for (const int number : {0, -1}) {
      Json json = ToJson(Example());
      json.Set(member, number);
      const auto ticket = ParseTicket(json, "t.json");
      ASSERT_FALSE(ticket.ok());
      EXPECT_EQ(ticket.error().code, ErrorCode::kInvalidInput);
      EXPECT_THAT(ticket.error().ToString(), HasSubstr(member));
    }
  }
}

// Every member that a ticket can have, but for those of the manifest, which has a schema of its
// own.
Json WholeTicket() {
  Ticket ticket = Example();
  ticket.node = "gpu-07";
  ticket.substitutions = {{.recorded = "A", .here = "B", .why = "signed"}};
  ticket.ports = PortRange{29500, 29999};
  ticket.ranks = {
      {.rank = 3, .command = {"train", "--seed", "8"}, .environment = {{"A", std::nullopt}}}};
  Json json = ToJson(ticket);
  json.Set("manifest", Json::MakeObject({{"schema", "rharness.manifest/v1"}}));
  return json;
}

TEST(TicketSchema, DescribesEveryMemberThatIsWritten) {
  const Json schema = TicketSchema();
  ExpectDescribed(schema, WholeTicket());
  std::set<std::string> missing;
  CollectDescribed(schema, &missing);
  EXPECT_EQ(missing, std::set<std::string>{});
  std::set<std::string> unwritten;
  for (const auto& [name, member] : schema.Find("properties")->AsObject()) {
    if (WholeTicket().Find(name) == nullptr) unwritten.insert(name);
  }
  EXPECT_EQ(unwritten, std::set<std::string>{});
}

TEST(TicketSchema, RequiresWhatTheReaderRequires) {
  Ticket ticket = Example();
  ticket.node = "gpu-07";
  ticket.substitutions = {{.recorded = "A", .here = "B", .why = "signed"}};
  const Json whole = ToJson(ticket);
  // Of another content, the digest is another one; the form is what is asked here.
  const auto accepts = [&](const Json& json) {
    Json with_manifest = json;
    const Json* manifest = json.Find("manifest");
    if (manifest != nullptr && manifest->Find("schema") != nullptr) {
      with_manifest.Set("manifest", *whole.Find("manifest"));
    }
    const auto parsed = ParseTicket(with_manifest, "t.json");
    return parsed.ok() || parsed.error().code == ErrorCode::kIntegrity;
  };
  ExpectSameRequirements(TicketSchema(), WholeTicket(), accepts, 25);
}

TEST(TicketSchema, AgreesWithAnIndependentValidator) {
  const int whole = ValidateBy(TicketSchema(), WholeTicket());
  if (whole == 77) GTEST_SKIP() << "python3 with the package jsonschema is not installed";
  EXPECT_EQ(whole, 0);
  EXPECT_EQ(ValidateBy(TicketSchema(), ToJson(Example())), 0);
  for (const auto& [name, value] : std::map<std::string, Json>{
           {"attempt", Json(0)}, {"sha256", Json("x")}, {"nodes", Json("n1")}, {"gpus", Json(1)}}) {
    Json wrong = WholeTicket();
    wrong.Set(name, value);
    EXPECT_EQ(ValidateBy(TicketSchema(), wrong), 1) << name;
  }
}

}  // namespace
}  // namespace rharness
