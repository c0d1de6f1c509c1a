// A walk from the root over symbol tables and object headers; see hdf5.h.
#include "compare/weights/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/hdf5_attributes.h"
#include "compare/weights/names.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n"sv;
constexpr std::uint64_t kUndefined = ~std::uint64_t{0};  // an address of nothing
constexpr std::size_t kMostDepth = 32;                   // of groups, and of a B-tree's nodes
constexpr std::size_t kMostNameBytes = 4096;
constexpr std::size_t kMostHeaderBytes = std::size_t{16} << 20;  // of one object's messages
constexpr std::size_t kRank = 32;                                // H5S_MAX_RANK

// Section IV.A: the types of header messages that matter here.
enum MessageType : std::uint16_t {
  kDataspace = 0x0001,
  kLinkInfo = 0x0002,
  kDatatype = 0x0003,
  kLink = 0x0006,
  kExternalFiles = 0x0007,
  kLayout = 0x0008,
  kAttribute = 0x000C,
  kContinuation = 0x0010,
  kSymbolTable = 0x0011,
};

struct Message {
  std::uint16_t type = 0;
  bool shared = false;   // its content is stored elsewhere
  std::uint64_t at = 0;  // of its content in the file
  std::string content;
};

std::uint64_t Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);  // little-endian, as everything that we run on
  return value;
}

class Hdf5Reader {
 public:
  // The HDF5 file fills [begin, begin + size) of `file`.
  Hdf5Reader(const InputFile& file, std::uint64_t begin, std::uint64_t size, std::string where)
      : file_(file), begin_(begin), size_(size), where_(std::move(where)) {}

  Result<Hdf5Contents> Read() {
    ASSIGN_OR_RETURN(const std::string head, Take(0, 96));
    if (!head.starts_with(kSignature)) return Wrong(0, "expected the signature of HDF5");
    if (head[8] != 0) {
      return Other(8, fmt::format("superblock version {}", static_cast<unsigned char>(head[8])));
    }
    if (head[13] != 8 || head[14] != 8) return Other(13, "addresses that are not of 8 bytes");
    if (Number(head, 24, 8) != 0) return Other(24, "a base address");
    if (Number(head, 40, 8) > size_) return Wrong(40, "the file is shorter than it states");
    RETURN_IF_ERROR(ReadObject("", Number(head, 64, 8), 0));
    return std::move(out_);
  }

 private:
  Error Wrong(std::uint64_t at, std::string message) const {
    return InvalidInput(std::move(message), fmt::format("{}: byte {}", where_, begin_ + at));
  }
  Error Other(std::uint64_t at, std::string_view what) const {
    return Unsupported(fmt::format("HDF5 with {}; expected what h5py writes by default", what),
                       fmt::format("{}: byte {}", where_, begin_ + at));
  }

  Result<std::string> Take(std::uint64_t at, std::uint64_t size) const {
    if (at > size_ || size > size_ - at) {
      return Wrong(std::min(at, size_), "an address beyond the end of the file");
    }
    std::string bytes(size, '\0');
    RETURN_IF_ERROR(file_.ReadAt(begin_ + at, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }

  // The messages of [at, at + size), and of their continuations.
  Status AddMessages(std::uint64_t at, std::uint64_t size, std::size_t most,
                     std::vector<Message>* messages,
                     std::vector<std::pair<std::uint64_t, std::uint64_t>>* further) const {
    ASSIGN_OR_RETURN(const std::string block, Take(at, size));
    for (std::size_t i = 0; i + 8 <= block.size() && messages->size() < most;) {
      Message message{.type = static_cast<std::uint16_t>(Number(block, i, 2)),
                      .shared = (static_cast<unsigned char>(block[i + 4]) & 2U) != 0,
                      .at = at + i + 8};
      const std::size_t length = Number(block, i + 2, 2);
      if (length > block.size() - i - 8) return Wrong(at + i, "a message beyond its header");
      message.content = block.substr(i + 8, length);
      if (message.type == kContinuation) {
        if (length < 16) return Wrong(at + i, "a continuation of less than 16 bytes");
        further->emplace_back(Number(message.content, 0, 8), Number(message.content, 8, 8));
      }
      messages->push_back(std::move(message));
      i += 8 + length;
    }
    return {};
  }

  // Section IV.A.1.a.
  Result<std::vector<Message>> MessagesOf(std::uint64_t at) const {
    ASSIGN_OR_RETURN(const std::string head, Take(at, 16));
    if (head.starts_with("OHDR")) return Other(at, "object headers of version 2");
    if (head[0] != 1) return Wrong(at, "expected an object header");
    const std::size_t most = Number(head, 2, 2);
    std::vector<Message> messages;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks = {{at + 16, Number(head, 8, 4)}};
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < blocks.size() && messages.size() < most; ++i) {
      const auto [begin, size] = blocks[i];
      bytes += std::min<std::uint64_t>(size, kMostHeaderBytes);
      if (size > kMostHeaderBytes || bytes > kMostHeaderBytes) {
        return Other(at, fmt::format("an object header of more than {} bytes", kMostHeaderBytes));
      }
      RETURN_IF_ERROR(AddMessages(begin, size, most, &messages, &blocks));
    }
    return messages;
  }

  Status ReadObject(const std::string& name, std::uint64_t at, std::size_t depth) {
    if (depth > kMostDepth) return Other(at, fmt::format("more than {} levels", kMostDepth));
    if (++objects_ > 2 * kMaxViews) return Other(at, "more groups and datasets than are read");
    ASSIGN_OR_RETURN(const std::vector<Message> messages, MessagesOf(at));
    const Message* table = nullptr;
    const Message* layout = nullptr;
    for (const Message& message : messages) {
      if (message.type == kSymbolTable) table = &message;
      if (message.type == kLayout) layout = &message;
      if (message.type == kLink || message.type == kLinkInfo) {
        return Other(message.at, fmt::format("a group of the newer kind, {}", Quoted(name)));
      }
      if (message.type == kExternalFiles) {
        return Other(message.at, fmt::format("values in other files, of {}", Quoted(name)));
      }
      if (message.type == kAttribute && !message.shared) {
        RETURN_IF_ERROR(AddAttribute(name, message));
      }
    }
    if (table != nullptr) {
      if (table->content.size() < 16) return Wrong(table->at, "a symbol table of under 16 bytes");
      ASSIGN_OR_RETURN(const std::string heap, Take(Number(table->content, 8, 8), 32));
      if (!heap.starts_with("HEAP")) return Wrong(Number(table->content, 8, 8), "expected HEAP");
      const Heap names{.at = Number(heap, 24, 8), .size = Number(heap, 8, 8)};
      return ReadTree(name, Number(table->content, 0, 8), names, depth, 0);
    }
    if (layout != nullptr) return AddDataset(name, messages, *layout);
    return Other(at, fmt::format("neither a group nor a dataset at {}", Quoted(name)));
  }

  // Attributes that are no text decide nothing here.
  Status AddAttribute(const std::string& group, const Message& message) {
    const auto take = [&](std::uint64_t at, std::uint64_t size) { return Take(at, size); };
    auto attribute = ReadHdf5Attribute(message.content, take);
    if (!attribute.ok() && attribute.error().where.empty()) {
      return Wrong(message.at, attribute.error().message);
    }
    if (!attribute.ok()) return attribute.error();
    if (!*attribute) return {};
    for (const std::string& text : (*attribute)->values) text_bytes_ += text.size();
    if (text_bytes_ > 2 * kMaxHdf5TextBytes) return Other(message.at, "too many texts");
    out_.groups[group][(*attribute)->name] = std::move((*attribute)->values);
    return {};
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
    const std::size_t count = Number(head, 6, 2);
    ASSIGN_OR_RETURN(const std::string entries, Take(at + 24, 16 * count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t child = Number(entries, 16 * i + 8, 8);
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
    const std::size_t count = Number(head, 6, 2);
    ASSIGN_OR_RETURN(const std::string entries, Take(at + 8, 40 * count));
    for (std::size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const std::string name, NameAt(names, Number(entries, 40 * i, 8)));
      const std::string path = group.empty() ? name : fmt::format("{}/{}", group, name);
      constexpr std::uint64_t kSymbolicLink = 2;
      if (Number(entries, 40 * i + 16, 4) == kSymbolicLink) {
        return Other(at, fmt::format("a symbolic link, {}", Quoted(path)));
      }
      RETURN_IF_ERROR(ReadObject(path, Number(entries, 40 * i + 8, 8), depth + 1));
    }
    return {};
  }

  Status AddDataset(const std::string& name, const std::vector<Message>& messages,
                    const Message& layout) {
    View view{.name = name, .stated_at = begin_ + layout.at};
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
    view.strides = DenseStrides(view.shape, false);
    RETURN_IF_ERROR(ReadLayout(layout, &view));
    out_.views.push_back(std::move(view));
    return {};
  }

  // Section IV.A.2.d: class and version, bits, size, properties.
  Status ReadType(const Message& message, View* view) const {
    const std::string& content = message.content;
    if (content.size() < 8) return Wrong(message.at, "a type of under 8 bytes");
    const auto kind = static_cast<unsigned>(content[0]) & 15U;
    const std::uint64_t bits = Number(content, 1, 3), size = Number(content, 4, 4);
    const auto refuse = [&] {
      return Other(message.at, fmt::format("values of a type that is no plain number, of {}",
                                           Quoted(view->name)));
    };
    constexpr unsigned kInteger = 0, kFloat = 1, kEnumeration = 8;
    if (kind == kEnumeration && size == 1) {  // as h5py writes booleans
      view->dtype = DType::kBool;
      return {};
    }
    if (content.size() < 12 || (kind != kInteger && kind != kFloat)) return refuse();
    // All bits of a number count, from the first on.
    if (Number(content, 8, 2) != 0 || Number(content, 10, 2) != 8 * size) return refuse();
    view->swapped = (bits & 1U) != 0;
    if (kind == kFloat) {
      if (content.size() < 14 || (bits & 0x40U) != 0) return refuse();
      const auto exponent_bits = static_cast<unsigned char>(content[13]);
      if (size == 2 && exponent_bits == 5)
        view->dtype = DType::kF16;
      else if (size == 2 && exponent_bits == 8)
        view->dtype = DType::kBF16;
      else if (size == 4 && exponent_bits == 8)
        view->dtype = DType::kF32;
      else if (size == 8 && exponent_bits == 11)
        view->dtype = DType::kF64;
      else
        return refuse();
      return {};
    }
    const bool is_signed = (bits & 8U) != 0;
    switch (size) {
      case 1:
        view->dtype = is_signed ? DType::kI8 : DType::kU8;
        return {};
      case 2:
        view->dtype = is_signed ? DType::kI16 : DType::kU16;
        return {};
      case 4:
        view->dtype = is_signed ? DType::kI32 : DType::kU32;
        return {};
      case 8:
        view->dtype = is_signed ? DType::kI64 : DType::kU64;
        return {};
      default:
        return refuse();
    }
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
    for (std::size_t i = 0; i < rank; ++i) view->shape.push_back(Number(content, begin + 8 * i, 8));
    return {};
  }

  // Section IV.A.2.i, version 3. Where values were never written there is no address.
  Status ReadLayout(const Message& message, View* view) const {
    const std::string& content = message.content;
    if (content.size() < 4 || content[0] != 3) return Other(message.at, "an older layout");
    constexpr char kCompact = 0, kContiguous = 1;
    if (content[1] == kCompact) {
      view->offset_bytes = message.at + 4;
      return {};
    }
    if (content[1] != kContiguous) {
      return Other(message.at, fmt::format("values in chunks, of {}", Quoted(view->name)));
    }
    if (content.size() < 18) return Wrong(message.at, "a layout of under 18 bytes");
    view->offset_bytes = Number(content, 2, 8);
    if (view->offset_bytes != kUndefined) return {};
    if (std::ranges::find(view->shape, 0U) == view->shape.end()) {
      return Other(message.at,
                   fmt::format("values that were never written, of {}", Quoted(view->name)));
    }
    view->offset_bytes = 0;
    return {};
  }

  const InputFile& file_;
  const std::uint64_t begin_;
  const std::uint64_t size_;
  const std::string where_;
  Hdf5Contents out_;
  std::size_t objects_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

Result<Hdf5Contents> ReadHdf5(const InputFile& file, std::uint64_t begin, std::uint64_t size,
                              std::string where) {
  return Hdf5Reader(file, begin, size, std::move(where)).Read();
}

}  // namespace rharness
