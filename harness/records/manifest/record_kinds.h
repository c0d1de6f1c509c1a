// The kinds of members that manifests, evidence and tickets are made of (strict_members.h): how
// each is checked, by fields.h, and described.
//
// Not here: the descriptions' code, which record_kinds_schema.cc has: a first drill needs none.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_KINDS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_KINDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/member_facts.h"
#include "harness/base/strict_schema.h"
#include "harness/records/manifest/fields.h"

namespace rharness {

// A text by one of the readers of fields.h, and its schema.
template <void (*kRead)(JsonReader&, std::string_view, Presence, std::string*),
          Json (*kDescribe)(SchemaNoun&)>
struct TextKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, std::string* out) {
    kRead(reader, key, required ? Presence::kRequired : Presence::kOptional, out);
  }
  static Json Describe(SchemaNoun& schema) { return kDescribe(schema); }
};

// Of each reader of fields.h that has no presence.
template <void (*kRead)(JsonReader&, std::string_view, std::string*)>
void ReadAlone(JsonReader& reader, std::string_view key, Presence, std::string* out) {
  kRead(reader, key, out);
}

inline void ReadNameIfThere(JsonReader& reader, std::string_view key, std::string* out) {
  if (reader.Has(key)) ReadName(reader, key, out);
}

Json DescribeText(SchemaNoun&);
Json DescribeName(SchemaNoun& schema);
Json DescribeRunId(SchemaNoun& schema);
Json DescribeWord(SchemaNoun& schema);
Json DescribeHex(SchemaNoun&);
Json DescribeSha256(SchemaNoun& schema);
Json DescribeFolder(SchemaNoun&);
Json DescribePathOrNone(SchemaNoun&);
Json DescribeRelativePath(SchemaNoun& schema);
Json DescribePath(SchemaNoun& schema);
Json DescribeFolderNames(SchemaNoun& schema);

inline constexpr TextKind<ReadAlone<ReadText>, DescribeText> kPlainText;
inline constexpr TextKind<ReadAlone<ReadName>, DescribeName> kNameText;
inline constexpr TextKind<ReadAlone<ReadNameIfThere>, DescribeName> kNameOrNone;
inline constexpr TextKind<ReadAlone<ReadWord>, DescribeWord> kWord;
inline constexpr TextKind<ReadAlone<ReadHex>, DescribeHex> kHex;
inline constexpr TextKind<ReadAlone<ReadHex>, DescribeSha256> kSha256;
inline constexpr TextKind<ReadRelativePath, DescribeRelativePath> kRelativePath;
inline constexpr TextKind<ReadRelativePath, DescribePathOrNone> kPathOrNone;
inline constexpr TextKind<ReadAnyPath, DescribePath> kAnyPath;

// "run_id" and "repository", whose readers know the name of the member.
struct RunIdKind {
  static void Read(JsonReader& reader, std::string_view, bool, std::string* out) {
    ReadRunId(reader, out);
  }
  static Json Describe(SchemaNoun& schema) { return DescribeRunId(schema); }
};
inline constexpr RunIdKind kRunIdText;
struct RepositoryKind {
  static void Read(JsonReader& reader, std::string_view, bool, std::string* out) {
    ReadRepository(reader, out);
  }
  static Json Describe(SchemaNoun& schema) { return DescribeText(schema); }
};
inline constexpr RepositoryKind kRepositoryText;

struct FolderNamesKind {  // sorted relative paths
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<std::string>* out) {
    ReadFolderNames(reader, key, out);
  }
  static Json Describe(SchemaNoun& schema) { return DescribeFolderNames(schema); }
};

// One of a list of texts, which may have "".
template <const auto& kTexts>
struct ChoiceKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, std::string* out) {
    ReadChoice(reader, key, required ? Presence::kRequired : Presence::kOptional, kTexts, out);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject(
        {{"enum", ArrayOf(kTexts, [](std::string_view text) { return Json(text); })}});
  }
};

// An enumeration by the table of its names.
template <const auto& kTable>
struct EnumKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, auto* out) {
    if (reader.over_values()) return;
    std::vector<std::string_view> names;
    for (const auto& [value, name] : kTable) names.push_back(name);
    std::string text(NameIn(kTable, *out));
    ReadChoice(reader, key, required ? Presence::kRequired : Presence::kOptional, names, &text);
    if (!reader.ok()) return;
    for (const auto& [value, name] : kTable) {
      if (name == text) *out = value;
    }
  }
  static Json Write(auto value) { return NameIn(kTable, value); }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject(
        {{"enum", ArrayOf(kTable, [](const auto& row) { return Json(row.second); })}});
  }
};

struct RecordTimeKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, WallTime* out) {
    ReadTime(reader, key, required ? Presence::kRequired : Presence::kOptional, out);
  }
  static Json Write(WallTime time) { return FormatTime(time); }
  static Json Describe(SchemaNoun& schema);
};
inline constexpr RecordTimeKind kRecordTime;

// At least 0; of a double, finite.
struct CountKind {
  static void Read(JsonReader& reader, std::string_view key, bool, int* out) {
    ReadCount(reader, key, out);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "integer"}, {"minimum", 0}});
  }
};
inline constexpr CountKind kCountNumber;
struct SpanKind {
  static void Read(JsonReader& reader, std::string_view key, bool, double* out) {
    ReadSpan(reader, key, out);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "number"}, {"minimum", 0}});
  }
};
inline constexpr SpanKind kSpanNumber;

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RECORD_KINDS_H_
