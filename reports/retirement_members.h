// The members of runs that are retired or are to be.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_RETIREMENT_MEMBERS_H_
#define RHARNESS_REPORTS_RETIREMENT_MEMBERS_H_

#include <vector>

#include "harness/base/json_members.h"
#include "reports/retirements_report.h"

namespace rharness {

inline const NameTable<RetirementState, 7> kRetirementStateNames = NamesFrom<RetirementState, 7>(
    RetirementStateName,
    {RetirementState::kNone, RetirementState::kAsked, RetirementState::kExpired,
     RetirementState::kWithdrawn, RetirementState::kRetired, RetirementState::kUnsigned,
     RetirementState::kDoubtful});

template <class Io, Is<RetirementTold> T>
void Members(Io& io, T& told) {
  io.Must("run_id", told.run_id);
  io.Name("state", told.state, kRetirementStateNames,
          "none: nobody asked. asked: by one person. expired: nobody approved in time. withdrawn: "
          "taken back. retired: two people signed. unsigned: retired, and nobody signed. doubtful: "
          "the history does not say what was signed.");
  io.Must("reason", told.reason);
  io.Must("asked_by", told.asked_by, "The owner of the first key; empty: nobody.");
  io.TimeOrNull("asked", told.asked, "RFC 3339, as all times here.");
  io.Must("approved_by", told.approved_by, "The owners of the other keys.");
  io.TimeOrNull("approved", told.approved);
  io.Must("verified", told.verified, "Whether the signatures were held to a trust policy.");
  io.MayIf(!told.statement_sha256.empty(), "statement", told.statement_sha256,
           "The SHA-256 of what was signed; absent: nothing was.");
  io.MayTime("expires", told.expires, "Until when it could be approved.");
  io.MayIf(told.ended.has_value(), "ended_by", told.ended_by, "Who took it back.");
  io.MayTime("ended", told.ended);
  io.MayIf(told.ended.has_value(), "ended_reason", told.ended_reason, "Why it was taken back.");
  io.MayTime("unsigned_since", told.unsigned_since,
             "Since when it was retired before two people signed, as the history alone says; "
             "absent: it was not.");
  io.MayIf(!told.doubt.empty(), "doubt", told.doubt, "A sentence, of what is doubtful.");
}

struct RetirementsDocument {
  const std::vector<RetirementTold>& retirements;
};

template <class Io, Is<RetirementsDocument> T>
void Members(Io& io, T& document) {
  io.Schema("rharness.retirements", 1);
  io.MustList("retirements", document.retirements);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RETIREMENT_MEMBERS_H_
