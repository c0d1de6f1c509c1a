// A walk from the root over symbol tables and object headers; see hdf5.h.
#include "compare/weights/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/hdf5_attributes.h"
#include "compare/weights/hdf5_chunks.h"
#include "compare/weights/hdf5_file.h"
#include "compare/weights/hdf5_types.h"
#include "compare/weights/names.h"
#include "compare/weights/placed_checkpoint.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n"sv;
constexpr std::size_t kMostDepth = 32;  // of groups, and of a B-tree's nodes
constexpr std::size_t kMostNameBytes = 4096;
constexpr std::size_t kRank = 32;  // H5S_MAX_RANK

class Hdf5Reader {
 public:
  Hdf5Reader(const InputFile& file, std::uint64_t begin, std::uint64_t size, std::string where)
      : file_(file, begin, size, std::move(where)) {}

  // Section II.
  Result<Hdf5Contents> Read() {
    ASSIGN_OR_RETURN(const std::string head, Take(0, std::min<std::uint64_t>(96, file_.size())));
    if (!head.starts_with(kSignature) || head.size() < 48) {
      return Wrong(0, "expected the signature of HDF5");
    }
    const auto version = static_cast<unsigned char>(head[8]);
    if (version > 3) return Other(8, fmt::format("superblock version {}", version));
    const bool newer = version >= 2;
    const std::size_t sizes = newer ? 9 : 13;  // of addresses and of lengths
    const std::size_t base = newer ? 12 : (version == 1 ? 28 : 24), end = base + 16;
    const std::size_t root = newer ? 36 : base + 40;  // of the symbol table entry: its header
    if (head.size() < root + 8) return Wrong(0, "the file ends in its superblock");
    if (head[sizes] != 8 || head[sizes + 1] != 8)
      return Other(sizes, "addresses that are not of 8 bytes");
    if (Hdf5Number(head, base, 8) != 0) return Other(base, "a base address");
    if (Hdf5Number(head, end, 8) > file_.size())
      return Wrong(end, "the file is shorter than it states");
    RETURN_IF_ERROR(ReadObject("", Hdf5Number(head, root, 8), 0));
    return std::move(out_);
  }

 private:
  using Message = Hdf5Message;

  Error Wrong(std::uint64_t at, std::string message) const {
    return file_.Wrong(at, std::move(message));
  }
  Error Other(std::uint64_t at, std::string_view what) const { return file_.Other(at, what); }
  Result<std::string> Take(std::uint64_t at, std::uint64_t size) const {
    return file_.Take(at, size);
  }

  Status ReadObject(const std::string& name, std::uint64_t at, std::size_t depth) {
    if (depth > kMostDepth) return Other(at, fmt::format("more than {} levels", kMostDepth));
    if (++objects_ > 2 * kMaxViews) return Other(at, "more groups and datasets than are read");
    ASSIGN_OR_RETURN(const std::vector<Message> messages, file_.MessagesOf(at));
    const Message* table = nullptr;
    const Message* layout = nullptr;
    bool links = false;
    for (const Message& message : messages) {
      if (message.type == kSymbolTable) table = &message;
      if (message.type == kLayout) layout = &message;
      links |= message.type == kLinkInfo;
      if (message.type == kLink) RETURN_IF_ERROR(ReadLink(name, message, depth));
      if (message.type == kLinkInfo || message.type == kAttributeInfo) {
        RETURN_IF_ERROR(ReadDense(name, message, depth));
      }
      if (message.type == kExternalFiles) {
        return Other(message.at, fmt::format("values in other files, of {}", Quoted(name)));
      }
      if (message.type == kAttribute) RETURN_IF_ERROR(AddAttribute(name, message));
    }
    if (table != nullptr) {
      if (table->content.size() < 16) return Wrong(table->at, "a symbol table of under 16 bytes");
      ASSIGN_OR_RETURN(const std::string heap, Take(Hdf5Number(table->content, 8, 8), 32));
      if (!heap.starts_with("HEAP"))
        return Wrong(Hdf5Number(table->content, 8, 8), "expected HEAP");
      const Heap names{.at = Hdf5Number(heap, 24, 8), .size = Hdf5Number(heap, 8, 8)};
      return ReadTree(name, Hdf5Number(table->content, 0, 8), names, depth, 0);
    }
    if (layout != nullptr) return AddDataset(name, messages, *layout);
    if (links) return {};
    return Other(at, fmt::format("neither a group nor a dataset at {}", Quoted(name)));
  }

  // Section IV.A.2.g: flags, a name and an address.
  Status ReadLink(const std::string& group, const Message& message, std::size_t depth) {
    const std::string& content = message.content;
    const auto wrong = [&] { return Wrong(message.at, "a link beyond its message"); };
    if (content.size() < 4) return wrong();
    const std::uint64_t flags = Hdf5Number(content, 1, 1);
    std::size_t at = 2;
    const bool hard = (flags & 8U) == 0 || content[at++] == 0;
    at += ((flags & 4U) != 0 ? 8U : 0U) + ((flags & 16U) != 0 ? 1U : 0U);
    const std::size_t width = std::size_t{1} << (flags & 3U);
    if (content.size() < at + width) return wrong();
    const std::uint64_t size = Hdf5Number(content, at, width);
    at += width;
    if (size == 0 || size > kMostNameBytes || size > content.size() - at) return wrong();
    const std::string name = content.substr(at, size);
    const std::string path = group.empty() ? name : fmt::format("{}/{}", group, name);
    if (!hard) return Other(message.at, fmt::format("a symbolic link, {}", Quoted(path)));
    if (content.size() - at - size < 8) return wrong();
    return ReadObject(path, Hdf5Number(content, at + size, 8), depth + 1);
  }

  // Sections IV.A.2.c and IV.A.2.v: many links or attributes lie in a heap, by a B-tree of names.
  Status ReadDense(const std::string& name, const Message& info, std::size_t depth) {
    const bool links = info.type == kLinkInfo;
    if (info.content.size() < 2) return Wrong(info.at, "places of links of under 2 bytes");
    const bool numbered = (Hdf5Number(info.content, 1, 1) & 1U) != 0;
    const std::size_t at = 2 + (numbered ? (links ? 8U : 2U) : 0U);
    if (info.content.size() < at + 16) return Wrong(info.at, "places of links of too few bytes");
    const std::uint64_t heap = Hdf5Number(info.content, at, 8);
    if (heap == kHdf5Undefined) return {};
    constexpr std::size_t kHashBytes = 4;  // before the ID of a link; an attribute's is first
    ASSIGN_OR_RETURN(
        const auto objects,
        file_.HeapObjects(heap, Hdf5Number(info.content, at + 8, 8), links ? kHashBytes : 0));
    for (const Message& object : objects) {
      RETURN_IF_ERROR(links ? ReadLink(name, object, depth) : AddAttribute(name, object));
    }
    return {};
  }

  Status AddAttribute(const std::string& object, const Message& message) {
    if (message.shared) {
      AddUnreadAttribute("an attribute", object, "is stored elsewhere", message, true);
      return {};
    }
    auto attribute = ReadHdf5Attribute(message.content, &heaps_);
    if (!attribute.ok() && attribute.error().where.empty()) {
      return Wrong(message.at, attribute.error().message);
    }
    if (!attribute.ok()) return attribute.error();
    text_bytes_ += message.content.size();
    if (attribute->value.kind() == Json::Kind::kArray) {
      text_bytes_ += sizeof(Json) * attribute->value.AsArray().size();
    }
    if (attribute->texts) {
      for (const std::string& text : *attribute->texts) text_bytes_ += text.size();
      out_.groups[object][attribute->name] = std::move(*attribute->texts);
    }
    if (text_bytes_ > 2 * kMaxHdf5TextBytes) {
      return Other(message.at, "attributes of too many bytes");
    }
    if (!attribute->unread.empty()) {
      AddUnreadAttribute(fmt::format("the attribute {}", Quoted(attribute->name)), object,
                         attribute->unread, message, attribute->points);
      return {};
    }
    out_.attributes[object][attribute->name] = std::move(attribute->value);
    return {};
  }

  // The bytes of one that points elsewhere are those of the whole file; once is enough for all.
  void AddUnreadAttribute(const std::string& what, const std::string& object, std::string_view why,
                          const Message& message, bool points) {
    const std::string of = object.empty() ? "the file" : Quoted(object);
    out_.unread.push_back({.name = fmt::format("{} of {}", what, of),
                           .why = fmt::format("it {}, which is not read", why),
                           .content = points && !points_ ? "" : message.content});
    points_ = points_ || points;
  }

  struct Heap {
    std::uint64_t at = 0;
    std::uint64_t size = 0;
  };

  Result<std::string> NameAt(const Heap& heap, std::uint64_t offset) const {
    if (offset >= heap.size) return Wrong(heap.at, "a name beyond its heap");
    ASSIGN_OR_RETURN(
        const std::string bytes,
        Take(heap.at + offset, std::min<std::uint64_t>(heap.size - offset, kMostNameBytes + 1)));
    const std::size_t end = bytes.find('\0');
    if (end == bytes.npos || end == 0) {
      return Wrong(heap.at + offset,
                   fmt::format("expected a name of 1 to {} bytes", kMostNameBytes));
    }
    return bytes.substr(0, end);
  }

  // Section III.A.1, of group nodes. `level`: how deep in the tree.
  Status ReadTree(const std::string& group, std::uint64_t at, const Heap& names, std::size_t depth,
                  std::size_t level) {
    if (level > kMostDepth) return Wrong(at, "a B-tree without end");
    ASSIGN_OR_RETURN(const std::string head, Take(at, 24));
    if (!head.starts_with("TREE") || head[4] != 0) return Wrong(at, "expected a node of a group");
    const bool leaf = head[5] == 0;
    const std::size_t count = Hdf5Number(head, 6, 2);
    ASSIGN_OR_RETURN(const std::string entries, Take(at + 24, 16 * count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t child = Hdf5Number(entries, 16 * i + 8, 8);
      RETURN_IF_ERROR(leaf ? ReadSymbols(group, child, names, depth)
                           : ReadTree(group, child, names, depth, level + 1));
    }
    return {};
  }

  // Section III.B.
  Status ReadSymbols(const std::string& group, std::uint64_t at, const Heap& names,
                     std::size_t depth) {
    ASSIGN_OR_RETURN(const std::string head, Take(at, 8));
    if (!head.starts_with("SNOD")) return Wrong(at, "expected SNOD");
    const std::size_t count = Hdf5Number(head, 6, 2);
    ASSIGN_OR_RETURN(const std::string entries, Take(at + 8, 40 * count));
    for (std::size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const std::string name, NameAt(names, Hdf5Number(entries, 40 * i, 8)));
      const std::string path = group.empty() ? name : fmt::format("{}/{}", group, name);
      constexpr std::uint64_t kSymbolicLink = 2;
      if (Hdf5Number(entries, 40 * i + 16, 4) == kSymbolicLink) {
        return Other(at, fmt::format("a symbolic link, {}", Quoted(path)));
      }
      RETURN_IF_ERROR(ReadObject(path, Hdf5Number(entries, 40 * i + 8, 8), depth + 1));
    }
    return {};
  }

  Status AddDataset(const std::string& name, const std::vector<Message>& messages,
                    const Message& layout) {
    View view{.name = name, .stated_at = file_.begin() + layout.at};
    bool typed = false, shaped = false;
    for (const Message& message : messages) {
      if (message.type != kDatatype && message.type != kDataspace) continue;
      if (message.shared) return Other(message.at, fmt::format("a shared type, {}", Quoted(name)));
      RETURN_IF_ERROR(message.type == kDatatype ? ReadType(message, &view)
                                                : ReadSpace(message, &view));
      (message.type == kDatatype ? typed : shaped) = true;
    }
    if (!typed || !shaped) {
      return Wrong(layout.at, fmt::format("{} has no type or no shape", Quoted(name)));
    }
    constexpr char kChunked = 2;
    if (layout.content.size() > 1 && layout.content[0] >= 3 && layout.content[0] <= 5 &&
        layout.content[1] == kChunked) {
      return AddChunked(std::move(view), messages, layout);
    }
    view.strides = DenseStrides(view.shape, false);
    RETURN_IF_ERROR(ReadLayout(layout, &view));
    out_.views.push_back(std::move(view));
    return {};
  }

  Status AddChunked(View view, const std::vector<Message>& messages, const Message& layout) {
    if (view.swapped) {
      return Other(layout.at, fmt::format("big-endian values in chunks, of {}", Quoted(view.name)));
    }
    TensorInfo info{.name = view.name, .dtype = view.dtype, .shape = std::move(view.shape)};
    RETURN_IF_ERROR(CompleteTensorInfo(&info, file_.Where(layout.at)));
    ASSIGN_OR_RETURN(ChunkedTensor tensor,
                     ReadHdf5Chunks(file_, std::move(info), layout, messages, &grid_chunks_));
    out_.chunked.push_back(std::move(tensor));
    return {};
  }

  Status ReadType(const Message& message, View* view) const {
    if (message.content.size() < 8) return Wrong(message.at, "a type of under 8 bytes");
    const auto type = Hdf5NumberTypeOf(message.content);
    if (!type) {
      return Other(message.at, fmt::format("values of a type that is no plain number, of {}",
                                           Quoted(view->name)));
    }
    view->dtype = type->dtype;
    view->swapped = type->swapped;
    return {};
  }

  // Section IV.A.2.b.
  Status ReadSpace(const Message& message, View* view) const {
    const std::string& content = message.content;
    if (content.size() < 4) return Wrong(message.at, "a shape of under 4 bytes");
    const std::size_t rank = static_cast<unsigned char>(content[1]);
    const bool second = content[0] == 2;
    const std::size_t begin = second ? 4 : 8;
    if (content[0] != 1 && !second) return Other(message.at, "an unknown version of shapes");
    if (second && content[3] == 2) return Other(message.at, "a dataset without values");
    if (rank > kRank || content.size() < begin + 8 * rank) {
      return Wrong(message.at, "a shape beyond its message");
    }
    for (std::size_t i = 0; i < rank; ++i)
      view->shape.push_back(Hdf5Number(content, begin + 8 * i, 8));
    return {};
  }

  // Section IV.A.2.i, versions 3 to 5. Where values were never written there is no address.
  Status ReadLayout(const Message& message, View* view) const {
    const std::string& content = message.content;
    if (content.size() < 4 || content[0] < 3 || content[0] > 5)
      return Other(message.at, "an older layout");
    constexpr char kCompact = 0, kContiguous = 1;
    if (content[1] == kCompact) {
      view->offset_bytes = message.at + 4;
      return {};
    }
    if (content[1] != kContiguous) {
      return Other(message.at, fmt::format("a virtual dataset, {}", Quoted(view->name)));
    }
    if (content.size() < 18) return Wrong(message.at, "a layout of under 18 bytes");
    view->offset_bytes = Hdf5Number(content, 2, 8);
    if (view->offset_bytes != kHdf5Undefined) return {};
    if (std::ranges::find(view->shape, 0U) == view->shape.end()) {
      return Other(message.at,
                   fmt::format("values that were never written, of {}", Quoted(view->name)));
    }
    view->offset_bytes = 0;
    return {};
  }

  const Hdf5File file_;
  Hdf5GlobalHeaps heaps_{[this](std::uint64_t at, std::uint64_t size) { return Take(at, size); }};
  Hdf5Contents out_;
  std::uint64_t grid_chunks_ = 0;
  std::size_t objects_ = 0;
  bool points_ = false;  // an attribute points elsewhere
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

Result<Hdf5Contents> ReadHdf5(const InputFile& file, std::uint64_t begin, std::uint64_t size,
                              std::string where) {
  return Hdf5Reader(file, begin, size, std::move(where)).Read();
}

}  // namespace rharness
