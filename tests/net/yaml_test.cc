// YAML as JSON: how scalars are typed, and what ends a document that is too much.
#include "harness/net/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;

std::string Typed(std::string_view yaml) {
  const auto json = ParseYamlAsJson(yaml, "f.yaml");
  return json.ok() ? json->Dump() : json.error().ToString();
}

TEST(Yaml, TypesPlainScalarsByTheCoreSchema) {
  EXPECT_EQ(Typed("[null, Null, ~, true, FALSE, 12, -3, +4, 0x1f, 0o17]"),
            "[null,null,null,true,false,12,-3,4,31,15]");
  EXPECT_EQ(Typed("[1.5, .5, 2., 1e3, -1e-05, 1.0E+2, .inf, -.inf, .nan]"),
            R"([1.5,0.5,2.0,1000.0,-1e-05,100.0,"inf","-inf","nan"])");
}

TEST(Yaml, KeepsTextsThatLookLikeSomethingElse) {
  EXPECT_EQ(
      Typed("[NO, on, Yes, 2024-01-01, 12:30, 1_000, 0x, 0o9, 1.2.3, nan, -, 'x: y']"),
      R"(["NO","on","Yes","2024-01-01","12:30","1_000","0x","0o9","1.2.3","nan","-","x: y"])");
  EXPECT_EQ(Typed("['12', \"true\", !!str 5, !mine 6, !!int 7]"), R"(["12","true","5","6",7])");
  EXPECT_EQ(Typed("[007, 00.5, 1e999, 12345678901234567890, 123456789012345678901234]"),
            R"(["007","00.5","1e999",12345678901234567890,123456789012345678901234])");
}

TEST(Yaml, LeavesAllScalarsTextsWhereThatIsAskedFor) {
  const auto json = ParseYamlAsJson("{id: 12e5, null: ~, n: 1}", "f", YamlScalars::kText);
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(json->Dump(), R"({"id":"12e5","null":null,"n":"1"})");
}

TEST(Yaml, TypesNumbersAsDvcDoesWhereThatIsAskedFor) {
  const auto json = ParseYamlAsJson(
      "[10_000, 007, 0b101, -0b11, 1_0.5, 1e3, 0x1F, 0o17, 0, 0.5, -0_1, '007', 1_a, _1, 0b2, a]",
      "f", YamlScalars::kDvc);
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(json->Dump(),
            R"([10000,7,5,-3,10.5,1000.0,31,15,0,0.5,-1,"007","1_a","_1","0b2","a"])");
}

TEST(Yaml, CopiesWhatAnAliasNames) {
  EXPECT_EQ(Typed("a: &x [1, {b: 2}]\nc: *x\n<<: *x"),
            R"({"a":[1,{"b":2}],"c":[1,{"b":2}],"<<":[1,{"b":2}]})");
  EXPECT_THAT(Typed("a: &x [1, *x]"), HasSubstr("f.yaml:1: an alias of what it stands in"));
}

TEST(Yaml, IsOneDocument) {
  EXPECT_EQ(Typed(""), "null");
  EXPECT_EQ(Typed("# nothing\n"), "null");
  EXPECT_EQ(Typed("---\na: 1\n"), R"({"a":1})");
  EXPECT_THAT(Typed("a: 1\n---\nb: 2\n"), HasSubstr("a second YAML document"));
  EXPECT_THAT(Typed("[],"), HasSubstr("f.yaml:"));
}

TEST(Yaml, IsRefusedWithItsLine) {
  EXPECT_THAT(Typed("a: 1\nb: [1\n"), HasSubstr("f.yaml:"));
  EXPECT_THAT(Typed("a: 1\nb: 2\na: 3\n"), HasSubstr("f.yaml:3: the key 'a' is there twice"));
  EXPECT_THAT(Typed("? [1]\n: 2\n"), HasSubstr("a key that is no text"));
  EXPECT_THAT(Typed("a: 1\nb: x\x04y\n"), HasSubstr("f.yaml:2: a control character"));
  EXPECT_THAT(Typed(std::string("a: \0b", 5)), HasSubstr("a control character"));
}

TEST(Yaml, IsBoundedInLevelsValuesAndCopies) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(Typed(nested(kMostYamlDepth)), nested(kMostYamlDepth));
  EXPECT_THAT(Typed(nested(kMostYamlDepth + 1)), HasSubstr("levels"));
  EXPECT_THAT(Typed(std::string(100'000, '[')), HasSubstr("f.yaml:1"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(Typed(bomb), HasSubstr("more than 1048576 values"));
  std::string texts = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
  for (int i = 0; i < 100; ++i) texts += "*a, ";
  EXPECT_THAT(Typed(texts + "1]"), HasSubstr("67108864 bytes"));
  std::string depth = "a: &a " + nested(60) + "\nb: ";
  EXPECT_THAT(Typed(depth + std::string(60, '[') + "*a" + std::string(60, ']')),
              HasSubstr("levels"));
}

}  // namespace
}  // namespace rharness
