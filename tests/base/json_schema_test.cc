// A list of members as a JSON Schema, and as what it writes and reads.
#include "harness/base/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/base/json_member_reader.h"
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"

namespace rharness {

enum class Tint { kRed, kGreen };
std::string_view TintName(Tint tint) { return tint == Tint::kRed ? "red" : "green"; }
const NameTable<Tint, 2> kTintNames = NamesFrom<Tint, 2>(TintName, {Tint::kRed, Tint::kGreen});

struct PaintedPart {
  std::string name;
  Tint tint = Tint::kRed;
};

template <class Io, Is<PaintedPart> T>
void Members(Io& io, T& part) {
  io.Noun("A part.");
  io.Must("name", part.name, About("Its name.").NotEmpty());
  io.Name("tint", part.tint, kTintNames);
}

struct Painting {
  bool dry = false;
  int left = 0;
  std::uint64_t bytes = 0;
  double share = 0.0;
  double size = 0.0;
  std::optional<std::int64_t> step;
  std::vector<double> sizes;
  std::string digest;
  WallTime made{};
  std::optional<PaintedPart> frame;
  std::vector<PaintedPart> parts;
};

template <class Io, Is<Painting> T>
void Members(Io& io, T& painting) {
  io.Schema("rharness.painting", 1);
  io.Must("dry", painting.dry, "Whether it is.");
  io.May("left", painting.left, Count());
  io.Must("bytes", painting.bytes);
  io.Must("share", painting.share, Share());
  io.Must("size", painting.size);
  io.May("step", painting.step);
  io.Plain("sizes", painting.sizes, About().MostItems(4));
  io.Must("digest", painting.digest, About().Sha256());
  io.MayTime("made", painting.made);
  io.MayObject("frame", painting.frame);
  io.MustList("parts", painting.parts, "In order.");
}

namespace {

constexpr SchemaHead kHead = {.id = "rharness.painting/v1", .title = "A painting"};

Json Property(const Json& noun, std::string_view key) {
  const Json* found = noun.Find("properties")->Find(key);
  return found == nullptr ? Json() : *found;
}

TEST(SchemaOfMembers, HasTheTypeAndBoundsOfEachMember) {
  const Json schema = SchemaOf<Painting>(kHead);
  const auto property = [&](const char* key) { return Property(schema, key).Dump(); };
  EXPECT_EQ(property("schema"),
            R"({"const":"rharness.painting/v1","description":"Which document this is"})");
  EXPECT_EQ(property("dry"), R"({"type":"boolean","description":"Whether it is."})");
  EXPECT_EQ(property("left"), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(property("bytes"), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(property("share"), R"({"type":"number","minimum":0,"maximum":1})");
  EXPECT_EQ(property("size"), R"({"$ref":"#/$defs/number"})");
  EXPECT_EQ(property("step"), R"({"type":["integer","null"]})");
  EXPECT_EQ(property("sizes"),
            R"({"type":"array","items":{"$ref":"#/$defs/number"},"maxItems":4})");
  EXPECT_EQ(property("digest"), R"({"type":"string","pattern":"^[0-9a-f]{64}$"})");
  EXPECT_EQ(property("made"), R"({"type":"string","format":"date-time"})");
  EXPECT_EQ(property("frame"), R"({"$ref":"#/$defs/painted_part"})");
  EXPECT_EQ(
      property("parts"),
      R"({"type":"array","items":{"$ref":"#/$defs/painted_part"},"description":"In order."})");
}

TEST(SchemaOfMembers, RequiresWhatTheReaderRequires) {
  const Json schema = SchemaOf<Painting>(kHead);
  EXPECT_EQ(schema.Find("required")->Dump(),
            R"(["schema","dry","bytes","share","size","digest","parts"])");
  const Json whole = MemberWriter::Written(Painting{.digest = "d"});
  for (const auto& [key, value] : whole.AsObject()) {
    Json without = Json::MakeObject();
    for (const auto& [other, kept] : whole.AsObject()) {
      if (other != key) without.Set(other, kept);
    }
    JsonReader reader(without, "painting.json");
    Painting painting;
    MemberReader::ReadInto(reader, painting);
    const auto& names = schema.Find("required")->AsArray();
    const bool required =
        std::ranges::any_of(names, [&](const Json& name) { return name.AsString() == key; });
    EXPECT_EQ(reader.ok(), !required) << key;
  }
}

TEST(SchemaOfMembers, DefinesANounOnceByTheNameOfItsType) {
  const Json schema = SchemaOf<Painting>(kHead);
  EXPECT_EQ(schema.Find("$defs")->Find("painted_part")->Dump(),
            R"({"type":"object","required":["name","tint"],"properties":{"name":{"type":"string",)"
            R"("minLength":1,"description":"Its name."},"tint":{"enum":["red","green"]}},)"
            R"("description":"A part."})");
  EXPECT_EQ(schema.Find("$defs")->AsObject().size(), 2U) << "the part, and the number";
}

TEST(SchemaOfMembers, OfAClosedAndFiniteDocumentAdmitsNothingElse) {
  SchemaHead head = kHead;
  head.closed = head.finite = true;
  const Json schema = SchemaOf<Painting>(head);
  EXPECT_EQ(Property(schema, "size").Dump(), R"({"type":"number"})");
  EXPECT_EQ(schema.Find("additionalProperties")->Dump(), "false");
  EXPECT_EQ(schema.Find("$defs")->Find("painted_part")->Find("additionalProperties")->Dump(),
            "false");
  EXPECT_EQ(SchemaOf<Painting>(kHead).Find("additionalProperties"), nullptr);
}

TEST(Members, AreReadAsTheyWereWritten) {
  Painting painting = {.dry = true, .left = 2, .share = 0.5, .step = 7, .sizes = {1.5}};
  painting.frame = PaintedPart{"frame", Tint::kGreen};
  painting.parts = {{"left", Tint::kRed}};
  const Json json = MemberWriter::Written(painting);
  EXPECT_EQ(json.Find("frame")->Dump(), R"({"name":"frame","tint":"green"})");
  JsonReader reader(json, "painting.json");
  Painting read;
  MemberReader::ReadInto(reader, read);
  ASSERT_TRUE(reader.ok()) << reader.status().error().ToString();
  EXPECT_EQ(MemberWriter::Written(read).Dump(), json.Dump());
}

}  // namespace
}  // namespace rharness
