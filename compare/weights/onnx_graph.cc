// A walk over the messages by a table of their fields.
#include "compare/weights/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "compare/weights/names.h"
#include "compare/weights/onnx.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

enum class Message {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kValueInfo,
  kType,
  kTensorType,
  kElementType,  // of a sequence, or of an optional value
  kMapType,
  kShape,
  kDimension,
  kOperatorSet,
  kFunction,
  kTraining,
  kEntry,
  kAnnotation,
  kNone,
};

enum class Kind { kSkip, kInt, kFloat, kText, kLabel, kMessage, kTensor, kSparse, kMetadata };

// kLabel: a text whose absence is the empty text.
struct FieldRow {
  Message in;
  std::uint32_t number;
  std::string_view name;
  Kind kind;
  Message of = Message::kNone;
};
constexpr auto kFields = std::to_array<FieldRow>({
    {Message::kModel, 1, "ir_version", Kind::kInt},
    {Message::kModel, 2, "producer_name", Kind::kMetadata},
    {Message::kModel, 3, "producer_version", Kind::kMetadata},
    {Message::kModel, 4, "domain", Kind::kMetadata},
    {Message::kModel, 5, "model_version", Kind::kSkip},
    {Message::kModel, 6, "doc_string", Kind::kSkip},
    {Message::kModel, 7, "graph", Kind::kMessage, Message::kGraph},
    {Message::kModel, 8, "opset_import", Kind::kMessage, Message::kOperatorSet},
    {Message::kModel, 14, "metadata_props", Kind::kSkip},
    {Message::kModel, 20, "training_info", Kind::kMessage, Message::kTraining},
    {Message::kModel, 25, "function", Kind::kMessage, Message::kFunction},
    {Message::kGraph, 1, "node", Kind::kMessage, Message::kNode},
    {Message::kGraph, 2, "name", Kind::kSkip},
    {Message::kGraph, 5, "initializer", Kind::kTensor},
    {Message::kGraph, 10, "doc_string", Kind::kSkip},
    {Message::kGraph, 11, "input", Kind::kMessage, Message::kValueInfo},
    {Message::kGraph, 12, "output", Kind::kMessage, Message::kValueInfo},
    {Message::kGraph, 13, "value_info", Kind::kSkip},
    {Message::kGraph, 14, "quantization_annotation", Kind::kMessage, Message::kAnnotation},
    {Message::kGraph, 15, "sparse_initializer", Kind::kSparse},
    {Message::kGraph, 16, "metadata_props", Kind::kSkip},
    {Message::kNode, 1, "input", Kind::kText},
    {Message::kNode, 2, "output", Kind::kText},
    {Message::kNode, 3, "name", Kind::kLabel},
    {Message::kNode, 4, "op_type", Kind::kText},
    {Message::kNode, 5, "attribute", Kind::kMessage, Message::kAttribute},
    {Message::kNode, 6, "doc_string", Kind::kSkip},
    {Message::kNode, 7, "domain", Kind::kLabel},
    {Message::kNode, 8, "overload", Kind::kLabel},
    {Message::kNode, 9, "metadata_props", Kind::kSkip},
    {Message::kAttribute, 1, "name", Kind::kText},
    {Message::kAttribute, 2, "f", Kind::kFloat},
    {Message::kAttribute, 3, "i", Kind::kInt},
    {Message::kAttribute, 4, "s", Kind::kText},
    {Message::kAttribute, 5, "t", Kind::kTensor},
    {Message::kAttribute, 6, "g", Kind::kMessage, Message::kGraph},
    {Message::kAttribute, 7, "floats", Kind::kFloat},
    {Message::kAttribute, 8, "ints", Kind::kInt},
    {Message::kAttribute, 9, "strings", Kind::kText},
    {Message::kAttribute, 10, "tensors", Kind::kTensor},
    {Message::kAttribute, 11, "graphs", Kind::kMessage, Message::kGraph},
    {Message::kAttribute, 13, "doc_string", Kind::kSkip},
    {Message::kAttribute, 14, "tp", Kind::kMessage, Message::kType},
    {Message::kAttribute, 15, "type_protos", Kind::kMessage, Message::kType},
    {Message::kAttribute, 20, "type", Kind::kInt},
    {Message::kAttribute, 21, "ref_attr_name", Kind::kLabel},
    {Message::kAttribute, 22, "sparse_tensor", Kind::kSparse},
    {Message::kAttribute, 23, "sparse_tensors", Kind::kSparse},
    {Message::kValueInfo, 1, "name", Kind::kText},
    {Message::kValueInfo, 2, "type", Kind::kMessage, Message::kType},
    {Message::kValueInfo, 3, "doc_string", Kind::kSkip},
    {Message::kValueInfo, 4, "metadata_props", Kind::kSkip},
    {Message::kType, 1, "tensor", Kind::kMessage, Message::kTensorType},
    {Message::kType, 4, "sequence", Kind::kMessage, Message::kElementType},
    {Message::kType, 5, "map", Kind::kMessage, Message::kMapType},
    {Message::kType, 6, "denotation", Kind::kSkip},
    {Message::kType, 8, "sparse_tensor", Kind::kMessage, Message::kTensorType},
    {Message::kType, 9, "optional", Kind::kMessage, Message::kElementType},
    {Message::kTensorType, 1, "type", Kind::kInt},
    {Message::kTensorType, 2, "shape", Kind::kMessage, Message::kShape},
    {Message::kElementType, 1, "of", Kind::kMessage, Message::kType},
    {Message::kMapType, 1, "key", Kind::kInt},
    {Message::kMapType, 2, "value", Kind::kMessage, Message::kType},
    {Message::kShape, 1, "dim", Kind::kMessage, Message::kDimension},
    {Message::kDimension, 1, "value", Kind::kInt},
    {Message::kDimension, 2, "param", Kind::kText},
    {Message::kDimension, 3, "denotation", Kind::kSkip},
    {Message::kOperatorSet, 1, "domain", Kind::kLabel},
    {Message::kOperatorSet, 2, "version", Kind::kInt},
    {Message::kFunction, 1, "name", Kind::kText},
    {Message::kFunction, 4, "input", Kind::kText},
    {Message::kFunction, 5, "output", Kind::kText},
    {Message::kFunction, 6, "attribute", Kind::kText},
    {Message::kFunction, 7, "node", Kind::kMessage, Message::kNode},
    {Message::kFunction, 8, "doc_string", Kind::kSkip},
    {Message::kFunction, 9, "opset_import", Kind::kMessage, Message::kOperatorSet},
    {Message::kFunction, 10, "domain", Kind::kLabel},
    {Message::kFunction, 11, "attribute_proto", Kind::kMessage, Message::kAttribute},
    {Message::kFunction, 12, "value_info", Kind::kSkip},
    {Message::kFunction, 13, "overload", Kind::kLabel},
    {Message::kFunction, 14, "metadata_props", Kind::kSkip},
    {Message::kTraining, 1, "initialization", Kind::kMessage, Message::kGraph},
    {Message::kTraining, 2, "algorithm", Kind::kMessage, Message::kGraph},
    {Message::kTraining, 3, "initialization_binding", Kind::kMessage, Message::kEntry},
    {Message::kTraining, 4, "update_binding", Kind::kMessage, Message::kEntry},
    {Message::kEntry, 1, "key", Kind::kText},
    {Message::kEntry, 2, "value", Kind::kText},
    {Message::kAnnotation, 1, "tensor_name", Kind::kText},
    {Message::kAnnotation, 2, "parameter", Kind::kMessage, Message::kEntry},
});

const FieldRow* RowOf(Message in, std::uint32_t number) {
  const auto row = std::ranges::find_if(
      kFields, [&](const FieldRow& one) { return one.in == in && one.number == number; });
  return row == kFields.end() ? nullptr : &*row;
}

// In quotes, in ASCII: different bytes have different texts.
std::string Exact(std::string_view bytes) {
  std::string text = "'";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '\'' || c == '\\') {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + "'";
}

// NaNs differ by their bits.
std::string Exact(float value) {
  return value == value ? fmt::format("{}", value)
                        : fmt::format("nan:{:08x}", std::bit_cast<std::uint32_t>(value));
}

// Of a field: its place in the schema, and "NAME: TEXT".
struct Item {
  std::uint32_t number = 0;
  std::string_view name;
  std::string text;
};

// What the names of tensors in a message begin with.
struct Names {
  std::string prefix;    // of a graph: "If_3.then_branch/"
  std::string base;      // of an attribute, and of a node: "If_3.then_branch", "If_3"
  std::string constant;  // of a Constant: the name of its output
};

std::string Join(const std::vector<Item>& items) {
  std::string text = "{";
  for (const Item& item : items) {
    text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", item.name, item.text);
  }
  return text + "}";
}

class GraphReader {
 public:
  explicit GraphReader(const InputFile& file) : messages_(file), size_(file.size_bytes()) {}
  Result<OnnxModel> Read();

 private:
  // Names of the nodes of one graph or function.
  struct Labels {
    std::set<std::string> used;
    std::size_t count = 0;
  };

  Result<std::vector<Item>> ItemsOf(Message message, FileSpan span, const Names& names,
                                    std::size_t depth);
  Status AddItems(const FieldRow& row, const FileField& field, const Names& names,
                  std::size_t depth, Labels* labels, std::vector<Item>* items);
  Status AddScalars(const FieldRow& row, const FileField& field, std::vector<Item>* items);
  Status AddTensor(const FieldRow& row, const FileField& field, const Names& names,
                   std::vector<Item>* items);
  Status AddSparse(const FieldRow& row, const FileField& field, const Names& names,
                   std::vector<Item>* items);
  Status AddUnknown(const FileField& field, std::vector<Item>* items);
  Status AddText(const FieldRow& row, std::string text, std::vector<Item>* items);
  Result<Names> NamesIn(const FieldRow& row, const FileField& field, const Names& outer,
                        Labels* labels, const std::vector<Item>& items);
  Result<std::vector<std::string>> Texts(FileSpan span, std::uint32_t number);

  ProtobufFile messages_;
  const std::uint64_t size_;
  OnnxModel model_;
  std::size_t decoded_bytes_ = 0;
  std::size_t text_bytes_ = 0;
};

Result<OnnxModel> GraphReader::Read() {
  ASSIGN_OR_RETURN(const std::vector<Item> items, ItemsOf(Message::kModel, {0, size_}, {}, 0));
  std::size_t count = 0;
  std::uint32_t last = 0;
  for (const Item& item : items) {
    count = item.number == last ? count + 1 : 0;
    last = item.number;
    // Those of the graph itself stand there already.
    if (item.name != "graph") {
      model_.graph.emplace_back(fmt::format("{} {}", item.name, count), item.text);
    }
  }
  return std::move(model_);
}

Status GraphReader::AddText(const FieldRow& row, std::string text, std::vector<Item>* items) {
  text_bytes_ += text.size() + sizeof(Item);
  if (text_bytes_ > kMaxOnnxGraphBytes) {
    return Unsupported(
        fmt::format("a graph of more than {} bytes, without its tensors", kMaxOnnxGraphBytes),
        messages_.At(0));
  }
  items->push_back({row.number, row.name, std::move(text)});
  return {};
}

// The texts of one field of a message.
Result<std::vector<std::string>> GraphReader::Texts(FileSpan span, std::uint32_t number) {
  std::vector<std::string> texts;
  for (FileField field;;) {
    ASSIGN_OR_RETURN(const bool more, messages_.Next(&span, &field));
    if (!more) return texts;
    if (field.number != number || field.wire != ProtobufWire::kBytes) continue;
    if (!texts.empty()) continue;
    ASSIGN_OR_RETURN(std::string text, messages_.Text(field.content, kMaxOnnxNameBytes));
    texts.push_back(std::move(text));
  }
}

// The names that a message gives to the tensors in it; `items`: what its container has so far.
Result<Names> GraphReader::NamesIn(const FieldRow& row, const FileField& field, const Names& outer,
                                   Labels* labels, const std::vector<Item>& items) {
  const auto before = [&] { return std::ranges::count(items, row.number, &Item::number); };
  const auto first = [&](std::uint32_t number) -> Result<std::string> {
    ASSIGN_OR_RETURN(std::vector<std::string> texts, Texts(field.content, number));
    return texts.empty() ? std::string() : std::move(texts.front());
  };
  switch (row.of) {
    case Message::kNode: {
      ASSIGN_OR_RETURN(std::string label, first(3));
      ASSIGN_OR_RETURN(const std::string kind, first(4));
      ASSIGN_OR_RETURN(const std::string domain, first(7));
      ASSIGN_OR_RETURN(const std::string output, first(2));
      const std::size_t position = labels->count++;
      if (label.empty() || !labels->used.insert(label).second) {
        label = fmt::format("{}_{}", kind, position);
      }
      const bool constant = kind == "Constant" && (domain.empty() || domain == "ai.onnx");
      return Names{{}, outer.prefix + label, constant ? outer.prefix + output : std::string()};
    }
    case Message::kAttribute: {
      ASSIGN_OR_RETURN(const std::string name, first(1));
      const bool value = name == "value" || name == "sparse_value";
      if (value && !outer.constant.empty()) return Names{{}, outer.constant, {}};
      return Names{{}, fmt::format("{}.{}", outer.base, name), {}};
    }
    case Message::kGraph:
      if (row.in == Message::kModel) return Names{};
      if (row.in == Message::kAttribute && row.name == "graphs") {
        return Names{fmt::format("{}.{}/", outer.base, before()), {}, {}};
      }
      return Names{
          fmt::format("{}{}/", outer.base,
                      row.in == Message::kTraining ? fmt::format(".{}", row.name) : std::string()),
          {},
          {}};
    case Message::kFunction: {
      ASSIGN_OR_RETURN(const std::string name, first(1));
      ASSIGN_OR_RETURN(const std::string overload, first(13));
      const std::string whole = overload.empty() ? name : fmt::format("{}:{}", name, overload);
      return Names{fmt::format("function {}/", whole), fmt::format("function {}", whole), {}};
    }
    case Message::kTraining:
      return Names{{}, fmt::format("training {}", before()), {}};
    default:
      return Names{};
  }
}

Result<std::vector<Item>> GraphReader::ItemsOf(Message message, FileSpan span, const Names& names,
                                               std::size_t depth) {
  if (depth > kMaxOnnxDepth) {
    return Unsupported(fmt::format("more than {} levels of messages", kMaxOnnxDepth),
                       messages_.At(span.begin));
  }
  std::vector<Item> items;
  Labels labels;
  for (FileField field;;) {
    ASSIGN_OR_RETURN(const bool more, messages_.Next(&span, &field));
    if (!more) break;
    const FieldRow* row = RowOf(message, field.number);
    RETURN_IF_ERROR(row == nullptr ? AddUnknown(field, &items)
                                   : AddItems(*row, field, names, depth, &labels, &items));
  }
  const auto is_set = [](const Item& item) {
    return item.name == "attribute" || item.name == "opset_import" || item.name == "initializer";
  };
  std::ranges::stable_sort(items, [&](const Item& a, const Item& b) {
    return a.number != b.number ? a.number < b.number : is_set(a) && a.text < b.text;
  });
  return items;
}

Status GraphReader::AddItems(const FieldRow& row, const FileField& field, const Names& names,
                             std::size_t depth, Labels* labels, std::vector<Item>* items) {
  const bool bytes = field.wire == ProtobufWire::kBytes;
  switch (row.kind) {
    case Kind::kSkip:
      return {};
    case Kind::kInt:
    case Kind::kFloat:
      return AddScalars(row, field, items);
    default:
      break;
  }
  if (!bytes) {
    return InvalidInput(fmt::format("{}: a number; expected a text or a message", row.name),
                        messages_.At(field.at));
  }
  switch (row.kind) {
    case Kind::kTensor:
      return AddTensor(row, field, names, items);
    case Kind::kSparse:
      return AddSparse(row, field, names, items);
    case Kind::kMessage: {
      ASSIGN_OR_RETURN(const Names inner, NamesIn(row, field, names, labels, *items));
      ASSIGN_OR_RETURN(const std::vector<Item> members,
                       ItemsOf(row.of, field.content, inner, depth + 1));
      if (row.in != Message::kModel || row.of != Message::kGraph) {
        return AddText(row, Join(members), items);
      }
      std::size_t count = 0;
      std::uint32_t last = 0;
      for (const Item& member : members) {
        count = member.number == last ? count + 1 : 0;
        last = member.number;
        model_.graph.emplace_back(fmt::format("graph {} {}", member.name, count), member.text);
      }
      return {};
    }
    default: {
      ASSIGN_OR_RETURN(const std::string text, messages_.Text(field.content, kMaxOnnxGraphBytes));
      if (row.kind == Kind::kMetadata) {
        model_.metadata.emplace_back(row.name, text.substr(0, kMaxOnnxNameBytes));
        return {};
      }
      if (row.kind == Kind::kLabel && text.empty()) return {};
      return AddText(row, Exact(text), items);
    }
  }
}

// One number, or packed ones.
Status GraphReader::AddScalars(const FieldRow& row, const FileField& field,
                               std::vector<Item>* items) {
  const auto add = [&](std::uint64_t value) {
    if (row.kind == Kind::kInt) {
      return AddText(row, fmt::format_int(static_cast<std::int64_t>(value)).str(), items);
    }
    return AddText(row, Exact(std::bit_cast<float>(static_cast<std::uint32_t>(value))), items);
  };
  const bool is_int = row.kind == Kind::kInt;
  if (field.wire == (is_int ? ProtobufWire::kVarint : ProtobufWire::kFixed32)) {
    return add(field.value);
  }
  if (field.wire != ProtobufWire::kBytes || (!is_int && field.content.size() % 4 != 0)) {
    return InvalidInput(
        fmt::format("{}: expected {}", row.name, is_int ? "whole numbers" : "numbers of 32 bits"),
        messages_.At(field.at));
  }
  if (is_int) {
    for (FileSpan rest = field.content; rest.size() > 0;) {
      ASSIGN_OR_RETURN(const std::uint64_t value, messages_.Varint(&rest));
      RETURN_IF_ERROR(add(value));
    }
    return {};
  }
  ASSIGN_OR_RETURN(const std::string packed, messages_.Text(field.content, kMaxOnnxGraphBytes));
  for (std::size_t i = 0; i < packed.size(); i += 4) {
    std::uint32_t bits = 0;
    packed.copy(reinterpret_cast<char*>(&bits), 4, i);
    RETURN_IF_ERROR(add(bits));
  }
  return {};
}

Status GraphReader::AddTensor(const FieldRow& row, const FileField& field, const Names& names,
                              std::vector<Item>* items) {
  ASSIGN_OR_RETURN(OnnxTensor tensor, ReadOnnxTensor(messages_, field.content, &decoded_bytes_));
  const bool initializer = row.in == Message::kGraph;
  if (initializer) {
    tensor.name = names.prefix + tensor.name;
  } else {
    tensor.name = names.base;
    const auto before = std::ranges::count(*items, row.number, &Item::number);
    if (row.name == "tensors") tensor.name += fmt::format(".{}", before);
  }
  std::string text = Exact(tensor.name);
  if (!tensor.dtype) text += " " + OnnxTypeText(tensor);
  const bool named = initializer && tensor.dtype.has_value();
  model_.tensors.push_back(std::move(tensor));
  return named ? Status() : AddText(row, std::move(text), items);
}

// SparseTensorProto: values = 1, indices = 2, dims = 3.
Status GraphReader::AddSparse(const FieldRow& row, const FileField& field, const Names& names,
                              std::vector<Item>* items) {
  std::string name = names.base, dims;
  if (row.name == "sparse_tensors") {
    name += fmt::format(".{}", std::ranges::count(*items, row.number, &Item::number));
  }
  std::vector<std::pair<std::string_view, OnnxTensor>> parts;
  FileField member;
  for (FileSpan rest = field.content;;) {
    ASSIGN_OR_RETURN(const bool more, messages_.Next(&rest, &member));
    if (!more) break;
    const bool bytes = member.wire == ProtobufWire::kBytes;
    if (member.number == 3 && !bytes) dims += fmt::format(" {}", member.value);
    while (member.number == 3 && bytes && member.content.size() > 0) {
      ASSIGN_OR_RETURN(const std::uint64_t size, messages_.Varint(&member.content));
      dims += fmt::format(" {}", size);
    }
    if (member.number > 2 || !bytes) continue;
    ASSIGN_OR_RETURN(OnnxTensor tensor, ReadOnnxTensor(messages_, member.content, &decoded_bytes_));
    if (member.number == 1 && row.in == Message::kGraph) name = names.prefix + tensor.name;
    parts.emplace_back(member.number == 1 ? "values" : "indices", std::move(tensor));
  }
  for (auto& [kind, tensor] : parts) {
    tensor.name = fmt::format("{}/{}", name, kind);
    model_.tensors.push_back(std::move(tensor));
  }
  return AddText(row, fmt::format("{} of shape{}", Exact(name), dims), items);
}

// A field of a later schema: by its digest.
Status GraphReader::AddUnknown(const FileField& field, std::vector<Item>* items) {
  const FieldRow row = {Message::kNone, field.number, "field", Kind::kText};
  if (field.wire != ProtobufWire::kBytes) {
    return AddText(row, fmt::format("{} = {:x}", field.number, field.value), items);
  }
  ASSIGN_OR_RETURN(const std::string bytes, messages_.Text(field.content, kMaxOnnxGraphBytes));
  Sha256 digest;
  digest.Update(bytes);
  return AddText(row, fmt::format("{} = sha256 {}", field.number, ToHex(digest.Finish())), items);
}

}  // namespace

Result<OnnxModel> ReadOnnxModel(const InputFile& file) { return GraphReader(file).Read(); }

}  // namespace rharness
