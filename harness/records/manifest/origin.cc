// The origin of an imported manifest, to JSON and back.
#include "harness/records/manifest/origin.h"

#include "harness/base/json_reader.h"
#include "harness/records/manifest/fields.h"

namespace rharness {

std::string_view GradeName(Grade grade) {
  switch (grade) {
    case Grade::kExact:
      return "exact";
    case Grade::kHint:
      return "hint";
    case Grade::kMissing:
      break;
  }
  return "missing";
}

namespace {

void ReadField(JsonReader& reader, FieldOrigin* out) {
  RefuseUnknownMembers(reader, {"path", "grade", "from"});
  ReadName(reader, "path", &out->path);
  std::string grade(GradeName(out->grade));
  ReadChoice(reader, "grade", Presence::kRequired, {"exact", "hint", "missing"}, &grade);
  for (const Grade one : {Grade::kExact, Grade::kHint, Grade::kMissing}) {
    if (grade == GradeName(one)) out->grade = one;
  }
  ReadText(reader, "from", &out->from);
}

}  // namespace

void ReadOrigin(JsonReader& reader, Origin* out) {
  RefuseUnknownMembers(reader, {"kind", "source", "id", "fields", "remarks"});
  ReadName(reader, "kind", &out->kind);
  ReadText(reader, "source", &out->source);
  ReadText(reader, "id", &out->id);
  reader.ReadEach("fields", &out->fields, ReadField);
  reader.ReadArray("remarks", &out->remarks);
}

Json ToJson(const Origin& origin) {
  Json fields = Json::MakeArray();
  for (const FieldOrigin& field : origin.fields) {
    fields.Append(
        ObjectOf({{"path", field.path}, {"grade", GradeName(field.grade)}, {"from", field.from}}));
  }
  return ObjectOf({{"kind", origin.kind},
                   {"source", origin.source},
                   {"id", origin.id},
                   {"fields", std::move(fields)},
                   {"remarks", ToJson(origin.remarks)}});
}

}  // namespace rharness
