// One pass over the lines, with the tree recomputed beside it.
#include "harness/audit/log_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashBytes = sizeof(TreeHash);

// "3 to 7", "entry 3".
std::string EntriesText(std::uint64_t begin, std::uint64_t end) {
  return end == begin + 1 ? fmt::format("entry {}", begin)
                          : fmt::format("entries {} to {}", begin, end - 1);
}

class LogReader {
 public:
  LogReader(const EntryFile& entries, const NodeFile& nodes, const EachEntry& each)
      : entries_(entries), nodes_(nodes), each_(each) {}

  Status ReadAll() {
    return entries_.ReadAll([&](std::span<const std::string_view> lines) { return Take(lines); });
  }
  SizedRoot tree() const { return {grower_.size(), grower_.Root()}; }
  const std::string& last_time() const { return last_time_; }

 private:
  // As many lines as are entries in their places; then why the next one is not.
  Status Take(std::span<const std::string_view> lines) {
    Status bad;
    std::size_t good = 0;
    while (good < lines.size()) {
      bad = TakeLine(lines[good], grower_.size() + good);
      if (!bad.ok()) break;
      ++good;
    }
    const std::uint64_t first = grower_.size();
    RETURN_IF_ERROR(HoldToNodes(lines.first(good)));
    if (each_) {
      for (std::size_t i = 0; i < good; ++i) {
        ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(lines[i], entries_.Where(first + i)));
        RETURN_IF_ERROR(each_(entry));
      }
    }
    return bad;
  }

  Status TakeLine(std::string_view line, std::uint64_t index) {
    const auto parts = ScanEntry(line);
    if (!parts || !parts->plain) {
      const auto entry = ParseEntry(line, entries_.Where(index));
      if (!entry.ok()) return entry.error();
    }
    if (parts->index != index) {
      return IntegrityError(fmt::format("holds entry {} where entry {} should be: entries were "
                                        "removed, put in or moved",
                                        parts->index, index),
                            entries_.Where(index));
    }
    if (parts->time < last_time_) {
      return IntegrityError(fmt::format("entry {} is older than the one before it", index),
                            entries_.Where(index));
    }
    last_time_.assign(parts->time);
    return {};
  }

  Status HoldToNodes(std::span<const std::string_view> lines) {
    const std::uint64_t first = grower_.size();
    const std::uint64_t offset = NodesOf(first) * kHashBytes;
    found_.clear();
    grower_.Add(lines, &found_);
    ASSIGN_OR_RETURN(const std::string held, nodes_.Read(offset, found_.size()));
    if (held == found_) return {};
    const std::size_t same = static_cast<std::size_t>(
        std::ranges::mismatch(held, found_).in2 - found_.begin());
    return NodeError(NodesOf(first) + same / kHashBytes, held.size() == found_.size(), lines, first);
  }

  // What the node at this place of `nodes` is over, and that it is another one.
  Status NodeError(std::uint64_t place, bool is_there, std::span<const std::string_view> lines,
                   std::uint64_t first) const {
    std::uint64_t leaf = first;
    while (NodesOf(leaf + 1) <= place) ++leaf;
    const std::uint64_t level = place - NodesOf(leaf);
    const auto parts = ScanEntry(lines[static_cast<std::size_t>(leaf - first)]);
    const std::string name =
        fmt::format("entry {} ({} {})", leaf, parts->kind, TerminalSafe(parts->name));
    if (!is_there) {
      return IntegrityError(
          fmt::format("{} has no hash in '{}': it was put in, or an update did not come to its end",
                      name, kNodesFile),
          entries_.Where(leaf));
    }
    if (level == 0) {
      return IntegrityError(
          fmt::format("{} does not have the hash that '{}' holds of it: it was changed", name,
                      kNodesFile),
          entries_.Where(leaf));
    }
    return IntegrityError(
        fmt::format("'{}' holds another hash over {} than theirs: it was changed", kNodesFile,
                    EntriesText(leaf + 1 - (std::uint64_t{1} << level), leaf + 1)),
        entries_.Where(leaf));
  }

  const EntryFile& entries_;
  const NodeFile& nodes_;
  const EachEntry& each_;
  TreeGrower grower_;
  std::string found_;
  std::string last_time_;
};

Result<SeenHead> SeeHead(const HeadText& text, const LogChecks& checks) {
  if (checks.trust == nullptr) {
    ASSIGN_OR_RETURN(const TreeHead head, PeekTreeHead(text.text, text.where));
    return SeenHead{head, {}, text.where};
  }
  ASSIGN_OR_RETURN(VerifiedHead verified,
                   VerifyTreeHead(text.text, text.where, *checks.trust, checks.now));
  return SeenHead{verified.head, std::move(verified.signed_by), text.where};
}

// The heads from the smallest tree on, each of which must be of the beginning of this one.
Status HoldToHeads(std::vector<const SeenHead*> heads, const SizedRoot& tree, NodeFile* nodes) {
  std::ranges::stable_sort(heads, {}, [](const SeenHead* one) { return one->head.tree.size; });
  std::uint64_t good = 0;
  for (const SeenHead* one : heads) {
    const SizedRoot& then = one->head.tree;
    if (then.size > tree.size) {
      return IntegrityError(fmt::format("was signed over {} entries, and the log has {}: {} and what "
                                        "followed were removed",
                                        then.size, tree.size, EntriesText(tree.size, then.size)),
                            one->where);
    }
    ASSIGN_OR_RETURN(const TreeHash root, TreeRoot(nodes, then.size));
    if (root != then.root) {
      return IntegrityError(fmt::format("was signed over other entries than these: {} {} not what {} "
                                        "then",
                                        EntriesText(good, then.size),
                                        good + 1 == then.size ? "is" : "are, in part,",
                                        good + 1 == then.size ? "it was" : "they were"),
                            one->where);
    }
    good = then.size;
  }
  return {};
}

Status HoldToEachOther(const std::vector<SeenHead>& heads) {
  for (std::size_t i = 1; i < heads.size(); ++i) {
    if (heads[i].head.tree.size < heads[i - 1].head.tree.size) {
      return IntegrityError(fmt::format("is over {} entries, behind one over {}: heads were moved",
                                        heads[i].head.tree.size, heads[i - 1].head.tree.size),
                            heads[i].where);
    }
    if (heads[i].head.time < heads[i - 1].head.time) {
      return IntegrityError("is older than the head before it: heads were moved", heads[i].where);
    }
  }
  return {};
}

// Lines behind the last one with hashes, and what is behind the last line: left by a crash, unless
// somebody is at work.
Status CheckEnds(const fs::path& folder, const EntryFile& entries, const NodeFile& nodes) {
  const bool is_whole =
      entries.torn().empty() && nodes.size_bytes() == NodesOf(entries.count()) * kHashBytes;
  if (is_whole) return {};
  if (nodes.size_bytes() > NodesOf(entries.count()) * kHashBytes) {
    return IntegrityError(
        fmt::format("ends with entry {}, and '{}' has hashes of more: the last ones were removed",
                    static_cast<std::int64_t>(entries.count()) - 1, kNodesFile),
        entries.path().string());
  }
  std::error_code error;
  if (fs::exists(folder / "lock", error)) {
    const auto lock = FolderLock::Take(folder);
    if (!lock.ok() && lock.error().code == ErrorCode::kInvalidInput) {
      return TimeoutError("an update is adding to it just now; try again", folder.string());
    }
  }
  if (entries.torn().empty()) return {};  // the first line without a hash will be named
  return IntegrityError(fmt::format("its last line, of {} bytes, has no end; `rharness audit update` "
                                    "mends what a crash left",
                                    entries.torn().size()),
                        entries.Where(entries.count()));
}

}  // namespace

Result<CheckedLog> CheckLog(const fs::path& folder, const LogChecks& checks,
                            const EachEntry& each) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return NotFound("is no audit log; `rharness audit update` makes one", folder.string());
  }
  ASSIGN_OR_RETURN(const std::vector<HeadText> head_lines, ReadHeadLines(folder));
  ASSIGN_OR_RETURN(NodeFile nodes, NodeFile::Open(folder));
  ASSIGN_OR_RETURN(const EntryFile entries, EntryFile::Open(folder));
  LogReader reader(entries, nodes, each);
  RETURN_IF_ERROR(reader.ReadAll());
  RETURN_IF_ERROR(CheckEnds(folder, entries, nodes));
  CheckedLog checked{.tree = reader.tree(), .last_time = reader.last_time()};
  for (const HeadText& one : head_lines) {
    ASSIGN_OR_RETURN(checked.heads.emplace_back(), SeeHead(one, checks));
  }
  for (const HeadText& one : checks.kept) {
    ASSIGN_OR_RETURN(checked.kept.emplace_back(), SeeHead(one, checks));
  }
  std::vector<const SeenHead*> all;
  for (const SeenHead& one : checked.heads) all.push_back(&one);
  for (const SeenHead& one : checked.kept) all.push_back(&one);
  RETURN_IF_ERROR(HoldToHeads(std::move(all), checked.tree, &nodes));
  RETURN_IF_ERROR(HoldToEachOther(checked.heads));
  if (checked.tree.size == 0 && head_lines.empty()) {
    return NotFound("holds no entries; `rharness audit update` enters some", folder.string());
  }
  return checked;
}

}  // namespace rharness
