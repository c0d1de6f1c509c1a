// The note of begun lists, read and written.
#include "harness/trust/retention/begun_lists.h"

#include <string>

namespace rharness {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

Result<std::string> NotesOf(const HeldFolder& root) {
  auto text = root.ReadFile(kBegunLists, kMostBytes);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

std::string LineOf(const DeletionRecord& record) {
  return record.list_sha256 + " " + FormatTime(record.begun) + "\n";
}

}  // namespace

Status NoteBegun(const HeldFolder& root, const DeletionRecord& record) {
  ASSIGN_OR_RETURN(const std::string notes, NotesOf(root));
  return root.WriteFile(kBegunLists, notes + LineOf(record));
}

Result<bool> WasBegunIn(const HeldFolder& root, const DeletionRecord& record) {
  ASSIGN_OR_RETURN(const std::string notes, NotesOf(root));
  return ("\n" + notes).find("\n" + LineOf(record)) != std::string::npos;
}

}  // namespace rharness
