// Signatures, signed retirements and deletions. In SQL over SOCI.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

constexpr char kSelectSigned[] =
    "SELECT statement_sha256, key_id, predicate, subject, signed_by, entered_ms, envelope, "
    "sequence FROM signed_statements WHERE predicate = :predicate ";

struct NamedStep {
  DeletionStep step;
  std::string_view name;
};
constexpr NamedStep kSteps[] = {{DeletionStep::kAbout, "about"},
                                {DeletionStep::kGone, "gone"},
                                {DeletionStep::kMissing, "missing"},
                                {DeletionStep::kStays, "stays"}};

std::string NameOf(DeletionStep step) {
  return std::string(std::ranges::find(kSteps, step, &NamedStep::step)->name);
}

HistoryMark MarkOf(soci::session& sql) {
  long long runs = 0;
  long long drills = 0;
  sql << "SELECT (SELECT COUNT(*) FROM runs), (SELECT COALESCE(MAX(sequence), 0) FROM drills)",
      soci::into(runs), soci::into(drills);
  return {.runs = runs, .drills = drills};
}

}  // namespace

void SqlHistory::Insert(const SignedRecord& record) {
  int held = 0;
  sql() << "SELECT COUNT(*) FROM signed_statements WHERE statement_sha256 = :statement AND key_id "
           "= :key_id",
      soci::use(record.statement_sha256), soci::use(record.key_id), soci::into(held);
  if (held != 0) return;
  const long long entered_ms = ToMs(record.entered);
  sql() << "INSERT INTO signed_statements (statement_sha256, key_id, predicate, subject, "
           "signed_by, entered_ms, sequence, envelope) VALUES (:statement, :key_id, :predicate, "
           ":subject, :signed_by, :entered_ms, (SELECT COALESCE(MAX(sequence), 0) + 1 FROM "
           "signed_statements), :envelope)",
      soci::use(record.statement_sha256), soci::use(record.key_id), soci::use(record.predicate),
      soci::use(record.subject), soci::use(record.signed_by), soci::use(entered_ms),
      soci::use(record.envelope);
}

int SqlHistory::CountBy(const std::string& query, const std::string& statement) {
  int count = 0;
  sql() << query, soci::use(statement), soci::into(count);
  return count;
}

Status SqlHistory::AddSigned(const SignedRecord& record) {
  return database_->Write([&]() -> Status {
    Insert(record);
    return {};
  });
}

Status SqlHistory::AddWithdrawal(const SignedRecord& record) {
  return database_->Write([&]() -> Status {
    if (CountBy("SELECT COUNT(*) FROM signed_retirements WHERE statement_sha256 = :statement",
                record.subject) != 0) {
      return InvalidInput("was approved, and holds; a run that is retired stays so",
                          database_->name());
    }
    if (CountBy("SELECT COUNT(*) FROM withdrawals WHERE statement_sha256 = :statement",
                record.subject) != 0) {
      return InvalidInput("was taken back already", database_->name());
    }
    Insert(record);
    sql() << "INSERT INTO withdrawals (statement_sha256, withdrawal_sha256) VALUES (:statement, "
             ":withdrawal)",
        soci::use(record.subject), soci::use(record.statement_sha256);
    return {};
  });
}

Result<std::vector<SignedRecord>> SqlHistory::SelectSigned(const std::string& predicate,
                                                           const std::string* subject) {
  return database_->Guard([&]() -> Result<std::vector<SignedRecord>> {
    SignedRecord one;
    long long entered_ms = 0;
    long long sequence = 0;
    soci::statement query(sql());
    query.exchange(soci::into(one.statement_sha256));
    query.exchange(soci::into(one.key_id));
    query.exchange(soci::into(one.predicate));
    query.exchange(soci::into(one.subject));
    query.exchange(soci::into(one.signed_by));
    query.exchange(soci::into(entered_ms));
    query.exchange(soci::into(one.envelope));
    query.exchange(soci::into(sequence));
    query.exchange(soci::use(predicate));
    if (subject != nullptr) query.exchange(soci::use(*subject));
    query.alloc();
    query.prepare(std::string(kSelectSigned) +
                  (subject != nullptr ? "AND subject = :subject " : "") + "ORDER BY sequence");
    query.define_and_bind();
    query.execute();
    std::vector<SignedRecord> all;
    while (query.fetch()) {
      one.entered = FromMs(entered_ms);
      one.sequence = sequence;
      all.push_back(one);
    }
    return all;
  });
}

Result<std::vector<SignedRecord>> SqlHistory::Signed(const std::string& predicate) {
  return SelectSigned(predicate, nullptr);
}

Result<std::vector<SignedRecord>> SqlHistory::SignedOf(const std::string& predicate,
                                                       const std::string& subject) {
  return SelectSigned(predicate, &subject);
}

Status SqlHistory::RetireSigned(const SignedRecord& last, const std::string& reason,
                                const SignedRetirement& retirement) {
  const std::string& run_id = last.subject;
  if (reason.empty()) return InvalidInput("retiring a run needs a reason", Where(run_id));
  return database_->Write([&]() -> Status {
    RETURN_IF_ERROR(CheckRun(run_id));
    if (CountBy("SELECT COUNT(*) FROM withdrawals WHERE statement_sha256 = :statement",
                last.statement_sha256) != 0) {
      return InvalidInput("the request was withdrawn", Where(run_id));
    }
    std::string by;
    sql() << "SELECT statement_sha256 FROM signed_retirements WHERE run_id = :run_id",
        soci::use(run_id), soci::into(by);
    if (sql().got_data() && by == last.statement_sha256) return {};
    if (sql().got_data()) {
      return InvalidInput(fmt::format("is retired already, by the statement {}", by),
                          Where(run_id));
    }
    Insert(last);
    std::string earlier;
    sql() << "SELECT reason FROM retirements WHERE run_id = :run_id", soci::use(run_id),
        soci::into(earlier);
    const bool retired = sql().got_data();
    if (retired && earlier != reason) {
      return InvalidInput(fmt::format("was retired for another reason: {}", earlier),
                          Where(run_id));
    }
    const long long approved_ms = ToMs(retirement.approved);
    if (!retired) {
      sql() << "INSERT INTO retirements (run_id, reason, retired_ms) VALUES (:run_id, :reason, "
               ":retired_ms)",
          soci::use(run_id), soci::use(reason), soci::use(approved_ms);
    }
    const long long asked_ms = ToMs(retirement.asked);
    sql() << "INSERT INTO signed_retirements (run_id, statement_sha256, asked_by, asked_ms, "
             "approved_by, approved_ms) VALUES (:run_id, :statement, :asked_by, :asked_ms, "
             ":approved_by, :approved_ms)",
        soci::use(run_id), soci::use(retirement.statement_sha256), soci::use(retirement.asked_by),
        soci::use(asked_ms), soci::use(retirement.approved_by), soci::use(approved_ms);
    return {};
  });
}

Status SqlHistory::BeginDeletion(const DeletionRecord& record) {
  return database_->Write([&]() -> Status {
    if (CountBy("SELECT COUNT(*) FROM deletions WHERE list_sha256 = :list", record.list_sha256) !=
        0) {
      return {};
    }
    const long long begun_ms = ToMs(record.begun);
    sql() << "INSERT INTO deletions (list_sha256, begun_ms, asked_by, approved_by, sequence, body) "
             "VALUES (:list, :begun_ms, :asked_by, :approved_by, (SELECT COALESCE(MAX(sequence), "
             "0) + 1 FROM deletions), :body)",
        soci::use(record.list_sha256), soci::use(begun_ms), soci::use(record.asked_by),
        soci::use(record.approved_by), soci::use(record.body);
    return {};
  });
}

Status SqlHistory::Insert(const DeletedItem& item) {
  if (CountBy("SELECT COUNT(*) FROM deletions WHERE list_sha256 = :list", item.list_sha256) == 0) {
    return NotFound("no deletion by the list " + item.list_sha256, database_->name());
  }
  int about = 0;
  int ended = 0;
  const std::string first = NameOf(DeletionStep::kAbout);
  sql() << "SELECT COALESCE(SUM(CASE WHEN step = :first THEN 1 ELSE 0 END), 0), "
           "COALESCE(SUM(CASE WHEN step = :again THEN 0 ELSE 1 END), 0) FROM deleted_items WHERE "
           "list_sha256 = :list AND item = :item",
      soci::use(first), soci::use(first), soci::use(item.list_sha256), soci::use(item.item),
      soci::into(about), soci::into(ended);
  const bool is_about = item.step == DeletionStep::kAbout;
  if (!is_about && about == 0) {
    return InvalidInput(fmt::format("item {} was not about to go", item.item), database_->name());
  }
  if (is_about ? about != 0 : ended != 0) return {};
  const std::string step = NameOf(item.step);
  const long long at_ms = ToMs(item.at);
  const long long bytes = item.bytes;
  sql() << "INSERT INTO deleted_items (list_sha256, item, step, at_ms, bytes) VALUES (:list, "
           ":item, :step, :at_ms, :bytes)",
      soci::use(item.list_sha256), soci::use(item.item), soci::use(step), soci::use(at_ms),
      soci::use(bytes);
  return {};
}

Status SqlHistory::AddDeleted(const DeletedItem& item) {
  return database_->Write([&] { return Insert(item); });
}

Result<HistoryMark> SqlHistory::Mark() {
  return database_->Guard([&]() -> Result<HistoryMark> { return MarkOf(sql()); });
}

Result<MayGo> SqlHistory::AddAboutToGo(const AboutToGo& about) {
  return database_->Write([&]() -> Result<MayGo> {
    if (CountBy("SELECT COUNT(*) FROM withdrawals WHERE statement_sha256 = :statement",
                about.statement_sha256) != 0) {
      return MayGo::kTakenBack;
    }
    const auto claimed =
        Among(about.runs, fmt::format("SELECT c.run_id FROM claims c JOIN leases l ON l.drill_id = "
                                      "c.drill_id JOIN {} ON w.value = c.run_id WHERE l.until_ms "
                                      "> {}",
                                      database_->dialect().texts_of_ids, DatabaseNow()));
    if (!claimed.empty()) return MayGo::kClaimed;
    if (MarkOf(sql()) != about.mark) return MayGo::kHistoryGrew;
    DeletedItem first = about.item;
    first.step = DeletionStep::kAbout;
    RETURN_IF_ERROR(Insert(first));
    return MayGo::kYes;
  });
}

Result<std::vector<DeletionRecord>> SqlHistory::Deletions() {
  return database_->Guard([&]() -> Result<std::vector<DeletionRecord>> {
    DeletionRecord one;
    long long begun_ms = 0;
    long long sequence = 0;
    soci::statement query =
        (sql().prepare << "SELECT list_sha256, begun_ms, asked_by, approved_by, sequence, body "
                          "FROM deletions ORDER BY sequence",
         soci::into(one.list_sha256), soci::into(begun_ms), soci::into(one.asked_by),
         soci::into(one.approved_by), soci::into(sequence), soci::into(one.body));
    query.execute();
    std::vector<DeletionRecord> all;
    while (query.fetch()) {
      one.begun = FromMs(begun_ms);
      one.sequence = sequence;
      all.push_back(one);
    }
    return all;
  });
}

Result<std::vector<DeletedItem>> SqlHistory::DeletedItems(const std::string& list_sha256) {
  return database_->Guard([&]() -> Result<std::vector<DeletedItem>> {
    DeletedItem one{.list_sha256 = list_sha256};
    std::string step;
    long long at_ms = 0;
    long long bytes = 0;
    soci::statement query =
        (sql().prepare << "SELECT item, step, at_ms, bytes FROM deleted_items WHERE list_sha256 = "
                          ":list ORDER BY item, at_ms",
         soci::use(list_sha256), soci::into(one.item), soci::into(step), soci::into(at_ms),
         soci::into(bytes));
    query.execute();
    std::vector<DeletedItem> all;
    while (query.fetch()) {
      const auto known = std::ranges::find(kSteps, step, &NamedStep::name);
      if (known == std::end(kSteps)) {
        return Unsupported("unknown step '" + step + "' of a deletion", database_->name());
      }
      one.step = known->step;
      one.at = FromMs(at_ms);
      one.bytes = bytes;
      all.push_back(one);
    }
    return all;
  });
}

}  // namespace rharness
