// The members of evidence, in the order in which they are written. What is left out if it is empty
// came later.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_MEMBERS_H_

#include <chrono>
#include <optional>
#include <string>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment_members.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/file_members.h"
#include "harness/records/manifest/gang_members.h"
#include "harness/records/manifest/observation_members.h"
#include "harness/records/manifest/result_members.h"
#include "harness/records/manifest/setup_members.h"

namespace rharness {

inline constexpr std::array<OutcomeKind, 8> kOutcomeKinds = {
    OutcomeKind::kExited,      OutcomeKind::kSignalled, OutcomeKind::kTimedOut,
    OutcomeKind::kMemoryLimit, OutcomeKind::kDiskLimit, OutcomeKind::kCancelled,
    OutcomeKind::kLost,        OutcomeKind::kNotStarted};
inline const NameTable<OutcomeKind, 8> kOutcomeNames = NamesFrom(OutcomeKindName, kOutcomeKinds);

// Seconds. Reading rounds to the nanosecond, which is exact up to 26 days.
struct SecondsKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::chrono::nanoseconds* out);
  static Json Write(std::chrono::nanoseconds span) {
    return std::chrono::duration<double>(span).count();
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "number"}, {"minimum", 0}, {"maximum", 9e9}});
  }
};
inline constexpr SecondsKind kSeconds;

// The name of a layer; "" is none.
struct LayerKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::optional<Layer>* out);
  static Json Write(const std::optional<Layer>& layer) {
    return layer ? LayerName(*layer) : std::string_view();
  }
  static Json Describe(SchemaNoun&);
};
inline constexpr LayerKind kLayerOrNone;

template <class Io, Is<Outcome> T>
void Members(Io& io, T& outcome) {
  io.Noun("What the process did.");
  io.Must(EnumKind<kOutcomeNames>(), "kind", outcome.kind, "How it ended.");
  io.May("exit_code", outcome.exit_code, About("Of \"exited\".").Examples("0"));
  io.May("signal", outcome.signal, About("Of \"signalled\".").Examples("11"));
  io.May("detail", outcome.detail, About("More, for people.").Examples("core dumped"));
  io.May(kSeconds, "wall_seconds", outcome.wall, About("Elapsed time.").Examples("91.25"));
  io.May(kSeconds, "cpu_seconds", outcome.cpu,
         About("Processor time of the process and those it waited for.").Examples("180.5"));
  io.May("peak_memory_bytes", outcome.peak_memory_bytes,
         About("Largest resident memory seen, in bytes.").Examples("123456789"));
  io.UnlessEmpty("not_held", outcome.not_held,
                 "Which limits the kernel did not hold it to, and why; absent: to all.");
}

template <class Io, Is<Machine> T>
void Members(Io& io, T& machine) {
  io.Noun("Where the rerun ran. Not compared.");
  io.May(kPlainText, "host", machine.host, About("Host name.").Examples("gpu-07"));
  io.May(
      kPlainText, "boot_id", machine.boot_id,
      About("Linux's boot id, new at each boot.").Examples("5a0c2d6e-7b1f-4b43-9d1e-0f6b7a8c9d10"));
  io.UnlessEmpty(kPlainText, "node", machine.node,
                 About("As the scheduler of a cluster calls it.").Examples("gpu-07"));
}

// A finding as evidence has it; reports have more of it, and a list of their own.
struct Remark {
  Finding finding;
};
struct RemarksKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<Finding>* out);
  static Json Write(const std::vector<Finding>& remarks) {
    return ArrayOf(remarks, [](const Finding& one) { return StrictWriter::Written(Remark{one}); });
  }
  static Json Describe(SchemaNoun& schema);
};

template <class Io, Is<Remark> T>
void Members(Io& io, T& of) {
  auto& remark = of.finding;
  io.Noun("One observation.");
  io.Must(kNameText, "code", remark.code,
          About("What kind.").Examples("data_changed_during_run\noutput_missing"));
  io.May(kLayerOrNone, "layer", remark.layer, "The layer it belongs to.");
  io.May("subject", remark.subject, About("What it is about.").Examples("out/model.safetensors"));
  io.May("observed", remark.observed, About("What was seen.").Examples("missing"));
  io.May("limit", remark.limit, About("What was recorded or expected.").Examples("present"));
  io.May("message", remark.message, "A sentence for people.");
}

template <class Io, Is<Evidence> T>
void Members(Io& io, T& evidence) {
  io.Schema("rharness.evidence", kEvidenceVersion);
  io.Must(kRunIdText, "run_id", evidence.run_id, "The run that was rerun.");
  io.Must("rerun", evidence.rerun, About("Number of the rerun, from 1.").Examples("1"));
  io.May(
      kCountNumber, "attempt", evidence.attempt,
      About("Number of the attempt; above 1 after failures of the infrastructure.").Examples("1"));
  io.May(kSha256, "ticket_sha256", evidence.ticket_sha256,
         "Digest of the ticket that was carried out; empty in older evidence.");
  io.UnlessEmpty(kSha256, "manifest_sha256", evidence.manifest_sha256,
                 "Digest of the manifest that was rerun, as `rharness record` writes its file; "
                 "absent in older evidence.");
  io.MayObject("machine", evidence.machine);
  io.Must(kRecordTime, "started", evidence.started);
  io.Must(kRecordTime, "ended", evidence.ended);
  io.Object("outcome", evidence.outcome);
  io.May("obstacle", evidence.obstacle,
         About("Why the rerun could not be done as recorded or at all; empty: it was carried out.")
             .Examples("the image is gone"));
  io.May(kLayerOrNone, "obstacle_layer", evidence.obstacle_layer,
         "The layer to which the obstacle belongs; empty with an obstacle: infrastructure.");
  io.May(kWord, "image_digest", evidence.image_digest,
         About("As the engine proved it; empty for host runs.").Examples(kImageDigestExample));
  io.May(kWord, "image_id", evidence.image_id, "Configuration digest of the image that ran.");
  io.May(
      kHex, "code_commit", evidence.code_commit,
      About("As checked out; may be empty.").Examples("0123456789abcdef0123456789abcdef01234567"));
  io.List("code_files", evidence.code_files, "As hashed before the run.");
  io.List("data", evidence.data, "As hashed before the run.");
  io.May(RemarksKind(), "remarks", evidence.remarks,
         "What was met on the way and a verdict may need.");
  io.MayObject("environment", evidence.environment);
  io.May(kByName, "seeds", evidence.seeds, kAboutSeeds);
  io.MayObject("metrics", evidence.metrics);
  io.List("artifacts", evidence.artifacts, "With locations below the drill folder.");
  io.May(kPathOrNone, "stdout_path", evidence.stdout_path, "Relative to the drill folder.");
  io.May(kPathOrNone, "stderr_path", evidence.stderr_path, "Relative to the drill folder.");
  io.UnlessEmpty(kHex, "code_diff_sha256", evidence.code_diff_sha256,
                 About("Of the kept diff that was applied to the commit; absent where there is "
                       "none.")
                     .Sha256());
  io.UnlessEmpty(kUnreadMembers, "unread_metrics", evidence.unread_metrics, kAboutUnread);
  io.ObjectUnlessEmpty("observation", evidence.observation);
  io.ObjectUnlessEmpty("gang", evidence.gang);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_EVIDENCE_MEMBERS_H_
