// The arrays of the trees, and the model without them.
#include "compare/weights/xgboost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "compare/weights/array_taker.h"
#include "compare/weights/names.h"
#include "compare/weights/tree_columns.h"
#include "compare/weights/ubjson.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

// An array of every tree; of its nodes: it has as many values as there are nodes.
struct ArrayRow {
  std::string_view name;
  DType dtype;
  bool of_nodes = true;
};
constexpr auto kArrays = std::to_array<ArrayRow>({
    {"base_weights", DType::kF32, false},
    {"categories", DType::kI32, false},
    {"categories_nodes", DType::kI32, false},
    {"categories_segments", DType::kI64, false},
    {"categories_sizes", DType::kI64, false},
    {"default_left", DType::kU8},
    {"left_children", DType::kI32},
    {"loss_changes", DType::kF32},
    {"parents", DType::kI32},
    {"right_children", DType::kI32},
    {"split_conditions", DType::kF32},
    {"split_indices", DType::kI32},
    {"split_type", DType::kU8, false},
    {"sum_hessian", DType::kF32},
});

std::string NameOf(const ArrayRow& row) { return fmt::format("trees/{}", row.name); }

// The arrays of a model as columns, by their paths.
class XgboostArrays : public ArrayTaker {
 public:
  bool Begin(std::string_view path) override {
    constexpr std::string_view kBooster = "/learner/gradient_booster", kDart = "/gbtree",
                               kTree = "/model/trees/*/";
    if (!path.starts_with(kBooster)) return false;
    path.remove_prefix(kBooster.size());
    if (path == "/weight_drop") return Begin("weight_drop", DType::kF32);
    if (path.starts_with(kDart)) path.remove_prefix(kDart.size());
    if (path == "/model/weights") return Begin("weights", DType::kF32);
    if (!path.starts_with(kTree)) return false;
    const auto row = std::ranges::find(kArrays, path.substr(kTree.size()), &ArrayRow::name);
    return row != kArrays.end() && Begin(NameOf(*row), row->dtype);
  }
  bool Add(std::int64_t value) override { return columns.Add(name_, value); }
  bool Add(double value) override { return columns.Add(name_, value); }
  bool Add(std::string_view number) override { return columns.AddText(name_, number); }
  std::string Expected() const override {
    return fmt::format("{}: expected numbers of {}", Quoted(name_), DTypeName(dtype_));
  }

  TreeColumns columns;

 private:
  bool Begin(std::string name, DType dtype) {
    name_ = std::move(name);
    dtype_ = dtype;
    columns.Begin(name_, dtype);
    return true;
  }

  std::string name_;
  DType dtype_ = DType::kF32;
};

class XgboostReader {
 public:
  XgboostReader(const InputFile& file, XgboostArrays* arrays)
      : file_(file.name()), columns_(arrays->columns) {
    parts_.files.push_back(file);
  }

  Result<std::unique_ptr<Checkpoint>> Read(const Json& model) {
    const Json* learner = model.Find("learner");
    const Json* booster = learner == nullptr ? nullptr : learner->Find("gradient_booster");
    if (booster == nullptr || !booster->IsObject()) {
      return Refuse("expected an object 'learner' with an object 'gradient_booster'");
    }
    if (const Json* version = model.Find("version")) {
      parts_.metadata.emplace_back("version", version->Dump());
    }
    ASSIGN_OR_RETURN(const Json rest, WithoutArrays(*learner));
    if (!found_) return Refuse("expected trees, or the weights of a linear model");
    columns_.MoveTo(file_, &parts_);
    parts_.unread.push_back({.name = "model.json",
                             .why = "what a model is beside its trees is loaded with them",
                             .file = {},
                             .content = rest.Dump(),
                             .kind = PartKind::kModel});
    return MakePlacedCheckpoint(std::move(parts_));
  }

 private:
  Error Refuse(std::string text) const { return InvalidInput(std::move(text), file_); }

  // The learner, its arrays moved into columns.
  Result<Json> WithoutArrays(const Json& learner) {
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : learner.AsObject()) {
      if (name == "learner_model_param" && value.IsObject()) {
        ASSIGN_OR_RETURN(Json parameters, WithoutBaseScore(value));
        rest.AppendMember(name, std::move(parameters));
        continue;
      }
      if (name != "gradient_booster") {
        rest.AppendMember(name, value);
        continue;
      }
      ASSIGN_OR_RETURN(Json booster, Booster(value));
      rest.AppendMember(name, std::move(booster));
    }
    return rest;
  }

  Result<Json> WithoutBaseScore(const Json& parameters) {
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : parameters.AsObject()) {
      if (name != "base_score" || value.kind() != Json::Kind::kString) {
        rest.AppendMember(name, value);
      } else if (!AddBaseScore(value.AsString())) {
        return Refuse(fmt::format("base_score: {}; expected numbers", Quoted(value.AsString())));
      }
    }
    return rest;
  }

  // {"model": {...}}, of DART {"gbtree": {"model": {...}}, "weight_drop": [...]}
  Result<Json> Booster(const Json& booster) {
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : booster.AsObject()) {
      if (name == "model" && value.IsObject()) {
        ASSIGN_OR_RETURN(Json model, Model(value));
        rest.AppendMember(name, std::move(model));
      } else if (name == "gbtree" && value.IsObject() && value.Find("gbtree") == nullptr) {
        ASSIGN_OR_RETURN(Json inner, Booster(value));
        rest.AppendMember(name, std::move(inner));
      } else if (name == "weight_drop" && value.IsArray()) {
        if (const auto taken = Taken(name, value); !taken.ok()) return taken.error();
      } else {
        rest.AppendMember(name, value);
      }
    }
    return rest;
  }

  Result<Json> Model(const Json& model) {
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : model.AsObject()) {
      if (name == "trees" && value.IsArray()) {
        ASSIGN_OR_RETURN(Json trees, Trees(value));
        rest.AppendMember(name, std::move(trees));
      } else if (name == "weights" && value.IsArray()) {
        found_ = true;
        if (const auto taken = Taken(name, value); !taken.ok()) return taken.error();
      } else {
        rest.AppendMember(name, value);
      }
    }
    return rest;
  }

  Result<Json> Trees(const Json& trees) {
    found_ = true;
    columns_.Begin("trees/num_nodes", DType::kI32);
    for (const ArrayRow& row : kArrays) columns_.Begin(NameOf(row), row.dtype);
    Json::Array rest;
    for (const Json& tree : trees.AsArray()) {
      if (!tree.IsObject()) return Refuse("a tree that is no object");
      ASSIGN_OR_RETURN(Json left, Tree(tree, rest.size()));
      rest.push_back(std::move(left));
    }
    return Json::MakeArray(std::move(rest));
  }

  Result<Json> Tree(const Json& tree, std::size_t index) {
    const Json* children = tree.Find("left_children");
    if (children == nullptr || !children->IsArray()) {
      return Refuse(fmt::format("tree {}: expected an array 'left_children'", index));
    }
    const auto stated = children->AsArray().empty() ? 0 : children->AsArray()[0].ToUint64();
    const std::uint64_t nodes = stated.value_or(0);
    columns_.Add("trees/num_nodes", static_cast<std::int64_t>(nodes));
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : tree.AsObject()) {
      const auto row = std::ranges::find(kArrays, name, &ArrayRow::name);
      if (row == kArrays.end() || !value.IsArray()) {
        rest.AppendMember(name, value);
        continue;
      }
      ASSIGN_OR_RETURN(const std::uint64_t size, Taken(NameOf(*row), value));
      if (row->of_nodes && size != nodes) {
        return Refuse(fmt::format("tree {}: {} has {} values; expected {}, one a node", index, name,
                                  size, nodes));
      }
      // Those whose size does not follow from the nodes state it.
      if (!row->of_nodes && size != 0 && size != nodes) {
        rest.AppendMember(name, size);
      }
    }
    return rest;
  }

  // An array that XgboostArrays took: [its count], or [] of none.
  Result<std::uint64_t> Taken(const std::string& name, const Json& left) {
    const Json::Array& array = left.AsArray();
    const auto count = array.size() == 1 ? array[0].ToUint64() : std::uint64_t{0};
    const std::uint64_t all = counts_[name] += count.value_or(0);
    // A name with escapes is not seen by the one and seen by the other.
    if (!count || array.size() > 1 || all > columns_.Count(name)) {
      return Refuse(fmt::format("{}: an array whose name is escaped", Quoted(name)));
    }
    return *count;
  }

  // "5E-1", or "[5E-1,2E-1]"
  bool AddBaseScore(std::string_view text) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    columns_.Begin("base_score", DType::kF32);
    while (true) {
      const std::size_t comma = std::min(text.find(','), text.size());
      if (!columns_.AddText("base_score", text.substr(0, comma))) return false;
      if (comma == text.size()) return true;
      text.remove_prefix(comma + 1);
    }
  }

  const std::string file_;
  PlacedParts parts_;
  TreeColumns& columns_;
  std::map<std::string, std::uint64_t> counts_;  // of the arrays in the text
  bool found_ = false;
};

}  // namespace

bool LooksLikeXgboost(std::string_view head) {
  if (head.starts_with("{L\0\0\0\0\0\0\0\x07learne"sv) ||  // as far as 16 bytes go
      head.starts_with("{i\x07learner"sv)) {
    return true;
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n", 1);
  if (!head.starts_with('{') || first == head.npos) return false;
  return head.substr(first).starts_with("\"learner\"") ||
         head.substr(first).starts_with("\"version\"");
}

Result<std::unique_ptr<Checkpoint>> OpenXgboost(InputFile file) {
  ASSIGN_OR_RETURN(std::string text, ReadTreeModel(file));
  XgboostArrays arrays;
  const std::size_t first = text.find_first_not_of(" \t\r\n", 1);
  const bool is_text = first != text.npos && text[first] == '"';
  if (is_text) RETURN_IF_ERROR(TakeArrays(file.name(), &text, &arrays));
  ASSIGN_OR_RETURN(const Json model, is_text ? ParseJson(text, file.name())
                                             : ParseUbjson(text, file.name(), &arrays));
  text = std::string();  // what it says is in memory twice
  return XgboostReader(file, &arrays).Read(model);
}

}  // namespace rharness
