// Views: another list of names in front of the same bytes.
#include "compare/weights/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare/weights/names.h"

namespace rharness {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kInnerPrefix = "_orig_mod.";

// Some tensors of a checkpoint, perhaps under other names.
class RenamedView : public Checkpoint {
 public:
  struct Row {
    TensorInfo info;
    std::size_t index = 0;  // in the checkpoint below
  };

  // `rows` are sorted by name. `owned` keeps `below` alive if the view owns it.
  RenamedView(const Checkpoint& below, std::unique_ptr<Checkpoint> owned, std::vector<Row> rows)
      : below_(below), owned_(std::move(owned)) {
    for (Row& row : rows) {
      tensors_.push_back(std::move(row.info));
      indexes_.push_back(row.index);
    }
  }
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return below_.metadata();
  }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    return below_.Read(indexes_.at(index), offset, out);
  }
  Status CheckUnchanged() const override { return below_.CheckUnchanged(); }
  const std::vector<UnreadPart>& unread() const override { return below_.unread(); }
  Status CheckStored(std::size_t index) const override {
    return below_.CheckStored(indexes_.at(index));
  }

 private:
  const Checkpoint& below_;
  std::unique_ptr<Checkpoint> owned_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::size_t> indexes_;
};

// Sorted; empty when two names become one.
std::optional<Names> NamesWithout(const Checkpoint& checkpoint, const Names& prefixes) {
  Names names;
  for (const TensorInfo& info : checkpoint.tensors()) {
    names.push_back(NameWithoutPrefixes(info.name, prefixes));
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) return std::nullopt;
  return names;
}

// How many names are on both sides; empty when two of one side become one.
std::optional<std::size_t> CommonWithout(const Checkpoint& a, const Checkpoint& b,
                                         const Names& prefixes) {
  const auto names_a = NamesWithout(a, prefixes), names_b = NamesWithout(b, prefixes);
  if (!names_a || !names_b) return std::nullopt;
  Names common;
  std::ranges::set_intersection(*names_a, *names_b, std::back_inserter(common));
  return common.size();
}

Names KnownPrefixes(unsigned subset) {
  Names prefixes;
  for (std::size_t i = 0; i < kKnownPrefixes.size(); ++i) {
    if ((subset >> i & 1) != 0) prefixes.emplace_back(kKnownPrefixes[i]);
  }
  return prefixes;
}

}  // namespace

std::string NameWithoutPrefixes(std::string_view name, const Names& prefixes) {
  const auto leads = [&](const std::string& prefix) {
    return !prefix.empty() && name.size() > prefix.size() && name.starts_with(prefix);
  };
  for (auto prefix = std::ranges::find_if(prefixes, leads); prefix != prefixes.end();
       prefix = std::ranges::find_if(prefixes, leads)) {
    name.remove_prefix(prefix->size());
  }
  if (std::ranges::find(prefixes, kInnerPrefix) == prefixes.end()) return std::string(name);
  std::string rest;
  for (bool behind_dot = false; !name.empty();) {
    if (behind_dot && name.size() > kInnerPrefix.size() && name.starts_with(kInnerPrefix)) {
      name.remove_prefix(kInnerPrefix.size());
      continue;
    }
    behind_dot = name.front() == '.';
    rest.push_back(name.front());
    name.remove_prefix(1);
  }
  return rest;
}

Result<std::unique_ptr<Checkpoint>> WithoutPrefixes(std::unique_ptr<Checkpoint> checkpoint,
                                                    const Names& prefixes) {
  const Checkpoint& below = *checkpoint;
  std::vector<RenamedView::Row> rows;
  for (std::size_t i = 0; i < below.tensors().size(); ++i) {
    rows.push_back({below.tensors()[i], i});
    rows.back().info.name = NameWithoutPrefixes(rows.back().info.name, prefixes);
  }
  const auto name_of = [](const RenamedView::Row& row) -> const std::string& {
    return row.info.name;
  };
  std::ranges::stable_sort(rows, {}, name_of);
  const auto twin = std::ranges::adjacent_find(rows, {}, name_of);
  if (twin != rows.end()) {
    return InvalidInput(fmt::format(
        "tensors {} and {} both become {} without the prefixes {}; expected names that "
        "stay apart",
        Quoted(below.tensors()[twin->index].name), Quoted(below.tensors()[(twin + 1)->index].name),
        Quoted(twin->info.name), fmt::join(prefixes, " ")));
  }
  return std::unique_ptr<Checkpoint>(
      std::make_unique<RenamedView>(below, std::move(checkpoint), std::move(rows)));
}

std::unique_ptr<Checkpoint> OfRole(const Checkpoint& checkpoint,
                                   const std::set<TensorRole>& roles) {
  std::vector<RenamedView::Row> rows;
  for (std::size_t i = 0; i < checkpoint.tensors().size(); ++i) {
    const TensorInfo& info = checkpoint.tensors()[i];
    if (roles.contains(RoleOf(info.name))) rows.push_back({info, i});
  }
  return std::make_unique<RenamedView>(checkpoint, nullptr, std::move(rows));
}

Names SuggestPrefixes(const Checkpoint& a, const Checkpoint& b) {
  const std::size_t all = std::max(a.tensors().size(), b.tensors().size());
  std::size_t best_common = CommonWithout(a, b, {}).value_or(0);
  if (best_common == all) return {};
  Names best;
  for (unsigned subset = 1; subset < 1U << kKnownPrefixes.size(); ++subset) {
    Names prefixes = KnownPrefixes(subset);
    const auto common = CommonWithout(a, b, prefixes);
    if (!common || *common < best_common) continue;
    const bool fewer = !best.empty() && prefixes.size() < best.size();
    if (*common == best_common && !fewer) continue;
    best_common = *common;
    best = std::move(prefixes);
  }
  return best;
}

}  // namespace rharness
