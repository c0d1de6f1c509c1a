// A walk over the messages by a table of their fields.
#include "compare/weights/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "compare/weights/names.h"
#include "compare/weights/onnx.h"
#include "compare/weights/onnx_fields.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

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
struct GraphItem {
  std::uint32_t number = 0;
  std::string_view name;
  std::string text;
};

// What the names of tensors in a message begin with.
struct TensorNames {
  std::string prefix;    // of a graph: "If_3.then_branch/"
  std::string base;      // of an attribute, and of a node: "If_3.then_branch", "If_3"
  std::string constant;  // of a Constant: the name of its output
};

std::string JoinItems(const std::vector<GraphItem>& items) {
  std::string text = "{";
  for (const GraphItem& item : items) {
    text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", item.name, item.text);
  }
  return text + "}";
}

class GraphReader {
 public:
  explicit GraphReader(const InputFile& file) : messages_(file), size_(file.size_bytes()) {}
  Result<OnnxModel> Read();

 private:
  // TensorNames of the nodes of one graph or function.
  struct Labels {
    std::set<std::string> used;
    std::size_t count = 0;
    std::map<std::uint32_t, std::size_t> fields;  // that came before, by their numbers
  };

  Result<std::vector<GraphItem>> ItemsOf(OnnxMessage message, FileSpan span,
                                         const TensorNames& names, std::size_t depth);
  Status AddItems(const OnnxField& row, const FileField& field, const TensorNames& names,
                  std::size_t depth, Labels* labels, std::vector<GraphItem>* items);
  Status AddScalars(const OnnxField& row, const FileField& field, std::vector<GraphItem>* items);
  Status AddTensor(const OnnxField& row, const FileField& field, const TensorNames& names,
                   std::size_t before, std::vector<GraphItem>* items);
  Status AddTensor(OnnxTensor tensor);
  Status AddSparse(const OnnxField& row, const FileField& field, const TensorNames& names,
                   std::size_t before, std::vector<GraphItem>* items);
  Status AddUnknown(const FileField& field, std::vector<GraphItem>* items);
  Status AddText(const OnnxField& row, std::string text, std::vector<GraphItem>* items);
  Result<TensorNames> NamesIn(const OnnxField& row, const FileField& field,
                              const TensorNames& outer, Labels* labels);
  Result<std::vector<std::string>> Texts(FileSpan span, std::uint32_t number);

  ProtobufFile messages_;
  const std::uint64_t size_;
  OnnxModel model_;
  std::size_t decoded_bytes_ = 0;
  std::size_t text_bytes_ = 0;
};

Result<OnnxModel> GraphReader::Read() {
  ASSIGN_OR_RETURN(const std::vector<GraphItem> items,
                   ItemsOf(OnnxMessage::kModel, {0, size_}, {}, 0));
  std::size_t count = 0;
  std::uint32_t last = 0;
  for (const GraphItem& item : items) {
    count = item.number == last ? count + 1 : 0;
    last = item.number;
    // Those of the graph itself stand there already.
    if (item.name != "graph") {
      model_.graph.emplace_back(fmt::format("{} {}", item.name, count), item.text);
    }
  }
  return std::move(model_);
}

Status GraphReader::AddText(const OnnxField& row, std::string text, std::vector<GraphItem>* items) {
  text_bytes_ += text.size() + sizeof(GraphItem);
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

// The names that a message gives to the tensors in it.
Result<TensorNames> GraphReader::NamesIn(const OnnxField& row, const FileField& field,
                                         const TensorNames& outer, Labels* labels) {
  const auto before = [&] { return labels->fields[row.number]; };
  const auto first = [&](std::uint32_t number) -> Result<std::string> {
    ASSIGN_OR_RETURN(std::vector<std::string> texts, Texts(field.content, number));
    return texts.empty() ? std::string() : std::move(texts.front());
  };
  switch (row.of) {
    case OnnxMessage::kNode: {
      ASSIGN_OR_RETURN(std::string label, first(3));
      ASSIGN_OR_RETURN(const std::string kind, first(4));
      ASSIGN_OR_RETURN(const std::string domain, first(7));
      ASSIGN_OR_RETURN(const std::string output, first(2));
      const std::size_t position = labels->count++;
      if (label.empty() || !labels->used.insert(label).second) {
        label = fmt::format("{}_{}", kind, position);
      }
      const bool constant = kind == "Constant" && (domain.empty() || domain == "ai.onnx");
      return TensorNames{
          {}, outer.prefix + label, constant ? outer.prefix + output : std::string()};
    }
    case OnnxMessage::kAttribute: {
      ASSIGN_OR_RETURN(const std::string name, first(1));
      const bool value = name == "value" || name == "sparse_value";
      if (value && !outer.constant.empty()) return TensorNames{{}, outer.constant, {}};
      return TensorNames{{}, fmt::format("{}.{}", outer.base, name), {}};
    }
    case OnnxMessage::kGraph:
      if (row.in == OnnxMessage::kModel) return TensorNames{};
      if (row.in == OnnxMessage::kAttribute && row.name == "graphs") {
        return TensorNames{fmt::format("{}.{}/", outer.base, before()), {}, {}};
      }
      return TensorNames{fmt::format("{}{}/", outer.base,
                                     row.in == OnnxMessage::kTraining ? fmt::format(".{}", row.name)
                                                                      : std::string()),
                         {},
                         {}};
    case OnnxMessage::kFunction: {
      ASSIGN_OR_RETURN(const std::string name, first(1));
      ASSIGN_OR_RETURN(const std::string overload, first(13));
      const std::string whole = overload.empty() ? name : fmt::format("{}:{}", name, overload);
      return TensorNames{fmt::format("function {}/", whole), fmt::format("function {}", whole), {}};
    }
    case OnnxMessage::kTraining:
      return TensorNames{{}, fmt::format("training {}", before()), {}};
    default:
      return TensorNames{};
  }
}

Result<std::vector<GraphItem>> GraphReader::ItemsOf(OnnxMessage message, FileSpan span,
                                                    const TensorNames& names, std::size_t depth) {
  if (depth > kMaxOnnxDepth) {
    return Unsupported(fmt::format("more than {} levels of messages", kMaxOnnxDepth),
                       messages_.At(span.begin));
  }
  std::vector<GraphItem> items;
  Labels labels;
  for (FileField field;;) {
    ASSIGN_OR_RETURN(const bool more, messages_.Next(&span, &field));
    if (!more) break;
    const OnnxField* row = OnnxFieldOf(message, field.number);
    RETURN_IF_ERROR(row == nullptr ? AddUnknown(field, &items)
                                   : AddItems(*row, field, names, depth, &labels, &items));
    ++labels.fields[field.number];
  }
  const auto is_set = [](const GraphItem& item) {
    return item.name == "attribute" || item.name == "opset_import" || item.name == "initializer";
  };
  std::ranges::stable_sort(items, [&](const GraphItem& a, const GraphItem& b) {
    return a.number != b.number ? a.number < b.number : is_set(a) && a.text < b.text;
  });
  return items;
}

Status GraphReader::AddItems(const OnnxField& row, const FileField& field, const TensorNames& names,
                             std::size_t depth, Labels* labels, std::vector<GraphItem>* items) {
  const bool bytes = field.wire == ProtobufWire::kBytes;
  switch (row.kind) {
    case OnnxFieldKind::kSkip:
      return {};
    case OnnxFieldKind::kInt:
    case OnnxFieldKind::kFloat:
      return AddScalars(row, field, items);
    default:
      break;
  }
  if (!bytes) {
    return InvalidInput(fmt::format("{}: a number; expected a text or a message", row.name),
                        messages_.At(field.at));
  }
  switch (row.kind) {
    case OnnxFieldKind::kTensor:
      return AddTensor(row, field, names, labels->fields[row.number], items);
    case OnnxFieldKind::kSparse:
      return AddSparse(row, field, names, labels->fields[row.number], items);
    case OnnxFieldKind::kMessage: {
      ASSIGN_OR_RETURN(const TensorNames inner, NamesIn(row, field, names, labels));
      ASSIGN_OR_RETURN(const std::vector<GraphItem> members,
                       ItemsOf(row.of, field.content, inner, depth + 1));
      if (row.in != OnnxMessage::kModel || row.of != OnnxMessage::kGraph) {
        return AddText(row, JoinItems(members), items);
      }
      std::size_t count = 0;
      std::uint32_t last = 0;
      for (const GraphItem& member : members) {
        count = member.number == last ? count + 1 : 0;
        last = member.number;
        model_.graph.emplace_back(fmt::format("graph {} {}", member.name, count), member.text);
      }
      return {};
    }
    default: {
      ASSIGN_OR_RETURN(const std::string text, messages_.Text(field.content, kMaxOnnxGraphBytes));
      if (row.kind == OnnxFieldKind::kMetadata) {
        model_.metadata.emplace_back(row.name, text.substr(0, kMaxOnnxNameBytes));
        return {};
      }
      if (row.kind == OnnxFieldKind::kLabel && text.empty()) return {};
      return AddText(row, Exact(text), items);
    }
  }
}

// One number, or packed ones.
Status GraphReader::AddScalars(const OnnxField& row, const FileField& field,
                               std::vector<GraphItem>* items) {
  const auto add = [&](std::uint64_t value) {
    if (row.kind == OnnxFieldKind::kInt) {
      return AddText(row, fmt::format_int(static_cast<std::int64_t>(value)).str(), items);
    }
    return AddText(row, Exact(std::bit_cast<float>(static_cast<std::uint32_t>(value))), items);
  };
  const bool is_int = row.kind == OnnxFieldKind::kInt;
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

Status GraphReader::AddTensor(const OnnxField& row, const FileField& field,
                              const TensorNames& names, std::size_t before,
                              std::vector<GraphItem>* items) {
  ASSIGN_OR_RETURN(OnnxTensor tensor, ReadOnnxTensor(messages_, field.content, &decoded_bytes_));
  const bool initializer = row.in == OnnxMessage::kGraph;
  if (initializer) {
    tensor.name = names.prefix + tensor.name;
  } else {
    tensor.name = names.base;
    if (row.name == "tensors") tensor.name += fmt::format(".{}", before);
  }
  std::string text = Exact(tensor.name);
  if (!tensor.dtype) text += " " + OnnxTypeText(tensor);
  const bool named = initializer && tensor.dtype.has_value();
  RETURN_IF_ERROR(AddTensor(std::move(tensor)));
  return named ? Status() : AddText(row, std::move(text), items);
}

Status GraphReader::AddTensor(OnnxTensor tensor) {
  if (model_.tensors.size() == kMaxOnnxTensors) {
    return Unsupported(fmt::format("more than {} tensors", kMaxOnnxTensors),
                       messages_.At(tensor.at));
  }
  model_.tensors.push_back(std::move(tensor));
  return {};
}

// SparseTensorProto: values = 1, indices = 2, dims = 3.
Status GraphReader::AddSparse(const OnnxField& row, const FileField& field,
                              const TensorNames& names, std::size_t before,
                              std::vector<GraphItem>* items) {
  std::string name = names.base, dims;
  if (row.name == "sparse_tensors") {
    name += fmt::format(".{}", before);
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
    if (member.number == 1 && row.in == OnnxMessage::kGraph) name = names.prefix + tensor.name;
    parts.emplace_back(member.number == 1 ? "values" : "indices", std::move(tensor));
  }
  for (auto& [kind, tensor] : parts) {
    tensor.name = fmt::format("{}/{}", name, kind);
    RETURN_IF_ERROR(AddTensor(std::move(tensor)));
  }
  return AddText(row, fmt::format("{} of shape{}", Exact(name), dims), items);
}

// A field of a later schema: by its digest.
Status GraphReader::AddUnknown(const FileField& field, std::vector<GraphItem>* items) {
  const OnnxField row = {OnnxMessage::kNone, field.number, "field", OnnxFieldKind::kText};
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
