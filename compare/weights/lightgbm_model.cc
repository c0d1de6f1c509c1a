// Lines of the model: the head, the trees, the rest.
#include "compare/weights/lightgbm_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "compare/weights/names.h"
#include "compare/weights/tree_columns.h"

namespace rharness {
namespace {

// What the length of a tree's list follows from.
enum class Length { kOne, kLeaves, kSplits, kAny };

struct ListRow {
  std::string_view name;
  DType dtype;
  Length length;
};
constexpr auto kLists = std::to_array<ListRow>({
    {"num_leaves", DType::kI32, Length::kOne},
    {"num_cat", DType::kI32, Length::kOne},
    {"split_feature", DType::kI32, Length::kSplits},
    {"split_gain", DType::kF64, Length::kSplits},
    {"threshold", DType::kF64, Length::kSplits},
    {"decision_type", DType::kI32, Length::kSplits},
    {"left_child", DType::kI32, Length::kSplits},
    {"right_child", DType::kI32, Length::kSplits},
    {"leaf_value", DType::kF64, Length::kLeaves},
    {"leaf_weight", DType::kF64, Length::kAny},
    {"leaf_count", DType::kI64, Length::kAny},
    {"internal_value", DType::kF64, Length::kSplits},
    {"internal_weight", DType::kF64, Length::kSplits},
    {"internal_count", DType::kI64, Length::kSplits},
    {"cat_boundaries", DType::kI32, Length::kAny},
    {"cat_threshold", DType::kI64, Length::kAny},
    {"is_linear", DType::kI32, Length::kOne},
    {"leaf_const", DType::kF64, Length::kLeaves},
    {"num_features", DType::kI32, Length::kLeaves},
    {"leaf_features", DType::kI32, Length::kAny},
    {"leaf_coeff", DType::kF64, Length::kAny},
    {"shrinkage", DType::kF64, Length::kOne},
});

// Parameters of the machine and of the run, none of the model.
bool IsOfTheMachine(std::string_view line) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"data", "valid", "num_threads", "verbosity", "num_machines", "local_listen_port", "time_out",
       "machine_list_filename", "machines", "gpu_platform_id", "gpu_device_id",
       "gpu_device_id_list", "num_gpu", "output_model", "input_model", "output_result",
       "snapshot_freq", "save_binary"});
  if (!line.starts_with('[')) return false;
  return std::ranges::find(kNames, line.substr(1, line.find(':') - 1)) != kNames.end();
}

class LightgbmReader {
 public:
  explicit LightgbmReader(const InputFile& file) : file_(file.name()) {
    parts_.files.push_back(file);
  }

  Result<std::unique_ptr<Checkpoint>> Read(std::string_view text) {
    for (const ListRow& row : kLists) columns_.Begin(Name(row), row.dtype);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == text.npos) return Refuse("the file ends inside a line");
      ++line_;
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      text.remove_prefix(end + 1);
      RETURN_IF_ERROR(Add(line));
    }
    RETURN_IF_ERROR(EndTree());
    if (section_ != Section::kRest) return Refuse("the file ends; expected 'end of trees'");
    if (expected_trees_ && *expected_trees_ != trees_) {
      return Refuse(
          fmt::format("{} trees; expected {}, as tree_sizes says", trees_, *expected_trees_));
    }
    columns_.MoveTo(file_, &parts_);
    AddPart("(model)", std::move(head_), "is the head of a model", PartKind::kModel);
    AddPart("(parameters)", std::move(rest_), "are the parameters of a model", PartKind::kModel);
    AddPart("(surroundings)", std::move(aside_), "says where a model was made", PartKind::kAside);
    return MakePlacedCheckpoint(std::move(parts_));
  }

 private:
  enum class Section { kHead, kTree, kRest };

  Error Refuse(std::string text) const {
    return InvalidInput(std::move(text), fmt::format("{}: line {}", file_, line_));
  }
  static std::string Name(const ListRow& row) { return fmt::format("trees/{}", row.name); }

  void AddPart(std::string_view name, std::string content, std::string_view why, PartKind kind) {
    if (content.empty()) return;
    parts_.unread.push_back({.name = std::string(name),
                             .why = std::string(why),
                             .file = {},
                             .content = std::move(content),
                             .kind = kind});
  }

  Status Add(std::string_view line) {
    if (line == "end of trees") {
      RETURN_IF_ERROR(EndTree());
      if (section_ == Section::kRest) return Refuse("a second end of trees");
      section_ = Section::kRest;
      return {};
    }
    if (section_ == Section::kRest) {
      if (line == "feature_importances:") importances_ = true;
      if (line.empty()) importances_ = false;
      (importances_ || IsOfTheMachine(line) ? aside_ : rest_) += fmt::format("{}\n", line);
      return {};
    }
    if (line.starts_with("Tree=")) {
      RETURN_IF_ERROR(EndTree());
      section_ = Section::kTree;
      if (line != fmt::format("Tree={}", trees_)) {
        return Refuse(fmt::format("expected Tree={}", trees_));
      }
      leaves_ = 0;
      counts_.fill(std::nullopt);
      return {};
    }
    const std::size_t equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == line.npos ? "" : line.substr(equals + 1);
    return section_ == Section::kHead ? AddHead(line, key, value) : AddList(line, key, value);
  }

  Status AddHead(std::string_view line, std::string_view key, std::string_view value) {
    if (key == "version") {
      parts_.metadata.emplace_back(key, value);
    } else if (key == "tree_sizes") {  // of their texts
      expected_trees_ = value.empty() ? 0 : std::ranges::count(value, ' ') + 1;
    } else if (!line.empty()) {
      head_ += fmt::format("{}\n", line);
    }
    return {};
  }

  Status AddList(std::string_view line, std::string_view key, std::string_view value) {
    const auto row = std::ranges::find(kLists, key, &ListRow::name);
    if (row == kLists.end()) {
      if (!line.empty()) head_ += fmt::format("Tree={} {}\n", trees_, line);
      return {};
    }
    auto& count = counts_.at(static_cast<std::size_t>(row - kLists.begin()));
    if (count) return Refuse(fmt::format("{} occurs twice in a tree", key));
    count = 0;
    while (!value.empty()) {
      const std::string_view word = value.substr(0, value.find(' '));
      value.remove_prefix(std::min(word.size() + 1, value.size()));
      if (word.empty()) continue;
      if (!AddNumber(*row, word)) {
        return Refuse(fmt::format("{}: {}; expected numbers of {}", key, Quoted(word),
                                  DTypeName(row->dtype)));
      }
      ++*count;
    }
    return {};
  }

  bool AddNumber(const ListRow& row, std::string_view word) {
    const char* end = word.data() + word.size();
    if (row.dtype == DType::kF64) {
      double value = 0;
      const auto read = std::from_chars(word.data(), end, value);
      // A number too small or too large for a double is written by nobody.
      return read.ec == std::errc() && read.ptr == end && columns_.Add(Name(row), value);
    }
    std::int64_t value = 0;
    const auto read = std::from_chars(word.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end) return false;
    if (row.name == "num_leaves") leaves_ = value;
    return columns_.Add(Name(row), value);
  }

  // Of the tree before this line, if any.
  Status EndTree() {
    if (section_ != Section::kTree) return {};
    ++trees_;
    if (leaves_ < 1) return Refuse(fmt::format("a tree of {} leaves; expected 1 or more", leaves_));
    for (std::size_t i = 0; i < kLists.size(); ++i) {
      const ListRow& row = kLists[i];
      if (!counts_[i] || row.length == Length::kAny) continue;
      const std::int64_t expected = row.length == Length::kOne      ? 1
                                    : row.length == Length::kLeaves ? leaves_
                                                                    : leaves_ - 1;
      // Older versions write a 0 for the splits of a tree of one leaf.
      const bool alone = leaves_ == 1 && *counts_[i] <= 1;
      if (*counts_[i] != expected && !alone) {
        return Refuse(fmt::format("tree {}: {} has {} numbers; expected {}", trees_ - 1, row.name,
                                  *counts_[i], expected));
      }
    }
    return {};
  }

  const std::string file_;
  PlacedParts parts_;
  TreeColumns columns_;
  Section section_ = Section::kHead;
  bool importances_ = false;
  std::size_t line_ = 0;
  std::int64_t trees_ = 0;
  std::int64_t leaves_ = 0;  // of the tree at work
  std::array<std::optional<std::int64_t>, kLists.size()> counts_;
  std::optional<std::int64_t> expected_trees_;
  std::string head_, rest_, aside_;
};

}  // namespace

bool LooksLikeLightgbm(std::string_view head) {
  return head.starts_with("tree\nversion=") || head.starts_with("tree\r\nversion=");
}

Result<std::unique_ptr<Checkpoint>> OpenLightgbm(InputFile file) {
  ASSIGN_OR_RETURN(const std::string text, ReadTreeModel(file));
  return LightgbmReader(file).Read(text);
}

}  // namespace rharness
