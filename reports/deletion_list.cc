// Deletion lists to JSON and back.
#include "reports/deletion_list.h"

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_member_reader.h"
#include "reports/deletion_members.h"

namespace rharness {

void CheckRead(JsonReader& reader, const DeletionItem& item) {
  if (!reader.ok()) return;
  const auto safe = SafeRelativePath(item.path, "path");
  if (!safe.ok() || safe->string() != item.path) {
    reader.Fail("expected a relative path in normal form that stays in its folder", "path");
  }
  if (!IsSha256Hex(item.sha256)) reader.Fail("expected 64 hexadecimal digits", "sha256");
  if (item.runs.empty()) reader.Fail("expected a run", "runs");
}

std::uint64_t DeletionList::bytes() const {
  std::uint64_t sum = 0;
  for (const DeletionItem& item : items) sum += item.size_bytes;
  return sum;
}

Json ToJson(const DeletionList& list) { return MemberWriter::Written(list); }

std::string TextOf(const DeletionList& list) { return ToJson(list).Dump(2) + "\n"; }

std::string DigestOf(const DeletionList& list) { return Sha256HexOf(TextOf(list)); }

Result<DeletionList> ParseDeletionList(std::string_view text, std::string_view where) {
  const auto json = ParseJson(text, where);
  if (!json.ok()) return IntegrityError(json.error().message, json.error().where);
  DeletionList list;
  JsonReader reader(*json, std::string(where));
  MemberReader::ReadInto(reader, list);
  if (!reader.ok()) {
    const Status status = reader.status();
    return IntegrityError(status.error().message, status.error().where);
  }
  return list;
}

Result<DeletionList> ParseDeletionListOf(std::string_view sha256, std::string_view text,
                                         std::string_view where) {
  if (Sha256HexOf(text) != sha256) {
    return IntegrityError("the history holds another list than was begun", std::string(where));
  }
  return ParseDeletionList(text, where);
}

}  // namespace rharness
