// JSON: what is refused and how fast, what is written, and what the typed reader says.
#include "harness/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "harness/base/json_reader.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

using testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  const auto json = ParseJson(text, "f.json");
  if (json.ok()) return "accepted";
  EXPECT_EQ(json.error().code, ErrorCode::kInvalidInput);
  return json.error().ToString();
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const Json json = *ParseJson(R"( {"a":[1,-2,3.5,true,null,"\u00e9\n"],"b":{}} )", "f");
  EXPECT_EQ(json.Dump(), "{\"a\":[1,-2,3.5,true,null,\"\xc3\xa9\\n\"],\"b\":{}}");
}

TEST(ParseJson, KeepsIntegersExactAtTheEndsOfTheirRange) {
  EXPECT_EQ(ParseJson("-9223372036854775808", "f")->ToInt64(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(ParseJson("18446744073709551615", "f")->ToUint64(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(ParseJson("9223372036854775808", "f")->ToInt64(), std::nullopt);
  EXPECT_EQ(ParseJson("18446744073709551616", "f")->ToUint64(), std::nullopt);
  EXPECT_EQ(ParseJson("-9223372036854775809", "f")->ToInt64(), std::nullopt);
  EXPECT_EQ(ParseJson("-1", "f")->ToUint64(), std::nullopt);
}

TEST(ParseJson, ReadsWholeDoublesAsIntegersWhileTheyAreExact) {
  EXPECT_EQ(ParseJson("3.0", "f")->ToInt64(), 3);
  EXPECT_EQ(ParseJson("1e3", "f")->ToUint64(), 1000U);
  EXPECT_EQ(ParseJson("-2.0", "f")->ToUint64(), std::nullopt);
  EXPECT_EQ(ParseJson("3.5", "f")->ToInt64(), std::nullopt);
  EXPECT_EQ(ParseJson("1e300", "f")->ToInt64(), std::nullopt);
}

TEST(ParseJson, RefusesMalformedTextAndSaysWhere) {
  EXPECT_THAT(ErrorOf("[1,]"), HasSubstr("f.json: byte 4"));
  for (const char* text :
       {"",     " ",       "{",      "[1 2]",   "[1]x", "{} {}",       "{'a':1}",    "{a:1}",
        "[01]", "[1.]",    "[.5]",   "[+1]",    "NaN",  "[NaN]",       "Infinity",   "-Infinity",
        "nul",  "\"\\x\"", "\"\n\"", "// c\n1", "[1,2", "\"\\ud800\"", "\"\\udc00\""}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("not valid JSON")) << text;
  }
}

TEST(ParseJson, RefusesInvalidUtf8) {
  for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\"",
                           "\"\xf4\x90\x80\x80\"", "{\"\x80\":1}"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("not valid JSON"));
  }
}

TEST(ParseJson, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_THAT(ErrorOf(R"({"a":1,"a":1})"), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(ErrorOf(R"({"x":[0,{"k":1,"\u006b":2}]})"), HasSubstr("f.json: $.x[1]"));
  EXPECT_TRUE(ParseJson(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})", "f").ok());
}

TEST(ParseJson, RefusesNumbersBeyondADouble) {
  EXPECT_NE(ErrorOf("1e400"), "accepted");
  EXPECT_NE(ErrorOf("-1e999999999999"), "accepted");
  EXPECT_NE(ErrorOf("1" + std::string(400, '0')), "accepted");
  EXPECT_EQ(ParseJson("1e-400", "f")->ToDouble(), 0.0);
}

TEST(ParseJson, StopsAtTheDepthLimitInsteadOfReadingOn) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(128), "f").ok());
  EXPECT_THAT(ErrorOf(nested(129)), HasSubstr("128 levels"));
  EXPECT_THAT(ErrorOf(std::string(100000000, '[')), HasSubstr("128 levels"));
  std::string objects;
  for (int i = 0; i < 1000000; ++i) objects += "{\"a\":";
  EXPECT_THAT(ErrorOf(objects), HasSubstr("128 levels"));
}

TEST(ParseJson, RefusesMoreValuesThanItsMemoryLimitAllows) {
  std::string text = "[";
  for (int i = 0; i < (1 << 24); ++i) text += "0,";
  text += "0]";
  EXPECT_THAT(ErrorOf(text), HasSubstr("16777216 values"));
}

TEST(ParseJson, KeepsNoRoomThatContainersGrewAndDoNotUse) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator does not count for mallinfo2";
  constexpr std::size_t kArrays = 100'000, kEach = 5;
  std::string text = "[";
  for (std::size_t i = 0; i < kArrays; ++i) text += "[0,0,0,0,0],";
  text += "0]";
  const std::size_t before = mallinfo2().uordblks;
  const auto json = ParseJson(text, "f");
  const std::size_t used = mallinfo2().uordblks - before;
  ASSERT_TRUE(json.ok());
  EXPECT_LT(used, kArrays * (kEach + 1) * sizeof(Json) * 5 / 4);
}

TEST(ParseJson, QuotesOnlyTheStartOfAHugeText) {
  const std::string huge(1000000, 'k');
  EXPECT_LT(ErrorOf("\"" + huge).size(), 500U);
  EXPECT_LT(ErrorOf(huge).size(), 500U);
  EXPECT_LT(ErrorOf("1" + std::string(1000000, '0')).size(), 500U);
  EXPECT_LT(ErrorOf("{\"" + huge + "\":1,\"" + huge + "\":1}").size(), 500U);
  EXPECT_LT(ErrorOf("{\"" + huge + "\":{\"a\":1,\"a\":1}}").size(), 500U);
}

TEST(Dump, WritesDoublesSoThatTheyAreReadBackBitForBit) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const Json json = *ParseJson(Json(value).Dump(), "f");
    ASSERT_EQ(json.kind(), Json::Kind::kDouble) << Json(value).Dump();
    const double back = *json.ToDouble();
    ASSERT_EQ(std::memcmp(&back, &value, sizeof value), 0) << Json(value).Dump();
  }
}

TEST(Dump, WritesTheShortestDigits) {
  EXPECT_EQ(Json(0.1).Dump(), "0.1");
  EXPECT_EQ(Json(1.0).Dump(), "1.0");
  EXPECT_EQ(Json(-0.0).Dump(), "-0.0");
  EXPECT_EQ(Json(1e22).Dump(), "1e+22");
  EXPECT_EQ(Json(100000.0).Dump(), "100000.0");
  EXPECT_EQ(Json(std::ldexp(1.0, -44)).Dump(), "5.684341886080802e-14");
  EXPECT_EQ(Json(5e-324).Dump(), "5e-324");
}

TEST(Dump, SpellsOutNumbersThatJsonLacks) {
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).Dump(), "\"nan\"");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).Dump(), "\"-inf\"");
  EXPECT_TRUE(std::isnan(*ParseJson("\"nan\"", "f")->ToDouble()));
  EXPECT_EQ(ParseJson("\"inf\"", "f")->ToDouble(), std::numeric_limits<double>::infinity());
}

TEST(Dump, KeepsOrderEscapesAndIndents) {
  Json json;
  json.Set("z", 1).Set("a", "q\"\\\x01\x7f").Set("z", 2);
  json.Set("list", Json::MakeArray({1, 2})).Set("empty", Json::MakeObject());
  EXPECT_EQ(json.Dump(2),
            "{\n  \"z\": 2,\n  \"a\": \"q\\\"\\\\\\u0001\x7f\",\n  \"list\": [1,2],\n"
            "  \"empty\": {}\n}");
  EXPECT_EQ(Json("a\xff").Dump(), "\"a\xef\xbf\xbd\"");
}

TEST(JsonReader, NamesThePathOfTheFirstErrorAndKeepsIt) {
  const Json json = *ParseJson(R"({"a":{"b":[{"n":1},{"n":"x"}]},"c":-1})", "f");
  JsonReader reader(json, "m.json");
  int n = 0;
  std::uint32_t c = 5;
  reader.ReadObject(
      "a", true, [&](JsonReader& a) { a.ForEach("b", [&](JsonReader& b) { b.Read("n", &n); }); });
  reader.Read("c", &c);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(c, 5U);
  EXPECT_EQ(reader.status().error().ToString(),
            "m.json: $.a.b[1].n: expected an integer, found \"x\"");
}

TEST(JsonReader, ChecksRangesOfIntegers) {
  const Json json = *ParseJson(R"({"big":4294967296,"minus":-1,"half":0.5})", "f");
  for (const char* key : {"big", "minus", "half"}) {
    JsonReader reader(json, "f");
    std::uint32_t value = 9;
    reader.Read(key, &value);
    EXPECT_FALSE(reader.ok()) << key;
    EXPECT_EQ(value, 9U);
  }
}

TEST(JsonReader, TreatsNullAsAbsentButNotAWrongType) {
  const Json json = *ParseJson(R"({"n":null,"t":1})", "f");
  std::string text = "kept";
  std::optional<double> number;
  JsonReader reader(json, "f");
  reader.ReadOptional("n", &text);
  reader.ReadOptional("none", &text);
  reader.ReadOptional("n", &number);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(text, "kept");
  EXPECT_FALSE(number.has_value());
  reader.ReadOptional("t", &text);
  EXPECT_FALSE(reader.ok());
  JsonReader required(json, "f");
  required.Read("n", &text);
  EXPECT_THAT(required.status().error().ToString(), HasSubstr("missing"));
}

TEST(JsonReader, RefusesMembersOfWhatIsNoObjectEvenOptionalOnes) {
  const Json json = *ParseJson(R"([1,2])", "f");
  int value = 0;
  JsonReader optional(json, "f");
  optional.ReadOptional("a", &value);
  EXPECT_FALSE(optional.ok());
  JsonReader each(json, "f");
  each.ForEach("a", [](JsonReader&) {});
  EXPECT_FALSE(each.ok());
  JsonReader object(json, "f");
  object.ReadObject("a", false, [](JsonReader&) {});
  EXPECT_FALSE(object.ok());
}

TEST(JsonReader, ReadsOlderSchemasAndRefusesNewerByName) {
  const auto version = [](const std::string& schema) {
    const Json json = Json().Set("schema", schema);
    JsonReader reader(json, "f");
    return reader.ReadSchema("rharness.x", 2);
  };
  EXPECT_EQ(version("rharness.x/v1"), 1);
  EXPECT_EQ(version("rharness.x/v2"), 2);
  EXPECT_EQ(version("rharness.x/v3"), 0);
  EXPECT_EQ(version("rharness.y/v1"), 0);
  const Json json = Json().Set("schema", "rharness.x/v3");
  JsonReader reader(json, "f");
  reader.ReadSchema("rharness.x", 2);
  EXPECT_THAT(reader.status().error().ToString(), HasSubstr("rharness.x/v3"));
}

TEST(Json, DoesNotTakeANulForTheEnd) {
  EXPECT_THAT(ErrorOf(std::string_view("{}\0{", 4)), HasSubstr("f.json: byte 3"));
}

// Rounded to a double, the first two are one number.
TEST(Json, KeepsEveryDigitOfAnInteger) {
  for (const char* text : {"18446744073709551616", "18446744073709551617", "-9223372036854775809",
                           "100000000000000000000000000000000000001"}) {
    const auto json = ParseJson(text, "f");
    ASSERT_TRUE(json.ok()) << text;
    EXPECT_EQ(json->Dump(), text);
    EXPECT_EQ(json->kind(), Json::Kind::kBigInt);
    EXPECT_EQ(json->KindName(), "number");
    EXPECT_EQ(json->ToDouble(), std::strtod(text, nullptr));
    EXPECT_EQ(json->ToInt64(), std::nullopt);
    EXPECT_EQ(json->ToUint64(), std::nullopt);
  }
  EXPECT_EQ(ParseJson("18446744073709551616.0", "f")->kind(), Json::Kind::kDouble);
  EXPECT_FALSE(ParseJson("1" + std::string(400, '0'), "f").ok());
}

}  // namespace
}  // namespace rharness
