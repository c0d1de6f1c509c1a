// A walk over the objects of a dump, by attributes.
#include "compare/weights/sklearn_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compare/weights/joblib.h"
#include "compare/weights/names.h"
#include "compare/weights/pickle_text.h"
#include "compare/weights/torch_numpy.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::size_t kMaxNameBytes = 4096;

class ModelReader {
 public:
  ModelReader(const InputFile& file, const DumpBytes& bytes) : file_(file), bytes_(bytes) {
    parts_.where = file.name();
    parts_.sources.push_back({.size_bytes = bytes.size_bytes, .memory = bytes.memory});
  }

  Result<ViewCheckpointParts> Read(const PickledDump& dump) {
    RETURN_IF_ERROR(Dump(*this, dump).Visit(dump.pickle.root(), "", 0));
    if (parts_.views.empty()) {
      return Unsupported("is a Python pickle without an array of numbers", file_.name());
    }
    std::string content = fmt::format("{}", fmt::join(lines_, "\n"));
    parts_.unread.push_back({.name = "(parameters)",
                             .why = "what a model is beside its arrays is loaded with them",
                             .file = {},
                             .content = std::move(content),
                             .kind = PartKind::kModel});
    return std::move(parts_);
  }

 private:
  // The objects of one pickle.
  class Dump {
   public:
    Dump(ModelReader& reader, const PickledDump& dump)
        : reader_(reader), dump_(dump), pickle_(dump.pickle), texts_(dump.pickle) {}
    Status Visit(PickleId id, const std::string& name, int depth);

   private:
    Error NotRead(PickleId id, const std::string& name, std::string_view text) const {
      return Unsupported(fmt::format("{}: {}", Quoted(name), text),
                         fmt::format("{}: byte {}", reader_.file_.name(), pickle_.offset(id)));
    }
    std::string Word(PickleId id);
    Status VisitItems(std::span<const PickleId> items, const std::string& name, int depth);
    Status VisitEntries(std::span<const PickleId> entries, const std::string& name, int depth);
    Status VisitObject(PickleId id, const std::string& name, int depth);
    Status VisitState(PickleId state, const std::string& name, int depth);
    std::vector<std::string> LabelsOf(std::span<const PickleId> items) const;
    Status AddArray(const NumpyArray& array, std::optional<std::uint64_t> placed, PickleId id,
                    const std::string& name, int depth);
    Status AddFields(const NumpyArray& array, std::size_t source, std::uint64_t offset, PickleId id,
                     const std::string& name);

    ModelReader& reader_;
    const PickledDump& dump_;
    const Pickle& pickle_;
    PickleTexts texts_;
    std::map<PickleId, std::string> seen_;  // objects, by the first of their names
    std::map<PickleId, std::size_t> sources_;
  };

  Status AddLine(std::string_view name, std::string_view text) {
    text_bytes_ += name.size() + text.size() + 2;
    if (text_bytes_ > kMaxModelTextBytes) {
      return Unsupported(
          fmt::format("more than {} bytes of values beside the arrays", kMaxModelTextBytes),
          file_.name());
    }
    lines_.push_back(fmt::format("{}: {}", name, text));
    return {};
  }

  const InputFile& file_;
  const DumpBytes& bytes_;
  ViewCheckpointParts parts_;
  std::vector<std::string> lines_;
  std::size_t text_bytes_ = 0;
  std::size_t values_ = 0;
  std::uint64_t gathered_bytes_ = 0;
};

std::string Joined(const std::string& name, std::string_view member) {
  return name.empty() ? std::string(member) : fmt::format("{}/{}", name, member);
}

// Of a value without arrays, alike under numpy 1 and 2.
std::string ModelReader::Dump::Word(PickleId id) {
  std::string text = texts_.Of(id).text;
  for (std::size_t at = 0; (at = text.find("numpy._core.", at)) != text.npos;)
    text.erase(at + 6, 1);
  return text;
}

Status ModelReader::Dump::Visit(PickleId id, const std::string& name, int depth) {
  if (depth > kMaxModelDepth || ++reader_.values_ > kMaxModelValues ||
      name.size() > kMaxNameBytes) {
    return NotRead(id, name, "is nested too deep, or contains itself, or holds too many values");
  }
  switch (pickle_.kind(id)) {
    case PickleKind::kPersistent:
      return NotRead(id, name, "is a Python pickle with objects outside of it");
    case PickleKind::kDict:
      RETURN_IF_ERROR(
          reader_.AddLine(name, fmt::format("a dict of {}", pickle_.Entries(id).size() / 2)));
      return VisitEntries(pickle_.Entries(id), name, depth);
    case PickleKind::kList:
    case PickleKind::kTuple: {
      const auto items = pickle_.Items(id);
      const auto labels = LabelsOf(items);
      RETURN_IF_ERROR(reader_.AddLine(
          name, fmt::format("{} of {}{}{}", PickleKindName(pickle_.kind(id)), items.size(),
                            labels.empty() ? "" : ": ", fmt::join(labels, ", "))));
      return VisitItems(items, name, depth);
    }
    case PickleKind::kObject:
      return VisitObject(id, name, depth);
    case PickleKind::kString: {
      const bool version = name.ends_with("_version");
      if (!version) return reader_.AddLine(name, Word(id));
      reader_.parts_.metadata.emplace_back(name, Word(id));
      return {};
    }
    default:
      return reader_.AddLine(name, Word(id));
  }
}

// Different texts, each the first of a tuple: the names of a pipeline's steps.
std::vector<std::string> ModelReader::Dump::LabelsOf(std::span<const PickleId> items) const {
  std::vector<std::string> labels;
  std::set<std::string> used;
  for (const PickleId item : items) {
    if (pickle_.kind(item) != PickleKind::kTuple || pickle_.Items(item).size() < 2 ||
        pickle_.kind(pickle_.Items(item)[0]) != PickleKind::kString) {
      return {};
    }
    labels.emplace_back(pickle_.Text(pickle_.Items(item)[0]));
    if (!used.insert(labels.back()).second) return {};
  }
  return labels;
}

Status ModelReader::Dump::VisitItems(std::span<const PickleId> items, const std::string& name,
                                     int depth) {
  const auto labels = LabelsOf(items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (labels.empty()) {
      RETURN_IF_ERROR(Visit(items[i], Joined(name, fmt::format_int(i).str()), depth + 1));
      continue;
    }
    const auto members = pickle_.Items(items[i]);
    const std::string of = Joined(name, labels[i]);
    for (std::size_t k = 1; k < members.size(); ++k) {
      const std::string inner = members.size() == 2 ? of : Joined(of, fmt::format_int(k).str());
      RETURN_IF_ERROR(Visit(members[k], inner, depth + 1));
    }
  }
  return {};
}

Status ModelReader::Dump::VisitEntries(std::span<const PickleId> entries, const std::string& name,
                                       int depth) {
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    const bool text = pickle_.kind(entries[i]) == PickleKind::kString;
    const std::string key = text ? std::string(pickle_.Text(entries[i])) : Word(entries[i]);
    RETURN_IF_ERROR(Visit(entries[i + 1], Joined(name, key), depth + 1));
  }
  return {};
}

Status ModelReader::Dump::VisitState(PickleId state, const std::string& name, int depth) {
  if (pickle_.kind(state) == PickleKind::kDict) {
    return VisitEntries(pickle_.Entries(state), name, depth);
  }
  // (the dict of an object, its slots)
  const auto items = pickle_.Items(state);
  if (pickle_.kind(state) == PickleKind::kTuple && items.size() == 2 &&
      std::ranges::all_of(items, [&](PickleId one) {
        return pickle_.kind(one) == PickleKind::kNone || pickle_.kind(one) == PickleKind::kDict;
      })) {
    for (const PickleId one : items) {
      RETURN_IF_ERROR(VisitEntries(pickle_.Entries(one), name, depth));
    }
    return {};
  }
  return Visit(state, Joined(name, "(state)"), depth + 1);
}

Status ModelReader::Dump::VisitObject(PickleId id, const std::string& name, int depth) {
  if (const auto placed = dump_.arrays.find(id); placed != dump_.arrays.end()) {
    return AddArray(placed->second.array, placed->second.offset, id, name, depth);
  }
  if (const auto inner = dump_.objects.find(id); inner != dump_.objects.end()) {
    return Dump(reader_, *inner->second).Visit(inner->second->pickle.root(), name, depth + 1);
  }
  if (const auto array = ReadNumpyArray(pickle_, id)) {
    return AddArray(*array, std::nullopt, id, name, depth);
  }
  if (const auto masked = ReadMaskedArray(pickle_, id)) {
    RETURN_IF_ERROR(AddArray(masked->data, std::nullopt, id, Joined(name, "data"), depth));
    RETURN_IF_ERROR(AddArray(masked->mask, std::nullopt, id, Joined(name, "mask"), depth));
    return Visit(masked->fill, Joined(name, "fill_value"), depth + 1);
  }
  if (IsNumpyArray(pickle_, id)) return NotRead(id, name, "an array of a type that is not read");
  const auto [first, is_new] = seen_.try_emplace(id, name);
  if (!is_new) return reader_.AddLine(name, fmt::format("the object {}", Quoted(first->second)));
  RETURN_IF_ERROR(reader_.AddLine(name, fmt::format("<{}>", Word(pickle_.Callable(id)))));
  const auto arguments = pickle_.Arguments(id);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    RETURN_IF_ERROR(Visit(arguments[i], Joined(name, fmt::format("({})", i)), depth + 1));
  }
  RETURN_IF_ERROR(VisitItems(pickle_.Items(id), name, depth));
  RETURN_IF_ERROR(VisitEntries(pickle_.Entries(id), name, depth));
  const auto state = pickle_.State(id);
  return state ? VisitState(*state, name, depth) : Status();
}

// `placed`: where the bytes of the array lie in the dump; none: in the pickle.
Status ModelReader::Dump::AddArray(const NumpyArray& array, std::optional<std::uint64_t> placed,
                                   PickleId id, const std::string& name, int depth) {
  if (array.type.objects) {
    RETURN_IF_ERROR(
        reader_.AddLine(name, fmt::format("objects of shape [{}]", fmt::join(array.shape, ", "))));
    return VisitItems(pickle_.Items(array.data), name, depth);
  }
  std::size_t source = 0;
  if (!placed) {
    const auto known = sources_.find(array.data);
    source = known != sources_.end() ? known->second : reader_.parts_.sources.size();
    if (known == sources_.end()) {
      auto bytes = BytesOfArray(pickle_, {.shape = {}, .data = array.data});
      if (!bytes) return NotRead(id, name, "bytes that are no Latin-1");
      const auto memory = std::make_shared<const std::string>(std::move(*bytes));
      reader_.parts_.sources.push_back({.size_bytes = memory->size(), .memory = memory});
      sources_.emplace(array.data, source);
    }
  }
  const auto size = BytesOf(array);
  const std::uint64_t begin = placed.value_or(0);
  const std::uint64_t room = reader_.parts_.sources[source].size_bytes - begin;
  if (!size || *size > room || (!placed && *size != room)) {
    return InvalidInput(
        fmt::format("tensor {}: {} bytes; expected those of '{}' of shape [{}]", Quoted(name), room,
                    array.type.format, fmt::join(array.shape, ", ")),
        fmt::format("{}: byte {}", reader_.file_.name(), pickle_.offset(id)));
  }
  if (!array.type.fields.empty()) return AddFields(array, source, begin, id, name);
  // Texts and dates.
  if (*size > kMaxGatheredBytes - reader_.gathered_bytes_) {
    return NotRead(id, name, "too many bytes of texts or dates");
  }
  reader_.gathered_bytes_ += *size;
  std::string bytes(*size, '\0');
  const auto& memory = reader_.parts_.sources[source].memory;
  if (memory != nullptr) {
    bytes = memory->substr(begin, *size);
  } else {
    RETURN_IF_ERROR(reader_.bytes_.Read(begin, std::as_writable_bytes(std::span(bytes))));
  }
  return reader_.AddLine(
      name, fmt::format("'{}' of shape [{}]{}: {}", array.type.format, fmt::join(array.shape, ", "),
                        array.fortran ? " by columns" : "", DigestText("array", bytes)));
}

Status ModelReader::Dump::AddFields(const NumpyArray& array, std::size_t source,
                                    std::uint64_t offset, PickleId id, const std::string& name) {
  std::vector<std::uint64_t> items = DenseStrides(array.shape, array.fortran);
  for (const NumpyField& field : array.type.fields) {
    View view{
        .name = field.name.empty() ? (name.empty() ? "array" : name) : Joined(name, field.name),
        .dtype = field.dtype,
        .shape = array.shape,
        .strides = items,
        .offset_bytes = offset + field.offset_bytes,
        .source = source,
        .swapped = field.swapped,
        .stated_at = pickle_.offset(id)};
    const auto width = static_cast<std::uint64_t>(BitsOf(field.dtype)) / 8;
    const std::uint64_t apart = array.type.item_bytes;
    if (apart % width == 0) {
      for (std::uint64_t& stride : view.strides) stride *= apart / width;
      reader_.parts_.views.push_back(std::move(view));
      continue;
    }
    // Elements that are no whole number of widths apart are gathered here.
    const std::uint64_t count = *BytesOf(array) / apart;
    if (count > (kMaxGatheredBytes - reader_.gathered_bytes_) / width) {
      return NotRead(id, view.name, "too many elements of a packed structure");
    }
    reader_.gathered_bytes_ += count * width;
    std::string bytes(count * width, '\0');
    const std::shared_ptr<const std::string> memory = reader_.parts_.sources[source].memory;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto out = std::as_writable_bytes(std::span(bytes)).subspan(i * width, width);
      const std::uint64_t at = view.offset_bytes + i * apart;
      if (memory != nullptr) {
        std::ranges::copy(std::as_bytes(std::span(*memory)).subspan(at, width), out.begin());
      } else {
        RETURN_IF_ERROR(reader_.bytes_.Read(at, out));
      }
    }
    view.source = reader_.parts_.sources.size();
    view.offset_bytes = 0;
    const auto own = std::make_shared<const std::string>(std::move(bytes));
    reader_.parts_.sources.push_back({.size_bytes = own->size(), .memory = own});
    reader_.parts_.views.push_back(std::move(view));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenPickledModel(InputFile file) {
  ASSIGN_OR_RETURN(const DumpBytes bytes, OpenDump(file));
  ASSIGN_OR_RETURN(const PickledDump dump, ReadDump(bytes));
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, ModelReader(file, bytes).Read(dump));
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
