// The kinds of members that are lists of texts, and maps by checked names; see record_kinds.h.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_MAP_KINDS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_MAP_KINDS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/manifest/package_list.h"
#include "harness/records/manifest/record_kinds.h"
#include "harness/records/manifest/run_metrics.h"

namespace rharness {

// Texts that are names each.
struct NamesKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<std::string>* out);
  static void Read(JsonReader& reader, std::string_view key, bool, std::set<std::string>* out);
  template <class T>
  requires(!IsOptional<T>) static Json Write(const T& names) {
    return ArrayOf(names, [](const std::string& name) { return Json(name); });
  }
  static Json Describe(SchemaNoun& schema);
};
inline constexpr NamesKind kNames;

// An argument vector, which must be there.
struct CommandKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<std::string>* out);
  static Json Describe(SchemaNoun&);
};
inline constexpr CommandKind kCommandLine;

// Values by names of 1 to 256 bytes.
struct ByNameKind {
  template <class T>
  static void Read(JsonReader& reader, std::string_view key, bool, std::map<std::string, T>* out) {
    reader.ReadEachMember(key, out, [](const std::string& name, JsonReader& value, T* one) {
      if (!IsName(name)) value.Fail("expected a name of 1 to 256 bytes without control characters");
      value.Get(one);
    });
  }
  template <class T>
  static Json Describe(StrictSchema& schema) {
    return Json::MakeObject(
        {{"type", "object"}, {"additionalProperties", schema.OfType<typename T::mapped_type>()}});
  }
};
inline constexpr ByNameKind kByName;

// Variables of an environment; null: known to be unset.
struct VariablesKind {
  using Variables = std::map<std::string, std::optional<std::string>>;
  static void Read(JsonReader& reader, std::string_view key, bool, Variables* out);
  static Json Describe(SchemaNoun&);
};
inline constexpr VariablesKind kVariables;

// SHA-256 by relative path.
struct LockFilesKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, std::string>* out);
  static Json Describe(SchemaNoun& schema);
};
inline constexpr LockFilesKind kLockFiles;

struct UnreadKind {
  static void Read(JsonReader& reader, std::string_view key, bool, UnreadMembers* out);
  static Json Describe(SchemaNoun&);
};
inline constexpr UnreadKind kUnreadMembers;

// Package managers, the use of packages, versions by name; and digests.
struct PackagesKind {
  using Packages = std::map<std::string, PackageList>;
  static void Read(JsonReader& reader, std::string_view key, bool, Packages* out);
  static Json Write(const Packages& packages);
  static Json Describe(SchemaNoun& schema);
};
inline constexpr PackagesKind kPackages;

// Of metrics and curves by name.
struct CurvesKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<Curve>* out);
  static Json Write(const std::vector<Curve>& curves);
  static Json Describe(SchemaNoun& schema);
};
inline constexpr CurvesKind kCurvesByName;

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_MAP_KINDS_H_
