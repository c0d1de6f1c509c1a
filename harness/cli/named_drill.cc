// report.json read once, and held.
#include "harness/cli/named_drill.h"

#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/journal.h"
#include "harness/history/store.h"
#include "harness/trust/attestation/held_report.h"

namespace rharness {

namespace fs = std::filesystem;

Result<NamedDrill> ReadNamedDrill(const std::string& source) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  std::error_code error;
  NamedDrill drill;
  drill.path =
      fs::is_directory(source, error) ? fs::path(source) / "report.json" : fs::path(source);
  const auto text = ReadFile(drill.path, kMostBytes);
  if (!text.ok()) {
    return Error{text.error().code,
                 text.error().message + "; expected a drill's folder or its report.json",
                 text.error().where};
  }
  ASSIGN_OR_RETURN(drill.json, ParseJson(*text, drill.path.string()));
  ASSIGN_OR_RETURN(drill.report, ParseReport(drill.json, drill.path.string()));
  drill.sha256 = Sha256HexOf(*text);
  return drill;
}

Status HoldNamedDrill(const std::string& history, NamedDrill* drill) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(history));
  const fs::path path = drill->folder() / "journal.jsonl";
  std::error_code error;
  JournalContent journal;
  if (fs::exists(path, error)) {
    ASSIGN_OR_RETURN(journal, ReadJournal(path));
  }
  drill->sessions = journal.sessions.size();
  ASSIGN_OR_RETURN(drill->held_id, HoldReport(drill->report, drill->json, journal, store.get(),
                                              drill->path.string()));
  ASSIGN_OR_RETURN(const auto entered, store->FindDrill(drill->held_id));
  if (!entered) return InternalError("a drill that was found is gone", drill->path.string());
  for (const RerunRecord& one : entered->reruns) {
    drill->evidence[{one.run_id, one.rerun}] = one.evidence_sha256;
  }
  return {};
}

}  // namespace rharness
