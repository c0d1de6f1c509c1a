// One pass over the lines, with the tree recomputed beside it.
#include "harness/trust/audit/log_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// "3 to 7", "entry 3".
std::string EntriesText(std::uint64_t begin, std::uint64_t end) {
  return end == begin + 1 ? fmt::format("entry {}", begin)
                          : fmt::format("entries {} to {}", begin, end - 1);
}

class LogReader {
 public:
  LogReader(const LogView& log, const EachEntry& each, std::optional<BadEntry>* bad)
      : entries_(log.entries), nodes_(log.nodes), each_(each), bad_(bad) {}

  Status ReadAll() {
    return entries_.ReadAll([&](std::span<const std::string_view> lines) { return Take(lines); });
  }
  SizedRoot tree() const { return {grower_.size(), grower_.Root()}; }
  const std::string& last_time() const { return last_time_; }

 private:
  // As many lines as are entries in their places; then why the next one is not.
  Status Take(std::span<const std::string_view> lines) {
    Status wrong;
    std::size_t good = 0;
    std::string_view time = last_time_;
    while (good < lines.size()) {
      wrong = TakeLine(lines[good], grower_.size() + good, &time);
      if (!wrong.ok()) break;
      ++good;
    }
    last_time_.assign(time);
    const std::uint64_t first = grower_.size();
    std::uint64_t hashed = good;  // as many of these as have their hashes
    const Status nodes = HoldToNodes(lines.first(good), &hashed);
    for (std::size_t i = 0; each_ && i < hashed; ++i) {
      ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(lines[i], entries_.Where(first + i)));
      const Status held = each_(entry);
      if (!held.ok()) {
        Name(lines[i], entry.index);
        return held;
      }
    }
    if (!nodes.ok()) {
      Name(lines[static_cast<std::size_t>(hashed)], first + hashed);
      return nodes;
    }
    if (!wrong.ok()) Name(lines[good], first + good);
    return wrong;
  }

  void Name(std::string_view line, std::uint64_t index) {
    if (bad_ == nullptr) return;
    EntryParts parts;
    *bad_ = BadEntry{.index = index, .kind = {}, .name = {}};
    if (!ScanEntry(line, &parts) || parts.index != index) return;
    (*bad_)->kind = parts.kind;
    (*bad_)->name = parts.name;
  }

  // `time`: of the line before this one, then of this one.
  Status TakeLine(std::string_view line, std::uint64_t index, std::string_view* time) {
    EntryParts parts;
    if (!ScanEntry(line, &parts) || !parts.plain) {
      const auto entry = ParseEntry(line, entries_.Where(index));
      if (!entry.ok()) {
        return IntegrityError(EntryWords(index, "", "") + " " + entry.error().message,
                              entry.error().where);
      }
    }
    if (parts.index != index) {
      return IntegrityError(
          fmt::format("{} stands where entry {} should: entries were removed, put in or moved",
                      EntryWords(parts.index, parts.kind, parts.name), index),
          entries_.Where(index));
    }
    if (parts.time < *time && went_back_++ == 0) {
      LogWarning(fmt::format(
          "{}: {} is of {}, the one before it of {}: a clock went back; the "
          "order of the entries counts",
          entries_.Where(index), EntryWords(index, parts.kind, parts.name), parts.time, *time));
    }
    *time = parts.time;
    return {};
  }

  Status HoldToNodes(std::span<const std::string_view> lines, std::uint64_t* hashed) {
    const std::uint64_t first = grower_.size();
    const std::uint64_t offset = NodesOf(first) * kTreeHashBytes;
    found_.clear();
    grower_.Add(lines, &found_);
    RETURN_IF_ERROR(nodes_.Read(offset, found_.size(), &held_));
    if (held_ == found_) return {};
    const auto same =
        static_cast<std::size_t>(std::ranges::mismatch(held_, found_).in2 - found_.begin());
    const std::uint64_t place = NodesOf(first) + same / kTreeHashBytes;
    std::uint64_t leaf = first;
    while (NodesOf(leaf + 1) <= place) ++leaf;
    *hashed = leaf - first;
    const bool is_there = (place + 1) * kTreeHashBytes <= nodes_.size_bytes();
    return NodeError(leaf, place - NodesOf(leaf), is_there,
                     lines[static_cast<std::size_t>(leaf - first)]);
  }

  // Of the node of this level that the leaf completes.
  Status NodeError(std::uint64_t leaf, std::uint64_t level, bool is_there,
                   std::string_view line) const {
    EntryParts parts;
    (void)ScanEntry(line, &parts);  // it was one when it was taken
    const std::string words = EntryWords(leaf, parts.kind, parts.name);
    if (!is_there) {
      return IntegrityError(
          fmt::format("{} has no hash in '{}': it was put in, or hashes were removed", words,
                      kNodesFile),
          entries_.Where(leaf));
    }
    if (level == 0) {
      return IntegrityError(fmt::format("{} does not have the hash that '{}' holds of it: one of "
                                        "the two was changed",
                                        words, kNodesFile),
                            entries_.Where(leaf));
    }
    return IntegrityError(
        fmt::format("with {} '{}' holds another hash over {} than theirs: it was changed", words,
                    kNodesFile, EntriesText(leaf + 1 - (std::uint64_t{1} << level), leaf + 1)),
        entries_.Where(leaf));
  }

  const EntryFile& entries_;
  const NodeFile& nodes_;
  const EachEntry& each_;
  std::optional<BadEntry>* bad_;
  TreeGrower grower_;
  std::string found_;  // hashes of the current lines, and the log's stored ones
  std::string held_;
  std::string last_time_;
  std::size_t went_back_ = 0;  // entries with an earlier time than the entry before
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

// The fault of a head over `size` entries whose first `good` are covered by a valid head; names the
// first possibly changed entry.
Error OtherEntries(const LogView& log, std::uint64_t good, std::uint64_t size,
                   const std::string& where, std::optional<BadEntry>* bad) {
  BadEntry entry{.index = good, .kind = {}, .name = {}};
  const auto line = log.entries.LineAt(good);
  if (EntryParts parts; line.ok() && ScanEntry(*line, &parts)) {
    entry.kind = parts.kind;
    entry.name = parts.name;
  }
  const std::string first = EntryWords(good, entry.kind, entry.name);
  if (bad != nullptr) *bad = std::move(entry);
  if (size - good == 1) {
    return IntegrityError(
        fmt::format("was signed over another {} than the log has: it was changed", first), where);
  }
  return IntegrityError(
      fmt::format("was signed over other entries than the log has: of {} at least "
                  "one was changed, removed or put in; the first of them is {}",
                  EntriesText(good, size), first),
      where);
}

// The heads from the smallest tree on; each must be of a prefix of this one.
Status HoldToHeads(std::vector<const SeenHead*> heads, const SizedRoot& tree, LogView* log,
                   std::optional<BadEntry>* bad) {
  std::ranges::stable_sort(heads, {}, [](const SeenHead* one) { return one->head.tree.size; });
  std::uint64_t good = 0;
  for (const SeenHead* one : heads) {
    const SizedRoot& then = one->head.tree;
    if (then.size > tree.size) {
      if (bad != nullptr) *bad = BadEntry{.index = tree.size, .kind = {}, .name = {}};
      return IntegrityError(fmt::format("was signed over {} entries, and the log has {}: {} {} "
                                        "removed",
                                        then.size, tree.size, EntriesText(tree.size, then.size),
                                        tree.size + 1 == then.size ? "was" : "were"),
                            one->where);
    }
    ASSIGN_OR_RETURN(const TreeHash root, TreeRoot(&log->nodes, then.size));
    if (root != then.root) {
      if (good == then.size) {
        return IntegrityError(
            "was signed over other entries than the log has, and another head "
            "over as many was not: one of the two is of another log",
            one->where);
      }
      return OtherEntries(*log, good, then.size, one->where, bad);
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
  }
  return {};
}

// What is behind the last entry.
Status CheckEnds(const LogView& log) {
  const std::uint64_t count = log.entries.count();
  if (!log.entries.torn().empty()) {
    return IntegrityError(fmt::format("{} bytes stand behind its last line, and are no entry",
                                      log.entries.torn().size()),
                          log.entries.Where(count));
  }
  if (log.nodes.size_bytes() > NodesOf(count) * kTreeHashBytes) {
    return IntegrityError(
        fmt::format(
            "has {} entries, and '{}' has hashes of more: {} and what followed were removed", count,
            kNodesFile, EntryWords(count, "", "")),
        log.entries.path().string());
  }
  return {};
}

}  // namespace

Result<CheckedLog> CheckLog(LogView* log, const LogChecks& checks, const EachEntry& each,
                            std::optional<BadEntry>* bad) {
  LogReader reader(*log, each, bad);
  RETURN_IF_ERROR(reader.ReadAll());
  const Status ends = CheckEnds(*log);
  if (!ends.ok()) {
    if (bad != nullptr) *bad = BadEntry{.index = log->entries.count(), .kind = {}, .name = {}};
    return ends.error();
  }
  CheckedLog checked{.tree = reader.tree(), .last_time = reader.last_time()};
  for (const HeadText& one : log->heads) {
    ASSIGN_OR_RETURN(checked.heads.emplace_back(), SeeHead(one, checks));
  }
  for (const HeadText& one : checks.kept) {
    ASSIGN_OR_RETURN(checked.kept.emplace_back(), SeeHead(one, checks));
  }
  std::vector<const SeenHead*> all;
  for (const SeenHead& one : checked.heads) all.push_back(&one);
  for (const SeenHead& one : checked.kept) all.push_back(&one);
  RETURN_IF_ERROR(HoldToHeads(std::move(all), checked.tree, log, bad));
  RETURN_IF_ERROR(HoldToEachOther(checked.heads));
  return checked;
}

}  // namespace rharness
