// The rows of a history that concern one run each and belong to no drill, as records: properties,
// retirements, rebuild answers, replicates.
//
// Role: private to this folder; held_records.cc has the rest. Failures throw.
#ifndef RHARNESS_HARNESS_HISTORY_HELD_ROWS_H_
#define RHARNESS_HARNESS_HISTORY_HELD_ROWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/history/database.h"
#include "harness/history/held_record.h"

namespace rharness {

// Runs whose names are from the first to the last, by bytes.
struct HeldRange {
  std::string first;
  std::string last;
};

// A column that may be null.
template <class T>
struct MaybeNull {
  T value{};
  soci::indicator state = soci::i_null;
  Json json() const { return state == soci::i_ok ? Json(value) : Json(); }
};

Sha256Bytes DigestOfHeld(std::string_view content);

// Adds them, in this order.
void AddRunRows(soci::session& sql, const HeldRange& runs, std::vector<HeldRecord>* out);
// Of signed records: those that name a run, and signatures by their subjects; then those without a
// run.
void AddSignedRows(soci::session& sql, const HeldRange& runs, std::vector<HeldRecord>* out);
void AddDeletionRows(soci::session& sql, const HeldRange& all, std::vector<HeldRecord>* out);
// Withdrawals of statements on this run, and their own statements.
void AddTakenBackRows(soci::session& sql, const std::string& run_id, std::vector<HeldRecord>* out);

// Of one list alone, with the signatures under it.
void AddRowsOfDeletion(soci::session& sql, const std::string& list_sha256,
                       std::vector<HeldRecord>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_HELD_ROWS_H_
