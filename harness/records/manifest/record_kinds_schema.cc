// The descriptions of the kinds of members in JSON Schemas; see record_kinds.h. A first drill does
// not compile them.
#include <utility>

#include "harness/base/member_schema.h"
#include "harness/records/manifest/empty_folders.h"
#include "harness/records/manifest/evidence_members.h"
#include "harness/records/manifest/manifest_members.h"
#include "harness/records/manifest/record_kinds.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {
namespace {

Json TextSchema(const char* pattern = "") {
  Json schema = Json::MakeObject({{"type", "string"}});
  return *pattern == '\0' ? schema : schema.Set("pattern", pattern);
}

Json DefinedText(SchemaNoun& schema, const char* name, const char* description, const char* pattern,
                 Json examples) {
  return schema.Defined(
      name,
      TextSchema(pattern).Set("description", description).Set("examples", std::move(examples)));
}

Json Enumeration(Json::Array values) {
  return Json::MakeObject({{"enum", Json::MakeArray(std::move(values))}});
}

Json ListOf(Json items, int least = 0) {
  Json schema = Json::MakeObject({{"type", "array"}, {"items", std::move(items)}});
  return least == 0 ? schema : schema.Set("minItems", least);
}

Json MapOf(Json values) {
  return Json::MakeObject({{"type", "object"}, {"additionalProperties", std::move(values)}});
}

Json Required(const char* kind, Json::Array members) {
  Json name = Json::MakeObject({{"const", kind}, {"description", "What this property needs."}});
  Json properties = Json::MakeObject({{"name", std::move(name)}});
  Json then = Json::MakeObject({{"required", Json::MakeArray(std::move(members))}});
  return Json::MakeObject({{"if", Json::MakeObject({{"properties", std::move(properties)}})},
                           {"then", std::move(then)}});
}

constexpr char kExampleSha256[] =
    "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

}  // namespace

Json DescribeText(SchemaNoun&) { return TextSchema(); }
Json DescribeHex(SchemaNoun&) { return TextSchema("^[0-9a-f]{0,128}$"); }
Json DescribeFolder(SchemaNoun&) { return TextSchema("^/"); }
Json DescribePathOrNone(SchemaNoun&) {
  return TextSchema("^([^/\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*)?$");
}
Json DescribeInterconnect(SchemaNoun&) { return Enumeration({"nvlink", "pcie", ""}); }

Json DescribeName(SchemaNoun& schema) {
  return schema.Defined("name",
                        TextSchema("^[^\\u0000-\\u001f\\u007f]*$")
                            .Set("minLength", 1)
                            .Set("maxLength", 256)
                            .Set("description", "1 to 256 bytes without control characters.")
                            .Set("examples", Json::MakeArray({"accuracy"})));
}

Json DescribeRunId(SchemaNoun& schema) {
  return DefinedText(schema, "run_id",
                     "Names the run: 1 to 128 letters, digits, '.', '_' and '-', the first neither "
                     "'.' nor '-'.",
                     "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$", Json::MakeArray({"digits-0007"}));
}

Json DescribeWord(SchemaNoun& schema) {
  return DefinedText(schema, "word",
                     "Printable ASCII without blanks and without a leading '-'; may be empty.",
                     "^([!-,.-~][!-~]*)?$", Json::MakeArray({"ml/train"}));
}

Json DescribeSha256(SchemaNoun& schema) {
  return DefinedText(schema, "sha256", "SHA-256 in lower-case hexadecimal; empty while unknown.",
                     "^([0-9a-f]{64})?$", Json::MakeArray({kExampleSha256}));
}

Json DescribeRelativePath(SchemaNoun& schema) {
  return DefinedText(schema, "relative_path",
                     "A path below its folder: not absolute, without '..' and control characters.",
                     "^[^/\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$",
                     Json::MakeArray({"out/model.safetensors"}));
}

Json DescribeFolderNames(SchemaNoun& schema) {
  return Json::MakeObject({{"type", "array"},
                           {"items", DescribeRelativePath(schema)},
                           {"uniqueItems", true},
                           {"maxItems", kMostEmptyFolders}});
}

Json DescribePath(SchemaNoun& schema) {
  return DefinedText(schema, "path",
                     "A path below its folder as above, or an absolute path in normal form; empty "
                     "where it is optional.",
                     "^[^\\u0000-\\u001f\\u007f]*$",
                     Json::MakeArray({"data/digits.csv", "/srv/sets/digits.csv"}));
}

Json RecordTimeKind::Describe(SchemaNoun& schema) {
  return schema.Defined(
      "time", TextSchema()
                  .Set("format", "date-time")
                  .Set("description",
                       "A time in RFC 3339, from 1970 to 9999; written in UTC with milliseconds.")
                  .Set("examples", Json::MakeArray({"2026-11-20T08:03:00.000Z"})));
}

Json NamesKind::Describe(SchemaNoun& schema) { return ListOf(DescribeName(schema)); }
Json CommandKind::Describe(SchemaNoun&) { return ListOf(TextSchema()); }
Json ArgumentsKind::Describe(SchemaNoun&) { return ListOf(TextSchema(), 1); }
Json LockFilesKind::Describe(SchemaNoun& schema) { return MapOf(DescribeSha256(schema)); }
Json UnreadKind::Describe(SchemaNoun&) {
  return MapOf(TextSchema().Set("maxLength", kUnreadTextBytes));
}
Json VariablesKind::Describe(SchemaNoun&) {
  return MapOf(Json::MakeObject({{"type", Json::MakeArray({"string", "null"})}}));
}
Json MeansKind::Describe(SchemaNoun&) {
  return ListOf(Enumeration({kSeenByMaps, kSeenByPreload, kSeenByPython, kSeenByKernels}));
}
Json LayerKind::Describe(SchemaNoun&) {
  return Enumeration({"data", "code", "environment", "hardware", "randomness", ""});
}
Json LabelKind::Describe(SchemaNoun&) { return TextSchema("^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"); }
Json CutPointsKind::Describe(SchemaNoun&) {
  return ListOf(Json::MakeObject({{"type", "integer"}, {"minimum", 1}}), 1)
      .Set("maxItems", kMostCutPoints);
}
Json MarginsKind::Describe(SchemaNoun&) {
  return MapOf(Json::MakeObject({{"type", "number"}, {"minimum", 0}}));
}
Json RelativeDistanceKind::Describe(SchemaNoun&) {
  return Json::MakeObject({{"type", "number"}, {"minimum", 0}, {"exclusiveMaximum", 1}});
}
Json PropertiesKind::Describe(SchemaNoun& schema) {
  return ListOf(schema.Defined(NounOf<Property>()));
}
Json RemarksKind::Describe(SchemaNoun& schema) { return ListOf(schema.Defined(NounOf<Remark>())); }
Json CurvesKind::Describe(SchemaNoun& schema) {
  return MapOf(schema.Defined(NounOf<CurvePoints>()));
}

Json PackagesKind::Describe(SchemaNoun& schema) {
  const Json versions = schema.Defined(
      "versions", MapOf(TextSchema())
                      .Set("description", "Versions by name.")
                      .Set("examples", Json::MakeArray({Json::MakeObject({{"numpy", "1.26.4"}})})));
  Json digests =
      MapOf(TextSchema("^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$"))
          .Set("description",
               "What was installed, by name: of Python the files that the wheel brought, of conda "
               "the archive. Absent where not known, and in records of before.");
  Json list = Json::MakeObject({{"used", versions}, {"not_used", versions}});
  list.Set("not_known", versions).Set("digests", std::move(digests));
  return MapOf(Json::MakeObject(
      {{"type", "object"}, {"properties", std::move(list)}, {"additionalProperties", false}}));
}

void DescribeRules(MemberSchema& io) {
  io.Rule("allOf", Json::MakeArray({Required("resumed", {"at", "stop", "checkpoint"}),
                                    Required("resharded", {"checkpoint", "steps"}),
                                    Required("evaluated_twice", {"checkpoint", "command"})}));
}

}  // namespace rharness
