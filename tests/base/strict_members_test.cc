// A list of members that is read strictly: what it writes, reads, refuses and describes.
#include "harness/base/strict_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/member_schema.h"
#include "harness/base/strict_member_reader.h"

namespace rharness {

struct EvenKind {
  static void Read(JsonReader& reader, std::string_view key, bool required, int* out) {
    required ? reader.Read(key, out) : reader.ReadOptional(key, out);
    if (reader.ok() && *out % 2 != 0) reader.Fail("expected an even number", key);
  }
  static Json Describe(SchemaNoun&) {
    return Json::MakeObject({{"type", "integer"}, {"multipleOf", 2}});
  }
};

struct Wheel {
  int spokes = 2;
  std::string rim;
};

template <class Io, Is<Wheel> T>
void Members(Io& io, T& wheel) {
  io.Noun("A wheel.");
  io.Must(EvenKind(), "spokes", wheel.spokes, About("How many.").Examples("8\n12"));
  io.UnlessEmpty("rim", wheel.rim);
}

struct Cart {
  std::map<std::string, std::string> load;
  std::vector<Wheel> wheels;
  std::optional<Wheel> spare;
  std::optional<int> brakes;
  bool open = true;
};

template <class Io, Is<Cart> T>
void Members(Io& io, T& cart) {
  io.Schema("rharness.cart", 1);
  io.May("load", cart.load);
  io.List("wheels", cart.wheels);
  io.ObjectUnlessEmpty("spare", cart.spare);
  io.UnlessEmpty(EvenKind(), "brakes", cart.brakes);
  io.Unless("open", true, cart.open);
}

void CheckMembers(JsonReader& reader, const Cart& cart) {
  if (cart.wheels.size() == 1) reader.Fail("expected none, or two or more", "wheels");
}

namespace {

std::string Refusal(const char* text) {
  const Json json = ParseJson(text, "cart").value();
  JsonReader reader(json, "cart.json");
  Cart cart;
  StrictReader::ReadInto(reader, cart);
  return reader.ok() ? "" : reader.status().error().ToString();
}

TEST(StrictMembers, AreReadAsTheyWereWritten) {
  EXPECT_EQ(StrictWriter::Written(Cart()).Dump(),
            R"({"schema":"rharness.cart/v1","load":{},"wheels":[]})");
  const Cart cart = {.load = {{"hay", "dry"}},
                     .wheels = {{4, ""}, {6, "iron"}},
                     .spare = Wheel{8, ""},
                     .brakes = 2,
                     .open = false};
  const Json json = StrictWriter::Written(cart);
  EXPECT_EQ(json.Dump(),
            R"({"schema":"rharness.cart/v1","load":{"hay":"dry"},"wheels":[{"spokes":4},)"
            R"({"spokes":6,"rim":"iron"}],"spare":{"spokes":8},"brakes":2,"open":false})");
  JsonReader reader(json, "cart.json");
  Cart read;
  StrictReader::ReadInto(reader, read);
  ASSERT_TRUE(reader.ok()) << reader.status().error().ToString();
  EXPECT_EQ(StrictWriter::Written(read).Dump(), json.Dump());
}

TEST(StrictMembers, RefuseWhatTheListDoesNotHaveAndWhatAKindDoesNotAllow) {
  EXPECT_EQ(Refusal(R"({"schema": "rharness.cart/v1", "x-note": 1})"), "");
  EXPECT_THAT(Refusal(R"({"schema": "rharness.cart/v1", "wheles": []})"),
              testing::HasSubstr(R"(unknown member "wheles"; did you mean "wheels"?)"));
  EXPECT_THAT(Refusal(R"({"schema": "rharness.cart/v1", "spare": {"spokes": 8, "tyre": 1}})"),
              testing::HasSubstr(R"($.spare: unknown member "tyre")"));
  EXPECT_THAT(Refusal(R"({"schema": "rharness.cart/v1", "spare": {"spokes": 3}})"),
              testing::HasSubstr("$.spare.spokes: expected an even number"));
  EXPECT_THAT(Refusal(R"({"schema": "rharness.cart/v1", "spare": {}})"),
              testing::HasSubstr("$.spare.spokes: missing"));
  EXPECT_THAT(Refusal(R"({"schema": "rharness.cart/v1", "wheels": [{"spokes": 2}]})"),
              testing::HasSubstr("$.wheels: expected none, or two or more"));
}

TEST(StrictMembers, AreCheckedInAValueThatAProgramMade) {
  Cart cart;
  cart.wheels = {{2, ""}, {3, ""}};
  JsonReader reader(JsonReader::OverValues{}, "made");
  StrictReader::ReadInto(reader, cart);
  ASSERT_FALSE(reader.ok());
  EXPECT_THAT(reader.status().error().ToString(), testing::HasSubstr("$.wheels[1].spokes"));
}

TEST(StrictMembers, AreDescribedWithTheirKindsAndNothingElse) {
  const Json schema = SchemaOf<Cart>({.id = "c", .title = "c", .closed = true, .extensible = true});
  EXPECT_EQ(schema.Find("required")->Dump(), R"(["schema"])");
  EXPECT_EQ(schema.Find("patternProperties")->Dump(), R"({"^x-":{}})");
  const Json* properties = schema.Find("properties");
  EXPECT_EQ(properties->Find("brakes")->Dump(), R"({"type":"integer","multipleOf":2})");
  EXPECT_EQ(properties->Find("load")->Dump(),
            R"({"type":"object","additionalProperties":{"type":"string"}})");
  EXPECT_EQ(schema.Find("$defs")->Find("wheel")->Find("properties")->Find("spokes")->Dump(),
            R"({"type":"integer","multipleOf":2,"description":"How many.","examples":[8,12]})");
}

}  // namespace
}  // namespace rharness
