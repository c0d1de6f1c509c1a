// An audit by somebody who may read and nothing else: nothing is written, made or migrated.
#include <gmock/gmock.h>
#include <unistd.h>

#include "harness/base/digest.h"
#include "tests/cli/audit_world.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Nobody, in a folder and of files that nobody may write.
class ReadOnlyAudit : public AuditWorld {
 protected:
  void TearDown() override {
    if (!fs::exists(At("copy"))) return;
    fs::permissions(At("copy"), fs::perms::owner_all, fs::perm_options::add);
    for (const auto& one : fs::recursive_directory_iterator(At("copy"))) {
      fs::permissions(one.path(), fs::perms::owner_all, fs::perm_options::add);
    }
  }
  void Copy() const {
    for (const char* name : {"runs.db", "runs.db.audit", "kept", "h100"}) {
      fs::create_directories(At("copy"));
      fs::copy(At(name), At(std::string("copy/") + name), fs::copy_options::recursive);
    }
    for (const char* name : {"trust.yaml", "ada.pub", "policy.yaml"}) {
      fs::copy_file(At(name), At(std::string("copy/") + name));
    }
  }
  void Lock() const {
    for (const auto& one : fs::recursive_directory_iterator(At("copy"))) {
      fs::permissions(one.path(), fs::perms(one.is_directory() ? 0555 : 0444));
    }
    fs::permissions(At("copy"), fs::perms(0555));
    fs::permissions(At(""), fs::perms(0755));
  }
  ProcessResult OfNobody(const std::vector<std::string>& words) const {
    std::vector<std::string> argv;
    if (::geteuid() == 0) {
      argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"};
    }
    argv.push_back(kRharness);
    argv.insert(argv.end(), words.begin(), words.end());
    argv.insert(argv.end(), {"--history", At("copy/runs.db").string()});
    return Run(argv);
  }
  ProcessResult AsNobody(const char* verb, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"audit", verb, "--policy", At("copy/policy.yaml").string()};
    words.insert(words.end(), options.begin(), options.end());
    return OfNobody(words);
  }
};

TEST_F(ReadOnlyAudit, VerifiesAndAnswersForWhoMayWriteNothing) {
  Copy();
  Lock();
  const std::string before = HashTree(At("copy"))->sha256;
  const ProcessResult verified =
      AsNobody("verify", {"--head", At("copy/kept/1.json").string(), "--baseline",
                          At("copy/h100").string(), "--complete"});
  EXPECT_EQ(verified.outcome.exit_code, 0) << verified.stderr_text;
  EXPECT_THAT(verified.stdout_text, HasSubstr("holds: "));
  const ProcessResult shown = AsNobody("show", {"a"});
  EXPECT_EQ(shown.outcome.exit_code, 0) << shown.stderr_text;
  EXPECT_THAT(shown.stdout_text, HasSubstr("are as entered"));
  EXPECT_THAT(OfNobody({"history", "retire", "list"}).stdout_text,
              HasSubstr("c: retired, unsigned"));
  Must(OfNobody({"history", "prune", "list"}));
  EXPECT_EQ(HashTree(At("copy"))->sha256, before);
  fs::permissions(At("copy/runs.db"), fs::perms(0400));
  if (::geteuid() != 0) return;
  const ProcessResult hidden = AsNobody("verify");
  EXPECT_EQ(hidden.outcome.exit_code, 2);
  EXPECT_THAT(hidden.stderr_text, HasSubstr("cannot be opened for reading: Permission denied"));
}

TEST_F(ReadOnlyAudit, LeavesNothingBesideAHistoryThatMayBeWritten) {
  Copy();
  Must(Run({kRharness, "audit", "verify", "--history", "copy/runs.db"}));
  Must(Run({kRharness, "audit", "show", "a", "--history", "copy/runs.db"}));
  Must(Run({kRharness, "audit", "append", "--history", "copy/runs.db"}));
  for (const char* beside : {"copy/runs.db-wal", "copy/runs.db-shm", "copy/runs.db-journal"}) {
    EXPECT_FALSE(fs::exists(At(beside))) << beside;
  }
}

TEST_F(ReadOnlyAudit, MigratesNoHistoryAndSaysWhatDoes) {
  Copy();
  {
    RawDatabase database(At("copy/runs.db"));
    for (const char* statement :
         {"DROP INDEX verdicts_unknown", "DROP INDEX family_verdicts_unknown",
          "DROP INDEX property_verdicts_unknown", "DROP INDEX rebuild_answers_unknown",
          "DROP INDEX deleted_items_unknown",
          "UPDATE rharness_meta SET value = '15' WHERE name = 'schema_version'"}) {
      EXPECT_EQ(database.Run(statement), "");
    }
  }
  const std::string before = Sha256HexOf(Read(At("copy/runs.db")));
  for (const char* verb : {"verify", "append"}) {
    const ProcessResult older = Run({kRharness, "audit", verb, "--history", "copy/runs.db"});
    EXPECT_EQ(older.outcome.exit_code, 2) << older.stderr_text;
    EXPECT_THAT(older.stderr_text,
                HasSubstr("v15 is older than v16, and is opened for reading alone; `rharness "
                          "history list` brings it up to date"));
  }
  EXPECT_EQ(Sha256HexOf(Read(At("copy/runs.db"))), before);
}

TEST_F(ReadOnlyAudit, ReadsWhatADrillHasNotPutInTheFileYet) {
  RawDatabase open(At("runs.db"));  // keeps what is written in the log of SQLite
  EXPECT_FALSE(open.Rows("SELECT value FROM rharness_meta").empty());
  Retire("b");
  ASSERT_GT(fs::file_size(At("runs.db-wal")), 0U);
  const ProcessResult result = Verify();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("not in the log yet: retirement b"));
}

TEST_F(ReadOnlyAudit, SaysWhichRuleAPolicyLacksForHeads) {
  Write("trust.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\nrules:\n"
        "  - {predicates: ['urn:rharness:verdict:*'], keys: [ada]}\n");
  Retire("b");
  const std::size_t entries = Entries().size();
  for (const ProcessResult& result : {Append({"--trust", "trust.yaml"}), Verify()}) {
    EXPECT_EQ(result.outcome.exit_code, 2) << "nobody tampered with anything";
    EXPECT_THAT(result.stderr_text, HasSubstr("no rule of the trust policy says who may sign tree "
                                              "heads (urn:rharness:tree-head:v1)"));
    EXPECT_THAT(
        result.stderr_text,
        HasSubstr("`rules: [{predicates: [\"urn:rharness:tree-head:v1\"], keys: [NAME]}]`"));
  }
  EXPECT_EQ(Entries().size(), entries);
}

}  // namespace
}  // namespace rharness
