// Manifest, root, and the nodes below it; see ocdbt.h.
#include "compare/weights/ocdbt.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "compare/weights/names.h"
#include "harness/base/crc32c.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kManifestMagic = 0x0cdb3a2a;
constexpr std::uint32_t kNodeMagic = 0x0cdb20de;
constexpr std::size_t kMostHeight = 16;
constexpr std::size_t kMostPathBytes = 65'535;
constexpr std::size_t kNodeChecksumBytes = 4;

// Numbers and bytes off the front of a decoded body. After a fault everything is 0 or empty.
class OcdbtBody {
 public:
  explicit OcdbtBody(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return rest_.empty(); }
  std::string_view Bytes(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::uint64_t Byte() {
    const std::string_view byte = Bytes(1);
    return byte.empty() ? 0 : static_cast<unsigned char>(byte[0]);
  }
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = Byte();
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  // As many numbers; each takes a byte at least.
  std::vector<std::uint64_t> Varints(std::uint64_t count) {
    std::vector<std::uint64_t> values;
    if (count > rest_.size()) failed_ = true;
    if (failed_) return values;
    values.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(Varint());
    if (failed_) values.assign(count, 0);
    return values;
  }
  // A column of a table: the varints of `count` rows, all there even after a fault.
  std::vector<std::uint64_t> Column(std::uint64_t count) {
    std::vector<std::uint64_t> values = Varints(count);
    if (failed_) values.clear();
    return values;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct DataFile {
  std::string path;  // below the database
  std::string base;  // its part that holds for the files that a node in it names
};

// A node of the tree, or the manifest's root.
struct NodePlace {
  DataFile file;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t height = 0;
  std::string prefix;  // of all keys below
};

class OcdbtReader {
 public:
  OcdbtReader(const fs::path& folder, const std::shared_ptr<const HeldFolder>& below)
      : folder_(folder), below_(below) {}

  Result<KeyValues> Read() {
    ASSIGN_OR_RETURN(const InputFile manifest,
                     InputFile::Open(folder_ / kOcdbtManifest, nullptr, below_));
    ASSIGN_OR_RETURN(std::optional<NodePlace> root, ReadManifest(manifest));
    std::vector<NodePlace> pending;
    if (root) pending.push_back(std::move(*root));
    for (std::size_t nodes = 0; !pending.empty(); ++nodes) {
      if (nodes == kMaxOcdbtNodes) return TooMuch(fmt::format("{} nodes", kMaxOcdbtNodes));
      const NodePlace place = std::move(pending.back());
      pending.pop_back();
      RETURN_IF_ERROR(ReadNode(place, &pending));
    }
    return std::move(out_);
  }

 private:
  Error TooMuch(std::string_view what) const {
    return Unsupported(fmt::format("more than {} in an OCDBT database", what), folder_.string());
  }

  // The decoded body of a manifest or node that fills [begin, begin + size).
  Result<std::string> BodyOf(const InputFile& file, std::uint64_t begin, std::uint64_t size,
                             std::uint32_t magic) const {
    const std::string where = fmt::format("{}: byte {}", file.name(), begin);
    constexpr std::size_t kLeast = 4 + 8 + 2 + kNodeChecksumBytes;
    if (begin > file.size_bytes() || size > file.size_bytes() - begin || size < kLeast ||
        size > kMaxOcdbtNodeBytes) {
      return InvalidInput(fmt::format("a node of {} bytes; expected {} to {}, within the file",
                                      size, kLeast, kMaxOcdbtNodeBytes),
                          where);
    }
    std::string bytes(size, '\0');
    RETURN_IF_ERROR(file.ReadAt(begin, std::as_writable_bytes(std::span(bytes))));
    std::uint32_t stated = 0, checksum = 0;
    std::uint64_t length = 0;
    std::memcpy(&stated, bytes.data(), 4);
    std::memcpy(&length, bytes.data() + 4, 8);
    std::memcpy(&checksum, bytes.data() + size - kNodeChecksumBytes, kNodeChecksumBytes);
    if (__builtin_bswap32(stated) != magic || length != size) {
      return InvalidInput("expected the header of an OCDBT manifest or node", where);
    }
    const std::string_view whole = std::string_view(bytes).substr(0, size - kNodeChecksumBytes);
    if (Crc32c(whole) != checksum) {
      return IntegrityError("the CRC-32C of an OCDBT node does not match its bytes", where);
    }
    const char version = bytes[12], compression = bytes[13];
    const std::string_view body = whole.substr(14);
    if (version != 0 || (compression != 0 && compression != 1)) {
      return Unsupported(fmt::format("OCDBT version {}, compression {}; expected 0, and 0 or 1",
                                     int{version}, int{compression}),
                         where);
    }
    if (compression == 0) return std::string(body);
    return DecodeZstd(body, kMaxOcdbtNodeBytes, where);
  }

  static std::vector<DataFile> ReadFiles(OcdbtBody* body, const std::string& transitive);
  Result<std::optional<NodePlace>> ReadManifest(const InputFile& manifest) const;
  Status ReadNode(const NodePlace& place, std::vector<NodePlace>* pending);
  Status ReadLeaf(OcdbtBody* body, const std::vector<DataFile>& files, const NodePlace& place,
                  std::uint64_t count, const std::string& where);
  Status ReadInterior(OcdbtBody* body, const std::vector<DataFile>& files, const NodePlace& place,
                      std::uint64_t count, std::vector<NodePlace>* pending);
  Result<const InputFile*> FileOf(const DataFile& file);

  const fs::path& folder_;
  const std::shared_ptr<const HeldFolder>& below_;
  const std::shared_ptr<DescriptorPool> pool_ = std::make_shared<DescriptorPool>();
  std::map<std::string, const InputFile*> opened_;
  std::uint64_t key_bytes_ = 0;
  KeyValues out_;
};

// Keys or paths, each with a part of the one before it; `body` fails where they do not fit.
std::vector<std::string> JoinPrefixes(const std::vector<std::uint64_t>& prefixes,
                                      const std::vector<std::uint64_t>& suffixes, OcdbtBody* body) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < suffixes.size() && !body->failed(); ++i) {
    const std::uint64_t shared = i == 0 ? 0 : prefixes[i - 1];
    std::string text;
    if (i > 0) text = texts[i - 1].substr(0, shared);
    if (text.size() < shared || suffixes[i] > kMostPathBytes) return {};
    text += body->Bytes(suffixes[i]);
    if (text.size() > kMostPathBytes) return {};
    texts.push_back(std::move(text));
  }
  return texts;
}

// Empty after a fault, too.
std::vector<DataFile> OcdbtReader::ReadFiles(OcdbtBody* body, const std::string& transitive) {
  const std::uint64_t count = body->Varint();
  if (count == 0) return {};
  const std::vector<std::uint64_t> prefixes = body->Column(count - 1);
  const std::vector<std::uint64_t> suffixes = body->Column(count);
  const std::vector<std::uint64_t> bases = body->Column(count);
  const std::vector<std::string> paths = JoinPrefixes(prefixes, suffixes, body);
  if (body->failed() || paths.size() != count) return {};
  std::vector<DataFile> files;
  for (std::size_t i = 0; i < count; ++i) {
    if (bases[i] > paths[i].size()) return {};
    files.push_back({transitive + paths[i], transitive + paths[i].substr(0, bases[i])});
  }
  return files;
}

// Of the versions that the manifest lists, the last; none: an empty database.
Result<std::optional<NodePlace>> OcdbtReader::ReadManifest(const InputFile& manifest) const {
  ASSIGN_OR_RETURN(const std::string bytes,
                   BodyOf(manifest, 0, manifest.size_bytes(), kManifestMagic));
  OcdbtBody body(bytes);
  body.Bytes(16);  // uuid
  if (body.Varint() != 0) {
    return Unsupported("an OCDBT database with numbered manifests, which is not read",
                       manifest.name());
  }
  body.Varint();  // max_inline_value_bytes
  body.Varint();  // max_decoded_node_bytes
  body.Byte();    // version_tree_arity_log2
  if (body.Varint() == 1) body.Bytes(4);
  const std::vector<DataFile> files = ReadFiles(&body, "");
  const std::uint64_t versions = body.Varint();
  const Error malformed = InvalidInput("a malformed manifest", manifest.name());
  if (body.failed() || versions == 0) return malformed;
  body.Column(versions);  // generation numbers
  const std::string_view heights = body.Bytes(versions);
  const std::vector<std::uint64_t> ids = body.Column(versions);
  const std::vector<std::uint64_t> begins = body.Column(versions);
  const std::vector<std::uint64_t> sizes = body.Column(versions);
  if (body.failed()) return malformed;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};  // the offset of no root
  if (begins.back() == kNone) return std::optional<NodePlace>();
  if (ids.back() >= files.size()) return malformed;
  return std::optional<NodePlace>({.file = files[ids.back()],
                                   .begin = begins.back(),
                                   .size = sizes.back(),
                                   .height = static_cast<unsigned char>(heights.back()),
                                   .prefix = {}});
}

Result<const InputFile*> OcdbtReader::FileOf(const DataFile& file) {
  const auto known = opened_.find(file.path);
  if (known != opened_.end()) return known->second;
  if (auto safe = SafeRelativePath(file.path, ""); !safe.ok()) {
    return InvalidInput(
        fmt::format("a data file {}; expected one below the database", Quoted(file.path)),
        folder_.string());
  }
  ASSIGN_OR_RETURN(InputFile opened, InputFile::Open(folder_ / file.path, pool_, below_));
  out_.files.push_back(std::make_unique<const InputFile>(std::move(opened)));
  return opened_[file.path] = out_.files.back().get();
}

Status OcdbtReader::ReadNode(const NodePlace& place, std::vector<NodePlace>* pending) {
  ASSIGN_OR_RETURN(const InputFile* file, FileOf(place.file));
  ASSIGN_OR_RETURN(const std::string bytes, BodyOf(*file, place.begin, place.size, kNodeMagic));
  const std::string where = fmt::format("{}: byte {}", file->name(), place.begin);
  OcdbtBody body(bytes);
  const std::uint64_t height = body.Byte();
  if (height != place.height || height > kMostHeight) {
    return InvalidInput(fmt::format("a node of height {}; expected {}, at most {}", height,
                                    place.height, kMostHeight),
                        where);
  }
  const std::vector<DataFile> files = ReadFiles(&body, place.file.base);
  const std::uint64_t count = body.Varint();
  if (body.failed() || count == 0) return InvalidInput("a malformed OCDBT node", where);
  RETURN_IF_ERROR(height == 0 ? ReadLeaf(&body, files, place, count, where)
                              : ReadInterior(&body, files, place, count, pending));
  if (!body.failed() && body.empty()) return {};
  return InvalidInput("a malformed OCDBT node", where);
}

Status OcdbtReader::ReadLeaf(OcdbtBody* body, const std::vector<DataFile>& files,
                             const NodePlace& place, std::uint64_t count,
                             const std::string& where) {
  const std::vector<std::uint64_t> prefixes = body->Column(count - 1);
  const std::vector<std::uint64_t> suffixes = body->Column(count);
  const std::vector<std::string> keys = JoinPrefixes(prefixes, suffixes, body);
  const std::vector<std::uint64_t> sizes = body->Column(count);
  const std::vector<std::uint64_t> kinds = body->Column(count);
  std::uint64_t indirect = 0;
  for (const std::uint64_t kind : kinds) indirect += kind;
  const std::vector<std::uint64_t> ids = body->Column(indirect);
  const std::vector<std::uint64_t> begins = body->Column(indirect);
  const Error malformed = InvalidInput("a malformed leaf of an OCDBT tree", where);
  if (body->failed() || keys.size() != count) return malformed;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    StoredChunk chunk{.size_bytes = sizes[i]};
    if (kinds[i] == 0) {
      chunk.memory = std::make_shared<const std::string>(body->Bytes(sizes[i]));
      if (body->failed()) return malformed;
    } else {
      if (kinds[i] != 1 || next >= ids.size() || ids[next] >= files.size()) return malformed;
      ASSIGN_OR_RETURN(chunk.file, FileOf(files[ids[next]]));
      chunk.begin = begins[next++];
      if (chunk.begin > chunk.file->size_bytes() ||
          sizes[i] > chunk.file->size_bytes() - chunk.begin) {
        return InvalidInput(fmt::format("the value of {} ends beyond the end of {}",
                                        Quoted(place.prefix + keys[i]), Quoted(chunk.file->name())),
                            where);
      }
    }
    key_bytes_ += place.prefix.size() + keys[i].size();
    if (out_.values.size() == kMaxOcdbtKeys || key_bytes_ > kMaxOcdbtKeyBytes) {
      return TooMuch(fmt::format("{} keys, or {} bytes of them", kMaxOcdbtKeys, kMaxOcdbtKeyBytes));
    }
    out_.values.insert_or_assign(place.prefix + keys[i], std::move(chunk));
  }
  return {};
}

Status OcdbtReader::ReadInterior(OcdbtBody* body, const std::vector<DataFile>& files,
                                 const NodePlace& place, std::uint64_t count,
                                 std::vector<NodePlace>* pending) {
  const std::vector<std::uint64_t> prefixes = body->Column(count - 1);
  const std::vector<std::uint64_t> suffixes = body->Column(count);
  const std::vector<std::uint64_t> common = body->Column(count);
  const std::vector<std::string> keys = JoinPrefixes(prefixes, suffixes, body);
  const std::vector<std::uint64_t> ids = body->Column(count);
  const std::vector<std::uint64_t> begins = body->Column(count);
  const std::vector<std::uint64_t> sizes = body->Column(count);
  for (int statistic = 0; statistic < 3; ++statistic) body->Column(count);
  const Error malformed =
      InvalidInput("a malformed node of an OCDBT tree", (folder_ / place.file.path).string());
  if (body->failed() || keys.size() != count) return malformed;
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] >= files.size() || common[i] > keys[i].size()) return malformed;
    pending->push_back({.file = files[ids[i]],
                        .begin = begins[i],
                        .size = sizes[i],
                        .height = place.height - 1,
                        .prefix = place.prefix + keys[i].substr(0, common[i])});
    if (pending->back().prefix.size() > kMostPathBytes) return malformed;
  }
  return {};
}

}  // namespace

Result<KeyValues> ReadOcdbt(const fs::path& folder,
                            const std::shared_ptr<const HeldFolder>& below) {
  return OcdbtReader(folder, below).Read();
}

}  // namespace rharness
