// A ticket: one attempt of one rerun, with everything that a machine needs to carry it out.
//
// Role: a drill passes it, "rharness.ticket/v1", to this process or to another machine. A digest
// over all of it binds the evidence to it: evidence of another ticket does not count.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/ports.h"
#include "harness/execution/rerun/rerun_place.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/hardware_class.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// A drill's override of a recorded variable: its value, or none to unset it.
using EnvironmentOverrides = std::map<std::string, std::optional<std::string>>;
Json OverridesToJson(const EnvironmentOverrides& overrides);
void ReadOverrides(JsonReader& reader, std::string_view key, EnvironmentOverrides* out);

// What one task of a gang gets in place of what all get.
struct RankChange {
  int rank = 0;
  std::vector<std::string> command;  // empty: as recorded
  EnvironmentOverrides environment;
};

struct Ticket {
  std::string drill_id;
  int rerun = 1;    // 1, 2, ..., or a replicate's (RerunName)
  int attempt = 1;  // > 1 after infrastructure failures; never used twice
  // As in MakeLauncher; empty: the drill has none for the manifest's image.
  std::string launcher;
  bool container_root = false;  // under a rootful engine
  bool keep_workspace = false;  // after the rerun
  bool observe = true;          // if its record was observed
  Resources resources;          // limits, with every default filled in
  std::vector<int> gpus;        // of the machine; empty: those assigned there
  Places places;
  EnvironmentOverrides environment;
  std::vector<RankChange> ranks;            // of a gang: those that differ
  std::vector<Substitution> substitutions;  // of the recorded GPUs
  std::string node;                // the scheduler's required node, of a gang "N1,N2"; empty: any
  std::optional<PortRange> ports;  // of a gang: where its tasks may meet; empty: anywhere
  Manifest manifest;

  const std::string& run_id() const { return manifest.run_id; }
  std::string job() const { return manifest.run_id + "." + RerunName(rerun); }
};

Json ToJson(const Ticket& ticket);  // with "sha256", the digest over the rest
// Errors: invalid_input; integrity if the digest differs.
Result<Ticket> ParseTicket(const Json& json, std::string_view file);
Result<Ticket> LoadTicket(const std::filesystem::path& path);

// SHA-256 of the ticket's JSON in one line, without the digest itself.
std::string TicketSha256(const Ticket& ticket);
// Fills in whose evidence it is: run, rerun, attempt, and the digests of ticket and manifest.
void NameTicket(const Ticket& ticket, Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_H_
