// What the members of properties may hold: how each kind is read and described.
//
// Role: private to this folder, under property_members.h.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_KINDS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_KINDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/property.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

inline constexpr NameTable<PropertyKind, 8> kPropertyKindNames = {
    {{PropertyKind::kRepeated, "repeated"},
     {PropertyKind::kResumed, "resumed"},
     {PropertyKind::kAccumulated, "accumulated"},
     {PropertyKind::kLoaderWorkers, "loader_workers"},
     {PropertyKind::kProcesses, "processes"},
     {PropertyKind::kResharded, "resharded"},
     {PropertyKind::kEvaluatedTwice, "evaluated_twice"},
     {PropertyKind::kBatchInvariant, "batch_invariant"}}};

// Arguments: at least one.
struct ArgumentsKind {
  static void Read(JsonReader& reader, std::string_view key, bool required,
                   std::vector<std::string>* out);
  static Json Describe(SchemaNoun&);
};
inline constexpr ArgumentsKind kArguments;
struct LabelKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, std::string* out);
  static Json Describe(SchemaNoun&);
};
// Steps or sizes of 1 or more, strictly increasing.
struct CutPointsKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<std::int64_t>* out);
  static Json Describe(SchemaNoun&);
};
// A relative path that is not empty.
void ReadPlace(JsonReader& reader, std::string_view key, Presence presence, std::string* out);
inline constexpr TextKind<ReadPlace, DescribeRelativePath> kPlace;
struct OtherVariablesKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, std::optional<std::string>>* out);
  static Json Describe(SchemaNoun& schema) { return VariablesKind::Describe(schema); }
};
struct MarginsKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, double>* out);
  static Json Describe(SchemaNoun&);
};
// At least 0 and less than 1.
struct RelativeDistanceKind {
  static void Read(JsonReader& reader, std::string_view key, bool, double* out);
  static Json Describe(SchemaNoun&);
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_KINDS_H_
