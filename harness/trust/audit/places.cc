// Surroundings in one sentence.
#include "harness/trust/audit/places.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "harness/drill/surroundings.h"
#include "harness/trust/audit/run_facts.h"

namespace rharness {
namespace {

void Join(const std::string& part, std::string* words) {
  if (part.empty()) return;
  *words += (words->empty() ? "" : "; ") + part;
}

std::string StackWords(const Evidence& evidence) {
  std::string words;
  const Hardware& hardware = evidence.environment.hardware;
  if (!hardware.cpu.model.empty() || !hardware.gpus.empty()) Join(HardwareWords(hardware), &words);
  Join(SoftwareWords(evidence.environment), &words);
  if (!evidence.image_digest.empty()) Join("image " + evidence.image_digest, &words);
  return words;
}

Result<std::string> StackAt(const std::string& sha256, const Manifest& manifest,
                            HistoryStore* store) {
  const auto surroundings = store->GetSurroundings(sha256);
  const auto evidence = surroundings.ok()
                            ? EvidenceFrom(*surroundings, manifest, "surroundings " + sha256)
                            : Result<Evidence>(surroundings.error());
  if (evidence.ok()) return StackWords(*evidence);
  const Error& error = evidence.error();
  if (error.code == ErrorCode::kIo || error.code == ErrorCode::kTimeout) return error;
  return "what it was cannot be believed: " + error.message;
}

}  // namespace

Status AddPlaces(const Manifest& manifest, HistoryStore* store, AuditReport* report) {
  ASSIGN_OR_RETURN(const auto records, store->Verdicts(report->run_id));
  std::map<std::string, std::string> kept_of;  // surroundings by drill
  for (const VerdictRecord& one : records) kept_of[one.drill_id] = one.surroundings_sha256;
  std::map<std::string, std::string> stacks;
  for (AuditVerdict& verdict : report->verdicts) {
    ASSIGN_OR_RETURN(const auto measures, store->MeasuresOf(report->run_id, verdict.said.drill_id));
    if (measures && !measures->node.empty()) verdict.where = "node " + measures->node;
    const std::string& sha256 = kept_of[verdict.said.drill_id];
    if (sha256.empty()) continue;
    if (!stacks.contains(sha256)) {
      ASSIGN_OR_RETURN(stacks[sha256], StackAt(sha256, manifest, store));
    }
    Join(stacks[sha256], &verdict.where);
  }
  return {};
}

}  // namespace rharness
