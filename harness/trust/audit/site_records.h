// A site's records beside its history that an audit log includes: accepted baselines, and policies
// with their waivers and substitutes.
//
// Role: files in, records out; record_book.h compares them with a log.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_SITE_RECORDS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_SITE_RECORDS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/held_record.h"

namespace rharness {

inline constexpr char kBaselineKind[] = "baseline";
inline constexpr char kPolicyKind[] = "policy";
inline constexpr char kWaiverKind[] = "waiver";
inline constexpr char kSubstituteKind[] = "substitute";

// The last part of a path, its name in an audit log: "h100" of "gates/h100/".
std::string SiteName(const std::filesystem::path& path);

// A "baseline" of each line of baseline.jsonl in this folder, by NAME/LINE, line 1 first; the
// digest is the line's. Errors: not_found, io; integrity if a line has no end.
Result<std::vector<HeldRecord>> ReadBaselineRecords(const std::filesystem::path& folder);

// The "policy" NAME, by the digest of the file, then its waivers, by NAME/PROBES, and substitutes
// by NAME/RECORDED -> HERE; a second one of such a name gets the suffix " #2". Errors: those of
// LoadPolicy.
Result<std::vector<HeldRecord>> ReadPolicyRecords(const std::filesystem::path& file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_SITE_RECORDS_H_
