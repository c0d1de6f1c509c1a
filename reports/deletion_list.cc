// Deletion lists to JSON and back.
#include "reports/deletion_list.h"

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

void ReadItem(JsonReader& reader, DeletionItem* item) {
  reader.Read("path", &item->path);
  reader.Read("size_bytes", &item->size_bytes);
  reader.Read("sha256", &item->sha256);
  reader.Read("role", &item->role);
  reader.ReadArray("runs", &item->runs);
  reader.Read("why", &item->why);
  reader.Read("lost", &item->lost);
  if (!reader.ok()) return;
  const auto safe = SafeRelativePath(item->path, "path");
  if (!safe.ok() || safe->string() != item->path) {
    reader.Fail("expected a relative path in normal form that stays in its folder", "path");
  }
  if (!IsSha256Hex(item->sha256)) reader.Fail("expected 64 hexadecimal digits", "sha256");
  if (item->runs.empty()) reader.Fail("expected a run", "runs");
}

}  // namespace

std::uint64_t DeletionList::bytes() const {
  std::uint64_t sum = 0;
  for (const DeletionItem& item : items) sum += item.size_bytes;
  return sum;
}

Json ToJson(const DeletionList& list) {
  Json items = Json::MakeArray();
  for (const DeletionItem& item : list.items) {
    Json runs = Json::MakeArray();
    for (const std::string& run : item.runs) runs.Append(run);
    items.Append(Json::MakeObject({{"path", item.path},
                                   {"size_bytes", item.size_bytes},
                                   {"sha256", item.sha256},
                                   {"role", item.role},
                                   {"runs", std::move(runs)},
                                   {"why", item.why},
                                   {"lost", item.lost}}));
  }
  return Json::MakeObject({{"schema", "rharness.deletion_list/v1"},
                           {"root", list.root},
                           {"policy_sha256", list.policy_sha256},
                           {"items", std::move(items)}});
}

std::string TextOf(const DeletionList& list) { return ToJson(list).Dump(2) + "\n"; }

std::string DigestOf(const DeletionList& list) { return Sha256HexOf(TextOf(list)); }

Result<DeletionList> ParseDeletionList(std::string_view text, std::string_view where) {
  const auto json = ParseJson(text, where);
  if (!json.ok()) return IntegrityError(json.error().message, json.error().where);
  DeletionList list;
  JsonReader reader(*json, std::string(where));
  reader.ReadSchema("rharness.deletion_list", 1);
  reader.Read("root", &list.root);
  reader.Read("policy_sha256", &list.policy_sha256);
  reader.ReadEach("items", &list.items,
                  [](JsonReader& one, DeletionItem* item) { ReadItem(one, item); });
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
