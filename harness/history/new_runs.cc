// Runs entered into the history, many at a time.
#include <fmt/format.h>

#include <optional>

#include "harness/base/digest.h"
#include "harness/history/lookup_texts.h"
#include "harness/history/other_content.h"
#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// The content stored under the run_id of a run. Statements are prepared once for many runs, here
// and below.
class HeldRuns {
 public:
  explicit HeldRuns(soci::session& sql)
      : query_((sql.prepare << "SELECT r.sha256, m.body, r.family, r.declared, r.started_ms FROM "
                               "runs r LEFT JOIN manifests m ON m.run_id = r.run_id "
                               "WHERE r.run_id = :run_id",
                soci::use(run_id_), soci::into(held_.sha256), soci::into(held_.body, body_state_),
                soci::into(held_.family), soci::into(held_.declared), soci::into(started_ms_))) {}

  // Empty: it is there, in other words than today's or changed.
  std::optional<HeldContent> Compare(const NewRun& run) {
    run_id_ = run.run_id;
    if (!query_.execute(true)) return HeldContent::kNone;
    const bool same = held_.sha256 == run.sha256 && body_state_ == soci::i_ok &&
                      held_.body == run.body && held_.family == run.family &&
                      held_.declared == run.declared && started_ms_ == ToMs(run.started);
    return same ? std::optional(HeldContent::kSame) : std::nullopt;
  }

 private:
  std::string run_id_;
  NewRun held_;
  long long started_ms_ = 0;
  soci::indicator body_state_ = soci::i_null;
  soci::statement query_;
};

class RunInserts {
 public:
  RunInserts(soci::session& sql, WallTime now)
      : added_ms_(ToMs(now)),
        runs_((
            sql.prepare << "INSERT INTO runs (run_id, family, configuration, declared, started_ms, "
                           "duration_seconds, added_ms, sha256) VALUES (:run_id, :family, "
                           ":configuration, :declared, :started_ms, :duration_seconds, :added_ms, "
                           ":sha256)",
            soci::use(run_.run_id), soci::use(run_.family), soci::use(run_.configuration),
            soci::use(run_.declared), soci::use(started_ms_), soci::use(run_.duration_seconds),
            soci::use(added_ms_), soci::use(run_.sha256))),
        manifests_((sql.prepare << "INSERT INTO manifests (run_id, body) VALUES (:run_id, :body)",
                    soci::use(run_.run_id), soci::use(run_.body))),
        lookups_((sql.prepare << "INSERT INTO lookups (run_id, code_commit, image) VALUES "
                                 "(:run_id, :code_commit, :image)",
                  soci::use(run_.run_id), soci::use(run_.code_commit), soci::use(run_.image))) {}

  void Insert(const NewRun& run) {
    run_ = run;
    started_ms_ = ToMs(run.started);
    runs_.execute(true);
    manifests_.execute(true);
    lookups_.execute(true);
  }

 private:
  NewRun run_;
  long long started_ms_ = 0;
  long long added_ms_;
  soci::statement runs_;
  soci::statement manifests_;
  soci::statement lookups_;
};

}  // namespace

NewRun NewRunOf(const Manifest& manifest) {
  NewRun run{.run_id = manifest.run_id,
             .family = manifest.family,
             .configuration = ConfigurationKey(manifest),
             .declared = manifest.determinism.declared,
             .started = manifest.started,
             .duration_seconds = manifest.duration_seconds,
             .sha256 = {},
             .body = ToJson(manifest).Dump(),
             .code_commit = manifest.code.commit,
             .image = LookupImage(manifest.image)};
  run.sha256 = Sha256HexOf(run.body);
  return run;
}

// Compares the parsed content: a later version may write the same manifest differently.
Result<HeldContent> SqlHistory::CompareSlowly(const NewRun& run) {
  ASSIGN_OR_RETURN(const Manifest held, Load(run.run_id));
  return ToJson(held).Dump() == run.body ? HeldContent::kSame : HeldContent::kOther;
}

Result<HeldContent> SqlHistory::Compare(const NewRun& run) {
  return database_->Guard([&]() -> Result<HeldContent> {
    if (const auto held = HeldRuns(sql()).Compare(run)) return *held;
    return CompareSlowly(run);
  });
}

Result<std::size_t> SqlHistory::AddAll(std::span<const NewRun> runs, WallTime now) {
  return database_->Write([&]() -> Result<std::size_t> {
    HeldRuns known(sql());
    RunInserts inserts(sql(), now);
    std::size_t added = 0;
    for (const NewRun& run : runs) {
      auto held = known.Compare(run);
      if (!held) {
        ASSIGN_OR_RETURN(held, CompareSlowly(run));
      }
      if (*held == HeldContent::kOther) {
        ASSIGN_OR_RETURN(const Manifest there, Load(run.run_id));
        return OtherContent(run.run_id, ToJson(there).Dump(), run.body, database_->name());
      }
      if (*held == HeldContent::kSame) continue;
      inserts.Insert(run);
      ++added;
    }
    return added;
  });
}

Result<AddOutcome> SqlHistory::Add(const Manifest& manifest, WallTime now) {
  const NewRun run = NewRunOf(manifest);
  // What is added stays, so it must be something that can be read again.
  ASSIGN_OR_RETURN(const Json json, ParseJson(run.body, Where(manifest.run_id)));
  ASSIGN_OR_RETURN(const Manifest readable, ParseManifest(json, Where(manifest.run_id)));
  if (readable.run_id != manifest.run_id) return InternalError("the manifest changed as written");
  ASSIGN_OR_RETURN(const std::size_t added, AddAll({&run, 1}, now));
  return added == 1 ? AddOutcome::kAdded : AddOutcome::kAlreadyThere;
}

}  // namespace rharness
