// `rharness explain` as a program, and the pages that alerts link to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/drill_program.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using ExplainProgram = DrillProgram;

TEST_F(ExplainProgram, WritesTheRunbookWhereAlertsLinkTo) {
  const ProcessResult written = Run({kRharness, "explain", "--out", "book"});
  EXPECT_EQ(written.outcome.exit_code, 0) << written.stderr_text;
  EXPECT_THAT(Read(At("book/RharnessBudgetBurning/index.html")), HasSubstr("rharness incident"));
  EXPECT_THAT(Read(At("book/index.html")), HasSubstr("./RharnessBudgetBurning/index.html"));
  const std::string back = "<a href=\"../index.html\">All codes</a>";
  EXPECT_THAT(Read(At("book/tree_changed/index.html")), HasSubstr(back));
  EXPECT_EQ(Run({kRharness, "explain", "tree_changed", "--format", "markdown", "--out", "md"})
                .outcome.exit_code,
            0);
  EXPECT_THAT(Read(At("md/tree_changed.md")), HasSubstr("# tree_changed\n"));
  // One page that is written again leaves the index of all as it is.
  const std::string index = Read(At("book/index.html"));
  EXPECT_EQ(Run({kRharness, "explain", "tree_changed", "--out", "book"}).outcome.exit_code, 0);
  EXPECT_EQ(Read(At("book/index.html")), index);
  EXPECT_EQ(Run({kRharness, "explain", "tree_changed", "--out", "one"}).outcome.exit_code, 0);
  EXPECT_FALSE(fs::exists(At("one/index.html")));
  EXPECT_THAT(Read(At("one/tree_changed/index.html")), Not(HasSubstr(back)));  // to no page
  const ProcessResult nowhere = Run({kRharness, "explain", "tree_changed", "--format", "markdown"});
  EXPECT_EQ(nowhere.outcome.exit_code, 2) << nowhere.stdout_text;
  EXPECT_THAT(nowhere.stderr_text, HasSubstr("--format"));
  EXPECT_EQ(Run({kRharness, "explain", "no_such_code"}).outcome.exit_code, 2);
  ASSERT_EQ(Run({kRharness, "documents", "--schemas", "schemas"}).outcome.exit_code, 0);
  const auto schema = ReadJsonFile(At("schemas/runbook.schema.json"));
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  const auto pages = ParseJson(Run({kRharness, "explain", "--json"}).stdout_text, "runbook");
  ASSERT_TRUE(pages.ok()) << pages.error().ToString();
  Validator(*schema).Check(*pages, *schema, "$");
  // Each link of an alert leads to a page.
  const std::string url = "https://wiki.example/book/";
  const std::string rules =
      Run({kRharness, "slo", "rules", "--rules", "-", "--runbooks", url}).stdout_text;
  int links = 0;
  for (auto at = rules.find(url); at != rules.npos; at = rules.find(url, at)) {
    at += url.size();
    const std::string alert = rules.substr(at, rules.find('"', at) - at);
    EXPECT_TRUE(fs::exists(At("book/" + alert + "/index.html"))) << alert;
    ++links;
  }
  EXPECT_EQ(links, 9);
}

}  // namespace
}  // namespace rharness
