// The members of a ticket, in the order in which they are written and hashed. What is left out if
// it is empty came later: an older ticket keeps its digest.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_MEMBERS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_MEMBERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/strict_members.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/records/manifest/record_kinds.h"
#include "harness/records/manifest/setup_members.h"

namespace rharness {

// From 1 on: they become parts of paths.
struct OrdinalKind {
  static void Read(JsonReader& reader, std::string_view key, bool, int* out) {
    reader.Read(key, out);
    if (reader.ok() && *out < 1) reader.Fail("expected a number from 1 on", key);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "integer"}, {"minimum", 1}});
  }
};
inline constexpr OrdinalKind kOrdinal;

// From 0 on, and never left out: rank 0 is a rank as others are.
struct RankNumberKind {
  static void Read(JsonReader& reader, std::string_view key, bool, int* out) {
    reader.Read(key, out);
    if (reader.ok() && *out < 0) reader.Fail("expected a number from 0 on", key);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "integer"}, {"minimum", 0}});
  }
};

// These four are written elsewhere, too, and have codecs there.
struct PlacesKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, Places* out) {
    reader.ReadObject(key, required, [&](JsonReader& json) { ReadPlaces(json, out); });
  }
  static Json Write(const Places& places) { return ToJson(places); }
  static Json Describe(SchemaNoun&);
};
struct OverridesKind {
  static void Read(JsonReader& reader, std::string_view key, bool, EnvironmentOverrides* out) {
    ReadOverrides(reader, key, out);
  }
  static Json Describe(SchemaNoun&);
};
struct SubstitutionsKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<Substitution>* out) {
    reader.ReadEach(key, out, ReadSubstitution);
  }
  static Json Write(const std::vector<Substitution>& substitutions) {
    return ArrayOf(substitutions, [](const Substitution& one) { return ToJson(one); });
  }
  static Json Describe(SchemaNoun&);
};
struct RecordedRunKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, Manifest* out);
  static Json Write(const Manifest& manifest) { return ToJson(manifest); }
  static Json Describe(SchemaNoun&);
};

struct PortsKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::optional<PortRange>* out);
  static Json Write(const std::optional<PortRange>& ports) { return ports->ToString(); }
  static Json Describe(SchemaNoun&);
};

template <class Io, Is<RankChange> T>
void Members(Io& io, T& change) {
  io.Noun("What one task of a gang gets in place of what all get.");
  io.Must(RankNumberKind(), "rank", change.rank,
          About("Its number in the whole run.").Examples("3"));
  io.UnlessEmpty("command", change.command, "Its command; absent: as recorded.");
  io.UnlessEmpty(OverridesKind(), "environment", change.environment,
                 "Variables set over those of the ticket; null unsets one.");
}

template <class Io, Is<Ticket> T>
void Members(Io& io, T& ticket) {
  io.Schema("rharness.ticket", 1);
  io.Must(kNameText, "drill_id", ticket.drill_id,
          About("The drill that wants it.").Examples("20261120T080300Z-1f2e3d4c"));
  io.Must(kOrdinal, "rerun", ticket.rerun,
          About("Number of the rerun, from 1; a replicate's is above a million.").Examples("1"));
  io.Must(kOrdinal, "attempt", ticket.attempt,
          About("Number of the attempt, above 1 after failures of the infrastructure; one is "
                "never used twice.")
              .Examples("1"));
  io.May(kPlainText, "launcher", ticket.launcher,
         About("What runs it: host, podman, docker, apptainer, enroot or pod; empty: nothing fits "
               "the image.")
             .Examples("podman"));
  io.Must("container_root", ticket.container_root,
          "Containers of an engine that runs as root are root, too.");
  io.Must("keep_workspace", ticket.keep_workspace, "The folder that the rerun worked in is kept.");
  io.Object("resources", ticket.resources, "Limits, every default filled in; 0: none.");
  io.May("gpus", ticket.gpus,
         About("Which GPUs of the machine; empty: those that are given there.")
             .Least(0)
             .Examples("[0, 1]"));
  io.Must(PlacesKind(), "places", ticket.places,
          "Where data and code lie; nothing else may be read.");
  io.May(OverridesKind(), "environment", ticket.environment,
         About("Variables set over what was recorded; null unsets one.")
             .Examples(R"({"OMP_NUM_THREADS": "1", "LD_PRELOAD": null})"));
  io.Must(RecordedRunKind(), "manifest", ticket.manifest,
          "What was recorded: rharness.manifest/v1, as manifest.schema.json describes it.");
  io.Unless("observe", true, ticket.observe,
            "Whether it is looked at what the rerun uses, where its record has an observation; "
            "left out: yes.");
  io.UnlessEmpty(kPlainText, "node", ticket.node,
                 About("The node of the cluster that it is for, as its scheduler calls it, of a "
                       "gang as many between commas; missing: any.")
                     .Examples("gpu-07"));
  io.UnlessEmpty(SubstitutionsKind(), "substitutions", ticket.substitutions,
                 "GPUs that may stand in for the recorded ones; missing: none.");
  io.ListUnlessEmpty("ranks", ticket.ranks,
                     "Tasks of a gang with a command or variables of their own; missing: none.");
  io.UnlessEmpty(PortsKind(), "ports", ticket.ports,
                 About("Of a gang: the ports of node 0 at which its tasks may meet; missing: any.")
                     .Examples("29500-29999"));
}

// A ticket as it is written: with the digest that is over the rest.
struct IssuedTicket {
  Ticket ticket;
  std::string sha256;
};

template <class Io, Is<IssuedTicket> T>
void Members(Io& io, T& issued) {
  Members(io, issued.ticket);
  io.Must("sha256", issued.sha256,
          About("Of the other members as JSON in one line, in the order of the writer: evidence "
                "answers to it.")
              .Sha256());
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_MEMBERS_H_
