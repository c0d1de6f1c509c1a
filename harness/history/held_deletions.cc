// Selects the records of one deletion list.
#include "harness/history/held_deletions.h"

#include <memory>
#include <vector>

#include "harness/history/held_rows.h"
#include "harness/history/sql_history.h"
#include "harness/history/untouched.h"

namespace rharness {

Result<std::vector<HeldRecord>> SqlHistory::ReadHeldDeletion(const std::string& list_sha256) {
  return database_->Read([&]() -> Result<std::vector<HeldRecord>> {
    std::vector<HeldRecord> records;
    AddRowsOfDeletion(sql(), list_sha256, &records);
    return records;
  });
}

Result<std::vector<HeldRecord>> ReadHeldDeletion(const std::string& list_sha256,
                                                 const std::string& url) {
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(url));
  return static_cast<SqlHistory*>(store.get())->ReadHeldDeletion(list_sha256);
}

bool IsOfDeletion(std::string_view kind, std::string_view name, std::string_view list_sha256) {
  if (kind == "deletion") return name == list_sha256;
  if (kind != "deleted_item" && kind != "signed_statement") return false;
  return name.size() > list_sha256.size() && name.starts_with(list_sha256) &&
         name[list_sha256.size()] == '/';
}

}  // namespace rharness
