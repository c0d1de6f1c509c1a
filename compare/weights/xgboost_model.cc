// The arrays of the trees, and the model without them.
#include "compare/weights/xgboost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

class XgboostReader {
 public:
  explicit XgboostReader(const InputFile& file) : file_(file.name()) {
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
      if (name != "gradient_booster") {
        rest.AppendMember(name, value);
        continue;
      }
      ASSIGN_OR_RETURN(Json booster, Booster(value));
      rest.AppendMember(name, std::move(booster));
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
        RETURN_IF_ERROR(AddArray(name, DType::kF32, value));
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
        RETURN_IF_ERROR(AddArray(name, DType::kF32, value));
      } else {
        rest.AppendMember(name, value);
      }
    }
    return rest;
  }

  Result<Json> Trees(const Json& trees) {
    found_ = true;
    columns_.Begin("trees/num_nodes", DType::kI32);
    for (const ArrayRow& row : kArrays) columns_.Begin(Name(row), row.dtype);
    Json::Array rest;
    for (const Json& tree : trees.AsArray()) {
      if (!tree.IsObject()) return Refuse("a tree that is no object");
      ASSIGN_OR_RETURN(Json left, Tree(tree, rest.size()));
      rest.push_back(std::move(left));
    }
    return Json::MakeArray(std::move(rest));
  }

  static std::string Name(const ArrayRow& row) { return fmt::format("trees/{}", row.name); }

  Result<Json> Tree(const Json& tree, std::size_t index) {
    const Json* children = tree.Find("left_children");
    if (children == nullptr || !children->IsArray()) {
      return Refuse(fmt::format("tree {}: expected an array 'left_children'", index));
    }
    const std::size_t nodes = children->AsArray().size();
    columns_.Add("trees/num_nodes", static_cast<std::int64_t>(nodes));
    Json rest = Json::MakeObject();
    for (const auto& [name, value] : tree.AsObject()) {
      const auto row = std::ranges::find(kArrays, name, &ArrayRow::name);
      if (row == kArrays.end() || !value.IsArray()) {
        rest.AppendMember(name, value);
        continue;
      }
      const std::size_t size = value.AsArray().size();
      if (row->of_nodes && size != nodes) {
        return Refuse(fmt::format("tree {}: {} has {} values; expected {}, one a node", index, name,
                                  size, nodes));
      }
      // Those whose size does not follow from the nodes state it.
      if (!row->of_nodes && size != 0 && size != nodes) {
        rest.AppendMember(name, static_cast<std::uint64_t>(size));
      }
      RETURN_IF_ERROR(AddArray(Name(*row), row->dtype, value));
    }
    return rest;
  }

  Status AddArray(const std::string& name, DType dtype, const Json& array) {
    columns_.Begin(name, dtype);
    const bool real = dtype == DType::kF32;
    for (const Json& element : array.AsArray()) {
      bool fits = false;
      if (element.kind() == Json::Kind::kBool) {
        fits = columns_.Add(name, std::int64_t{element.AsBool()});
      } else if (const auto number = real ? element.ToDouble() : std::nullopt) {
        fits = columns_.Add(name, *number);
      } else if (const auto integer = element.ToInt64()) {
        fits = columns_.Add(name, *integer);
      }
      if (!fits) {
        return Refuse(fmt::format("{}: expected numbers of {}", Quoted(name), DTypeName(dtype)));
      }
    }
    return {};
  }

  const std::string file_;
  PlacedParts parts_;
  TreeColumns columns_;
  bool found_ = false;
};

}  // namespace

bool LooksLikeXgboost(std::string_view head) {
  const std::string_view spaced = head.starts_with("{ ") ? head.substr(2) : head;
  return head.starts_with("{\"learner\":") || spaced.starts_with("\"learner\":") ||
         head.starts_with(
             "{L\0\0\0\0\0\0\0\x07"
             "learne"sv) ||  // as far as 16 bytes go
         head.starts_with(
             "{i\x07"
             "learner"sv);
}

Result<std::unique_ptr<Checkpoint>> OpenXgboost(InputFile file) {
  ASSIGN_OR_RETURN(const std::string text, ReadTreeModel(file));
  const bool is_text = text.find("learner") > 0 && text[text.find("learner") - 1] == '"';
  ASSIGN_OR_RETURN(const Json model,
                   is_text ? ParseJson(text, file.name()) : ParseUbjson(text, file.name()));
  return XgboostReader(file).Read(model);
}

}  // namespace rharness
