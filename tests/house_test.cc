// The source tree keeps its own rules; each rule is first seen to catch what it is there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "harness/base/files.h"
#include "tests/house_rules.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string Repeat(std::string_view line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

std::string TextOf(const Violations& violations) {
  std::string text;
  for (const Violation& one : violations) text += one.ToString() + "\n";
  return text;
}

// A function of `lines` lines after `before`.
std::string Function(int lines, const std::string& before = "") {
  return before + "int F(int a) {\n" + Repeat("  a += 1;\n", lines - 2) + "}\n";
}

TEST(House, LimitsTheLinesOfHeadersAndSources) {
  EXPECT_EQ(TextOf(CheckShape("a.h", Repeat("// a\n", 150))), "");
  EXPECT_EQ(TextOf(CheckShape("a.h", Repeat("// a\n", 151))), "a.h:151: 151 lines; at most 150\n");
  EXPECT_EQ(TextOf(CheckShape("a.cc", Repeat("// a\n", 400))), "");
  EXPECT_EQ(TextOf(CheckShape("a.cc", Repeat("// a\n", 401))),
            "a.cc:401: 401 lines; at most 400\n");
  EXPECT_EQ(TextOf(CheckShape("a.csv", Repeat("1\n", 1000))), "");
}

TEST(House, WantsACommentAtTheTop) {
  EXPECT_EQ(TextOf(CheckShape("a.cc", "#include <string>\n")),
            "a.cc:1: expected a comment that says the file's role\n");
}

TEST(House, WantsTheGuardOfThePath) {
  const std::string good = "// A.\n#ifndef RHARNESS_A_B_C_H_\n#define RHARNESS_A_B_C_H_\n#endif\n";
  EXPECT_EQ(TextOf(CheckGuard("a/b_c.h", good)), "");
  EXPECT_EQ(TextOf(CheckGuard("a/d.h", good)), "a/d.h:2: expected the guard RHARNESS_A_D_H_\n");
  EXPECT_EQ(TextOf(CheckGuard("a/d.h", "// A.\nint a;\n")),
            "a/d.h:1: expected the guard RHARNESS_A_D_H_\n");
  EXPECT_EQ(TextOf(CheckGuard("a/d.cc", "// A.\nint a;\n")), "");
}

TEST(House, FailsOnAnUpwardInclude) {
  struct Case {
    const char* path;
    const char* target;
    bool allowed;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"harness/base/a.cc", "harness/base/json.h", true},
           {"harness/base/a.cc", "compare/facts.h", false},
           {"compare/stats/a.cc", "harness/base/result.h", true},
           {"compare/a.cc", "harness/records/manifest/manifest.h", false},
           {"probes/a.cu", "compare/facts.h", false},
           {"probes/a.cc", "harness/records/manifest/environment.h", true},
           {"harness/records/manifest/a.h", "compare/facts.h", false},
           {"reports/a.cc", "harness/verdict/verdict.h", true},
           {"reports/a.cc", "harness/drill/drill.h", false},
           {"harness/execution/launch/a.cc", "harness/records/manifest/manifest.h", true},
           {"harness/execution/launch/a.cc", "harness/history/store.h", false},
           {"harness/drill/a.cc", "reports/model.h", true},
           {"harness/drill/a.cc", "harness/cli/verb.h", false},
           {"harness/gate/a.cc", "harness/drill/drill.h", false},
           {"harness/judge/comparison/a.cc", "harness/drill/drill.h", false},
           {"harness/drill/a.cc", "harness/experiments/isolate/isolate.h", false},
           {"harness/cli/a.cc", "harness/drill/drill.h", true},
           {"harness/cli/a.cc", "scenarios/common/rng.h", false},
           {"scenarios/x/a.cc", "scenarios/common/rng.h", true},
           {"scenarios/x/a.cc", "harness/base/files.h", false},
           {"harness/base/a.cc", "tests/base/test_child.h", false},
           {"tests/base/a.cc", "scenarios/common/rng.h", true}}) {
    const std::string text = fmt::format("// A.\n\n  #  include \"{}\"\n", one.target);
    const std::string found = TextOf(CheckFloors(one.path, text));
    EXPECT_EQ(found.empty(), one.allowed) << one.path << " includes " << one.target;
    if (!one.allowed) {
      EXPECT_TRUE(found.starts_with(fmt::format("{}:3: ", one.path))) << found;
    }
  }
  EXPECT_EQ(TextOf(CheckFloors("other/a.cc", "")),
            "other/a.cc:1: this folder stands on no floor\n");
}

TEST(House, KeepsLibrariesBehindTheirFences) {
  const std::string json = "// A.\n#include <nlohmann/json.hpp>\n";
  EXPECT_EQ(TextOf(CheckFences("harness/base/json.cc", json)), "");
  EXPECT_EQ(TextOf(CheckFences("harness/drill/plan.cc", json)),
            "harness/drill/plan.cc:2: nlohmann/ is included outside of its fence\n");
  for (const char* target :
       {"<boost/process/child.hpp>", "<boost/math/tools/roots.hpp>", "<boost/asio.hpp>",
        "<soci/soci.h>", "<CLI/CLI.hpp>", "<format>", "<pugixml.hpp>", "\"soci/soci.h\""}) {
    const std::string text = fmt::format("#include {}\n", target);
    EXPECT_NE(TextOf(CheckFences("harness/drill/plan.cc", text)), "") << target;
  }
}

TEST(House, LimitsTheLinesOfFunctions) {
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", Function(60))), "");
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", Function(61))),
            "a.cc:1: a function of 61 lines; at most 60\n");
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", Function(61, "namespace a {\nclass B {\n"))),
            "a.cc:3: a function of 61 lines; at most 60\n");
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", Function(30) + "\n" + Function(31))), "");
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", "class A {\n" + Repeat("  int B();\n", 80) + "};\n")),
            "");
  EXPECT_EQ(TextOf(CheckFunctions("a.cc", "int a[] = {\n" + Repeat("1,\n", 80) + "};\n")), "");
}

TEST(House, IsNotMisledByBracesInTextAndComments) {
  for (const char* line :
       {"  // }\n", "  /* } */\n", "  Say(\"}\");\n", "  Say('}');\n", "  Say(R\"(})\");\n",
        "  Say(\"\\\"}\");\n", "#define A }\n", "  Say(1'000, '\\'', '}');\n"}) {
    const std::string text = "int F() {\n" + Repeat(line, 59) + "}\n";
    EXPECT_EQ(TextOf(CheckFunctions("a.cc", text)), "a.cc:1: a function of 61 lines; at most 60\n")
        << line;
  }
}

TEST(House, FindsNotesOfWorkLeftAndForeignFolders) {
  EXPECT_EQ(TextOf(CheckWords("a.md",
                              "one\n// TO"
                              "DO(a): more\n")),
            "a.md:2: a note of work left to do\n");
  EXPECT_EQ(TextOf(CheckWords("dev",
                              "FIX"
                              "ME\n")),
            "dev:1: a note of work left to do\n");
  EXPECT_EQ(TextOf(CheckWords("a.json",
                              "{\"root\": \"/home/"
                              "ada/x\"}")),
            "a.json:1: a folder of somebody's machine\n");
  EXPECT_EQ(TextOf(CheckWords("a.cc", "\"/home/a\" + path/work/tree.h ToDouble /tmp")), "");
}

TEST(House, WantsReadmesThatNameWhatIsThere) {
  const std::vector<std::string> files = {"a/README.md", "a/b/c.h", "d/e.cc"};
  EXPECT_EQ(TextOf(CheckReadme("a/README.md", "`b/c.h`, `c.h` and `d/e.cc`\n", files)), "");
  EXPECT_EQ(TextOf(CheckReadme("a/README.md", "one\n`f.h`, `e.cc`\n", files)),
            "a/README.md:2: f.h does not exist\na/README.md:2: e.cc does not exist\n");
  EXPECT_EQ(TextOf(CheckReadme("a/README.md", Repeat("a\n", 61), files)),
            "a/README.md:61: 61 lines; at most 60\n");
  EXPECT_EQ(TextOf(CheckReadme("a/README.md", Repeat("ü", 120) + "\n", files)), "");
  EXPECT_EQ(TextOf(CheckReadme("a/README.md", "a\n" + Repeat("ü", 121) + "\n", files)),
            "a/README.md:2: 121 columns; at most 120\n");
  EXPECT_EQ(TextOf(CheckFolders(files)),
            "a/b/README.md:1: expected: what the folder is for\n"
            "d/README.md:1: expected: what the folder is for\n");
}

TEST(House, FindsATypeThatTwoHeadersDefine) {
  const std::string open = "namespace rharness {\n";
  EXPECT_EQ(TextOf(CheckTypes({{"a.h", open + "struct Said {\n};\nclass Other;\n"},
                               {"b.h", open + "// struct Said {\nenum class Said { kOne };\n"},
                               {"c.h", "namespace rharness::c {\nstruct Said : Other {\n};\n"},
                               {"d.h", open + "struct A::Said {\n};\nstruct Said;\n"},
                               {"tests/e.h", open + "struct Said {\n};\n"}})),
            "b.h:3: rharness::Said is defined in a.h, too\n");
  EXPECT_EQ(TextOf(CheckTypes({{"a.h", open + "bool Said(int a);\nSaid Make(Said b);\n"},
                               {"b.h", open + "enum class Said { kOne };\nint Told();\n"}})),
            "a.h:2: rharness::Said is the name of a type in b.h\n");
}

TEST(House, FindsANounWithTwoListsOfMembers) {
  const std::string list =
      "// Is<Note> T>\ntemplate <class Io, Is<Note> T>\nvoid Members(Io& io, T& note) {\n}\n";
  EXPECT_EQ(
      TextOf(CheckMemberLists({{"a.h", list}, {"b/c.cc", "\n" + list}, {"tests/d.cc", list}})),
      "b/c.cc:3: Note has a list of members in a.h, too\n");
  const std::string part =
      "template <class Io, Is<Note> T>\nvoid PartMembers(Io& io, T& note) {\n}\n";
  EXPECT_EQ(TextOf(CheckMemberLists({{"a.h", list + part}, {"b.h", part}})), "");
}

TEST(House, FindsAFunctionThatHidesOneOfItsFolder) {
  const std::string open = "namespace rharness {\n", unnamed = "namespace {\n";
  const std::string header = open + "bool Stopped();\nint Take(const Text& a, int b = 1);\n}\n";
  const auto with = [&](const std::string& folder, const std::string& code) {
    return TextOf(CheckHidden({{"a/a.h", header}, {folder + "b.cc", open + unnamed + code}}));
  };
  EXPECT_EQ(with("a/", "bool Stopped() { return one; }\n"),
            "a/b.cc:3: Stopped() hides that of a/a.h from the sources compiled with it\n");
  EXPECT_EQ(with("a/", "int Take(const Text& x,\n         int y) {\n"),
            "a/b.cc:3: Take(const Text&, int) hides that of a/a.h from the sources compiled with "
            "it\n");
  EXPECT_EQ(with("a/", "int Take(const Text& x) { return Stopped(); }\n"), "") << "an overload";
  EXPECT_EQ(with("a/", "}\nbool Stopped() { return one; }\n"), "") << "the function itself";
  EXPECT_EQ(with("a/", "struct S {\n  bool Stopped() { return one; }\n};\n"), "") << "a member";
  EXPECT_EQ(with("b/", "bool Stopped() { return one; }\n"), "") << "another folder";
}

TEST(House, FindsAFileThatACommentNamesAndThatIsGone) {
  const std::set<std::string> files = {"b.h", "c.cc"};
  EXPECT_EQ(
      TextOf(CheckComments("a/c.cc", "// See b.h, a/c.cc and sqlite3.h.\nint gone_h;\n", files)),
      "");
  EXPECT_EQ(TextOf(CheckComments("a/c.cc", "int x;\n  // Beside gone.h and <d.h>.\n", files)),
            "a/c.cc:2: gone.h does not exist\n");
}

// Every text file of the tree by its path; hidden folders and build folders are none of it.
std::map<std::string, std::string> ReadTree(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory()) {
      const bool top = entry.depth() == 0;
      if (name.starts_with(".") || name == "__pycache__" || (top && name.starts_with("build"))) {
        entry.disable_recursion_pending();
      }
      continue;
    }
    if (!entry->is_regular_file() || name.starts_with(".")) continue;
    const auto text = ReadFile(entry->path());
    EXPECT_TRUE(text.ok()) << entry->path();
    tree[fs::relative(entry->path(), root).generic_string()] = text.ok() ? *text : "";
  }
  return tree;
}

TEST(House, KeepsItsRules) {
  const std::map<std::string, std::string> tree = ReadTree(RHARNESS_SOURCE_DIR);
  std::vector<std::string> files;
  std::set<std::string> names;
  for (const auto& [path, text] : tree) {
    files.push_back(path);
    names.insert(fs::path(path).filename().string());
  }
  ASSERT_GT(
      std::count_if(files.begin(), files.end(), [](const auto& path) { return IsCode(path); }),
      100);
  Violations all = CheckFolders(files);
  const auto add = [&all](const Violations& found) {
    all.insert(all.end(), found.begin(), found.end());
  };
  for (const auto& [path, text] : tree) {
    for (const auto check :
         {CheckShape, CheckGuard, CheckFloors, CheckFences, CheckFunctions, CheckWords}) {
      add(check(path, text));
    }
    add(CheckComments(path, text, names));
    if (path.ends_with("README.md")) add(CheckReadme(path, text, files));
  }
  add(CheckTypes(tree));
  add(CheckHidden(tree));
  add(CheckMemberLists(tree));
  EXPECT_TRUE(all.empty()) << TextOf(all);
}

}  // namespace
}  // namespace rharness
