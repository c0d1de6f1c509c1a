// The members of predicates about one subject, listed once: retirements, withdrawals, deletions,
// endorsements. Others are ignored, as in-toto has it: a later version may state more.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_MEMBERS_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/record_kinds.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/endorsement.h"

namespace rharness {

// A reason, an end after the beginning, and a subject that is named after the run.
void CheckMembers(JsonReader& reader, const Retirement& retirement);
void CheckMembers(JsonReader& reader, const Withdrawal& withdrawal);
void CheckMembers(JsonReader& reader, const Deletion& deletion);

inline constexpr char kAboutRequested[] = "When the first one signed (RFC 3339 in UTC).";

template <class Io, Is<Retirement> T>
void Members(Io& io, T& retirement) {
  io.Must("run_id", retirement.run_id, About("The run.").NotEmpty());
  io.Must("family", retirement.family, "Its family.");
  io.Must("reason", retirement.reason, About("In words.").NotEmpty());
  io.Must(kRecordTime, "requested", retirement.requested, kAboutRequested);
  io.Must(kRecordTime, "expires", retirement.expires, "Until when it can be approved.");
}

template <class Io, Is<Withdrawal> T>
void Members(Io& io, T& withdrawal) {
  io.Must("run_id", withdrawal.run_id, "The run that it is about; empty for a deletion.");
  io.Must("family", withdrawal.family, "Its family.");
  io.Must("reason", withdrawal.reason, "In words.");
  io.Must(kRecordTime, "withdrawn", withdrawal.withdrawn, "When it was signed (RFC 3339 in UTC).");
}

template <class Io, Is<Deletion> T>
void Members(Io& io, T& deletion) {
  io.Must("items", deletion.items, "How many it names.");
  io.Must("bytes", deletion.bytes, "Of all of them together.");
  io.Must("reason", deletion.reason, "In words.");
  io.Must(kRecordTime, "requested", deletion.requested, kAboutRequested);
  io.Must(kRecordTime, "expires", deletion.expires,
          "Until when it can be approved and carried out.");
}

template <class Io, Is<Endorsement> T>
void Members(Io& io, T& endorsement) {
  io.Must(kRecordTime, "made", endorsement.made, "When it was first signed (RFC 3339 in UTC).");
  io.May("reason", endorsement.reason, "In words.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_MEMBERS_H_
