// What somebody may do who can write the history, the log and everything beside them, but has no
// signing key and not the heads that others keep: each is found, and the first bad entry is named.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <functional>

#include "tests/cli/audit_world.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Tampering {
  std::string what;
  std::function<void()> tamper;
  std::string told;  // in the one line on stderr
};

class AuditTampering : public AuditWorld {
 protected:
  void SetUp() override {
    AuditWorld::SetUp();
    entries_ = Entries();
    // Another log of the same history, in another order.
    Must(Run({kRharness, "audit", "append", "--begin", "--history", "runs.db", "--policy",
              "policy.yaml", "--log", "other", "--key", "ada.pem"}));
    Must(Run({kRharness, "audit", "append", "--history", "runs.db", "--baseline", "h100", "--log",
              "other", "--key", "ada.pem", "--out", "kept/other.json"}));
    fs::create_directory(At("saved"));
    for (const char* name : kKept) {
      fs::copy(At(name), At(std::string("saved/") + name), fs::copy_options::recursive);
    }
  }
  void Restore() const {
    for (const char* name : kKept) {
      fs::remove_all(At(name));
      fs::copy(At(std::string("saved/") + name), At(name), fs::copy_options::recursive);
    }
    for (const char* beside : {"runs.db-wal", "runs.db-shm"}) fs::remove(At(beside));
  }

  void Sql(const std::string& statement) const {
    RawDatabase database(At("runs.db"));
    EXPECT_EQ(database.RunPastTriggers(statement), "");
  }
  void Edit(const std::string& name, const std::function<void(std::string*)>& edit) const {
    std::string text = Read(At(name)), before = text;
    edit(&text);
    EXPECT_NE(text, before) << name;
    Write(name, text);
  }
  void EditLines(const std::string& name,
                 const std::function<void(std::vector<std::string>*)>& edit) const {
    Edit(name, [&](std::string* text) {
      std::vector<std::string> lines;
      for (std::size_t at = 0; at < text->size(); at = text->find('\n', at) + 1) {
        lines.push_back(text->substr(at, text->find('\n', at) - at));
      }
      edit(&lines);
      text->clear();
      for (const std::string& line : lines) *text += line + "\n";
    });
  }
  void EditEntries(const std::function<void(std::vector<std::string>*)>& edit) const {
    EditLines(LogFile("entries.jsonl"), edit);
  }
  void CutNodes(std::size_t entries) const {
    Edit(LogFile("nodes"), [&](std::string* bytes) {
      bytes->resize(32 * (2 * entries - static_cast<std::size_t>(std::popcount(entries))));
    });
  }
  // The log made anew over what there is now, by somebody without the key.
  void MakeLogAnew(const char* key) const {
    fs::remove_all(At("runs.db.audit"));
    Must(Append({"--begin"}, key));
  }

  // "entry 4 (manifest b)" of the first entry of this kind whose name ends so.
  std::string Named(const std::string& kind, const std::string& ending) const {
    for (const AuditEntry& entry : entries_) {
      if (entry.kind == kind && entry.name.ends_with(ending)) {
        return fmt::format("entry {} ({} {})", entry.index, entry.kind, entry.name);
      }
    }
    ADD_FAILURE() << "no entry of " << kind << " " << ending;
    return "no such entry";
  }
  std::string Entry(std::size_t index) const {
    const AuditEntry& entry = entries_[index];
    return fmt::format("entry {} ({} {})", index, entry.kind, entry.name);
  }
  std::vector<Tampering> OfRecords() const {
    const std::size_t count = entries_.size();
    const std::string heads = LogFile("heads.jsonl");
    (void)count;
    (void)heads;
    return {
        {"a manifest's text",
         [=, this] { Sql("UPDATE manifests SET body = body || ' ' WHERE run_id = 'b'"); },
         Named("manifest", "b") + " was changed"},
        {"a run's family", [=, this] { Sql("UPDATE runs SET family = 'x' WHERE run_id = 'b'"); },
         Named("run", "b") + " was changed"},
        {"a run's date",
         [=, this] { Sql("UPDATE runs SET added_ms = added_ms - 1 WHERE run_id = 'a'"); },
         Named("run", "a") + " was changed"},
        {"a verdict",
         [=, this] {
           Sql("UPDATE verdicts SET verdict = 'identical'; UPDATE standing SET last_verdict = "
               "'identical' WHERE run_id = 'a'");
         },
         Named("verdict", "/a") + " was changed"},
        {"a verdict's reasons", [=, this] { Sql("UPDATE verdicts SET reasons = '[]'"); },
         Named("verdict", "/a") + " was changed"},
        {"what a rerun left", [=, this] { Sql("UPDATE reruns SET evidence_sha256 = 'x'"); },
         Named("verdict", "/a") + " was changed"},
        {"a rerun is gone", [=, this] { Sql("DELETE FROM reruns"); }, " was changed"},
        {"where a rerun ran", [=, this] { Sql("UPDATE surroundings SET body = body || ' '"); },
         Named("surroundings", "") + " was changed"},
        {"how a drill ended", [=, this] { Sql("UPDATE drills SET exit_code = 0"); },
         Named("drill", "") + " was changed"},
        {"a verdict is gone", [=, this] { Sql("DELETE FROM verdicts"); },
         Named("drill", "") + " was changed"}};
  }
  std::vector<Tampering> OfWhatIsBeside() const {
    const std::size_t count = entries_.size();
    const std::string heads = LogFile("heads.jsonl");
    (void)count;
    (void)heads;
    return {
        {"a manifest is gone", [=, this] { Sql("DELETE FROM manifests WHERE run_id = 'c'"); },
         Named("manifest", "c") + " is not there any more"},
        {"a run is gone",
         [=, this] {
           Sql("DELETE FROM manifests WHERE run_id = 'c'; DELETE FROM runs WHERE run_id = 'c'");
         },
         Named("run", "c") + " is not there any more"},
        {"a retirement is gone", [=, this] { Sql("DELETE FROM retirements"); },
         Named("retirement", "c") + " is not there any more"},
        {"a retirement's reason", [=, this] { Sql("UPDATE retirements SET reason = 'x'"); },
         Named("retirement", "c") + " was changed"},
        {"what is derived of a run",
         [=, this] { Sql("UPDATE standing SET last_verdict = 'identical'"); },
         "the table 'standing' contradicts"},
        {"when a run was judged", [=, this] { Sql("UPDATE standing SET judged_ms = NULL"); },
         "the table 'standing' contradicts"},
        {"where a run was verified",
         [=, this] { Sql("UPDATE standing SET environment_sha256 = 'x' WHERE run_id = 'b'"); },
         "the table 'standing' contradicts"},
        {"a verdict of a drill that there is not",
         [=, this] {
           Sql("INSERT INTO verdicts (drill_id, run_id, verdict, decided_ms, reruns, reasons) "
               "VALUES ('none', 'b', 'identical', 1, 1, '[]')");
         },
         "has a verdict of drill 'none', which the history does not have"},
        {"by which commit a run is found",
         [=, this] { Sql("UPDATE lookups SET code_commit = 'x'"); },
         "the table 'lookups' contradicts"},
        {"a run is found by no image", [=, this] { Sql("DELETE FROM lookups WHERE run_id = 'b'"); },
         "the table 'lookups' contradicts"},
        {"a trigger is gone",
         [=, this] { RawDatabase(At("runs.db")).Run("DROP TRIGGER verdicts_no_update"); },
         "runs.db"},
        {"a baseline's line",
         [=, this] { Edit("h100/baseline.jsonl", [](std::string* t) { (*t)[18] = 'e'; }); },
         Named("baseline", "h100/1") + " was changed"},
        {"a baseline's line is gone",
         [=, this] { EditLines("h100/baseline.jsonl", [](auto* lines) { lines->pop_back(); }); },
         Named("baseline", "h100/2") + " is not there any more"}};
  }
  std::vector<Tampering> OfLines() const {
    const std::size_t count = entries_.size();
    const std::string heads = LogFile("heads.jsonl");
    (void)count;
    (void)heads;
    return {{"an entry's digest",
             [=, this] {
               EditEntries([](auto* lines) {
                 char& digit = (*lines)[3][(*lines)[3].find("\"sha256\":\"") + 12];
                 digit = digit == '0' ? '1' : '0';
               });
             },
             Entry(3) + " does not have the hash"},
            {"an entry is gone",
             [=, this] { EditEntries([](auto* lines) { lines->erase(lines->begin() + 2); }); },
             Entry(3) + " stands where entry 2 should"},
            {"entries are moved",
             [=, this] { EditEntries([](auto* l) { std::swap((*l)[1], (*l)[4]); }); },
             Entry(4) + " stands where entry 1 should"},
            {"an entry is put in",
             [=, this] {
               EditEntries([&](auto* lines) {
                 std::string line = lines->back();
                 const std::string index = fmt::format(":{},", count - 1);
                 line.replace(line.find(index), index.size(), fmt::format(":{},", count));
                 line.replace(line.find("\"c\""), 3, "\"b\"");
                 lines->push_back(line);
               });
             },
             fmt::format("entry {} (retirement b) has no hash", count)},
            {"the log is cut", [=, this] { EditEntries([](auto* lines) { lines->pop_back(); }); },
             fmt::format("entry {} and what followed were removed", count - 1)},
            {"the log is cut within a line",
             [=, this] {
               Edit(LogFile("entries.jsonl"), [](std::string* t) { t->resize(t->size() - 9); });
             },
             "stand behind its last line"},
            {"the log and its hashes are cut",
             [=, this] {
               EditEntries([](auto* lines) { lines->pop_back(); });
               CutNodes(count - 1);
             },
             fmt::format("entry {} was removed", count - 1)},
            {"the log, its hashes and its heads are cut",
             [=, this] {
               EditEntries([](auto* lines) { lines->pop_back(); });
               CutNodes(count - 1);
               EditLines(heads, [](auto* lines) { lines->pop_back(); });
             },
             fmt::format("entry {} was removed", count - 1)}};
  }
  std::vector<Tampering> OfHashesAndHeads() const {
    const std::size_t count = entries_.size();
    const std::string heads = LogFile("heads.jsonl");
    (void)count;
    (void)heads;
    return {{"a hash", [=, this] { Edit(LogFile("nodes"), [](std::string* t) { (*t)[40] ^= 1; }); },
             Entry(1) + " does not have the hash"},
            {"hashes are gone",
             [=, this] { Edit(LogFile("nodes"), [](std::string* t) { t->resize(64); }); },
             "has no hash"},
            {"a head's signature",
             [=, this] {
               Edit(heads, [](std::string* t) {
                 char& c = (*t)[t->find("\"sig\":\"") + 12];
                 c = c == 'A' ? 'B' : 'A';
               });
             },
             "heads.jsonl:1"},
            {"a head's content",
             [=, this] {
               Edit(heads, [](std::string* t) {
                 char& c = (*t)[t->find("\"payload\":\"") + 40];
                 c = c == 'A' ? 'B' : 'A';
               });
             },
             "heads.jsonl:1"},
            {"heads are moved",
             [=, this] { EditLines(heads, [](auto* l) { std::swap((*l)[0], (*l)[1]); }); },
             "heads were moved"},
            {"a head that another key signed", [=, this] { Must(Append({}, "bob.pem")); },
             "heads.jsonl:3"}};
  }
  std::vector<Tampering> OfWholeLogs() const {
    const std::size_t count = entries_.size();
    const std::string heads = LogFile("heads.jsonl");
    (void)count;
    (void)heads;
    return {
        {"a kept head is of another log",
         [=, this] {
           fs::copy_file(At("kept/other.json"), At("kept/2.json"),
                         fs::copy_options::overwrite_existing);
         },
         "was signed over other entries than the log has"},
        {"a kept head is changed",
         [=, this] { Edit("kept/1.json", [](std::string* t) { (*t)[60] ^= 1; }); }, "kept/1.json"},
        {"everything is made anew over a history that was changed",
         [=, this] {
           Sql("UPDATE verdicts SET reasons = '[]'");
           MakeLogAnew("ada.pem");
         },
         "was signed over other entries than the log has"},
        {"everything is made anew over a history in which something is missing",
         [=, this] {
           Sql("DELETE FROM retirements; UPDATE standing SET retired = 0");
           MakeLogAnew("ada.pem");
         },
         "was signed over other entries than the log has"},
        {"a mark of an append that never was, and the end is cut",
         [=, this] {
           EditEntries([](auto* lines) { lines->pop_back(); });
           CutNodes(count - 1);
           Write(LogFile("append.json"),
                 fmt::format(
                     "{{\"schema\":\"rharness.audit_append/v1\",\"entries\":{},\"bytes\":{}}}\n",
                     count - 1, Read(At(LogFile("entries.jsonl"))).size()));
         },
         fmt::format("entry {} was removed", count - 1)}};
  }

  static constexpr const char* kKept[] = {"runs.db", "runs.db.audit", "kept", "h100"};
  std::vector<AuditEntry> entries_;
};

TEST_F(AuditTampering, IsFoundAndNamed) {
  std::vector<Tampering> table;
  for (const auto& part :
       {OfRecords(), OfWhatIsBeside(), OfLines(), OfHashesAndHeads(), OfWholeLogs()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  for (const Tampering& row : table) {
    SCOPED_TRACE(row.what);
    row.tamper();
    const ProcessResult result = Verify();
    EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(row.told));
    Restore();
    const ProcessResult whole = Verify({"--complete"});
    ASSERT_EQ(whole.outcome.exit_code, 0) << whole.stderr_text;
  }
  EXPECT_GE(table.size(), 15U);
}

TEST_F(AuditTampering, IsToldInJsonWithTheEntry) {
  Sql("UPDATE manifests SET body = body || ' ' WHERE run_id = 'b'");
  const ProcessResult result = Verify({"--json"});
  EXPECT_EQ(result.outcome.exit_code, 5);
  const auto json = ParseJson(result.stdout_text, "audit");
  ASSERT_TRUE(json.ok()) << result.stdout_text;
  EXPECT_FALSE(json->Find("holds")->AsBool());
  const Json* entry = json->Find("fault")->Find("entry");
  ASSERT_NE(entry->Find("index"), nullptr) << result.stdout_text;
  EXPECT_EQ(entry->Find("index")->ToUint64(), 4U);
  EXPECT_EQ(entry->Find("kind")->AsString(), "manifest");
  EXPECT_EQ(entry->Find("name")->AsString(), "b");
}

}  // namespace
}  // namespace rharness
