// The footer: Thrift structs, and a schema that is a tree in depth-first order.
#include "harness/execution/tables/parquet_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/execution/tables/thrift_reader.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostFooterBytes = std::uint64_t{64} << 20;
constexpr std::size_t kDeepestSchema = 32;

struct SchemaElement {
  int type = -1;
  std::int64_t repetition = 0;  // 0 required, 1 optional, 2 repeated
  std::string name;
  std::int64_t children = 0;
};

SchemaElement ReadElement(ThriftReader& in) {
  SchemaElement element;
  in.ReadStruct([&](int id, ThriftType type) {
    switch (id) {
      case 1:
        element.type = static_cast<int>(in.ReadInt(type));
        break;
      case 3:
        element.repetition = in.ReadInt(type);
        break;
      case 4:
        element.name = in.ReadBinary(type);
        break;
      case 5:
        element.children = in.ReadInt(type);
        break;
      default:
        in.Skip(type);
    }
  });
  return element;
}

void ReadMetaData(ThriftReader& in, ColumnChunk* chunk) {
  std::int64_t dictionary = -1;
  in.ReadStruct([&](int id, ThriftType type) {
    switch (id) {
      case 4:
        chunk->codec = static_cast<int>(in.ReadInt(type));
        break;
      case 5:
        chunk->values = in.ReadInt(type);
        break;
      case 7:
        chunk->size_bytes = in.ReadInt(type);
        break;
      case 9:
        chunk->offset = in.ReadInt(type);
        break;
      case 11:
        dictionary = in.ReadInt(type);
        break;
      default:
        in.Skip(type);
    }
  });
  // Some writers say 0 where there is none.
  if (dictionary > 0 && dictionary < chunk->offset) chunk->offset = dictionary;
}

ColumnChunk ReadChunk(ThriftReader& in, bool* elsewhere) {
  ColumnChunk chunk;
  in.ReadStruct([&](int id, ThriftType type) {
    if (id == 3 && type == ThriftType::kStruct) return ReadMetaData(in, &chunk);
    if (id == 1 || id == 8) *elsewhere = true;  // in another file, or encrypted
    in.Skip(type);
  });
  return chunk;
}

RowGroup ReadRowGroup(ThriftReader& in, bool* elsewhere) {
  RowGroup group;
  in.ReadStruct([&](int id, ThriftType type) {
    if (id == 1 && type == ThriftType::kList) {
      in.ReadList([&](ThriftType) { group.columns.push_back(ReadChunk(in, elsewhere)); });
    } else if (id == 3) {
      group.rows = in.ReadInt(type);
    } else {
      in.Skip(type);
    }
  });
  return group;
}

// Leaves of the tree; false where it is none.
bool LeavesOf(const std::vector<SchemaElement>& elements, std::vector<ParquetLeaf>* leaves) {
  struct Open {
    std::int64_t children;
    ParquetLeaf below;  // prefix of a leaf directly below
  };
  if (elements.empty() || elements[0].children <= 0) return false;
  std::vector<Open> open = {{elements[0].children, {}}};
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const SchemaElement& element = elements[i];
    while (!open.empty() && open.back().children == 0) open.pop_back();
    if (open.empty() || open.size() > kDeepestSchema || element.children < 0) return false;
    --open.back().children;
    ParquetLeaf here = open.back().below;
    here.path += (here.path.empty() ? "" : ".") + element.name;
    here.most_definition += element.repetition == 0 ? 0 : 1;
    here.most_repetition += element.repetition == 2 ? 1 : 0;
    if (element.children > 0) {
      open.push_back({element.children, std::move(here)});
    } else {
      here.type = element.type;
      leaves->push_back(std::move(here));
    }
  }
  while (!open.empty() && open.back().children == 0) open.pop_back();
  return open.empty();
}

}  // namespace

Error ParquetFile::Damaged(std::string_view what) const {
  return InvalidInput(fmt::format("is a damaged Parquet file: {}", what), name_);
}

Status ParquetFile::ReadAt(std::int64_t offset, std::size_t size, std::string* out) const {
  out->resize(size);
  std::size_t got = 0;
  while (got < size) {
    const ssize_t read = ::pread(file_.descriptor.get(), out->data() + got, size - got,
                                 static_cast<off_t>(offset) + static_cast<off_t>(got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return IoErrorFromErrno("cannot be read", errno, name_);
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  out->resize(got);
  return {};
}

Status ParquetFile::ReadFooter(std::string_view footer) {
  ThriftReader in(footer);
  std::vector<SchemaElement> schema;
  bool elsewhere = false;
  in.ReadStruct([&](int id, ThriftType type) {
    if (id == 2 && type == ThriftType::kList) {
      in.ReadList([&](ThriftType) { schema.push_back(ReadElement(in)); });
    } else if (id == 4 && type == ThriftType::kList) {
      in.ReadList([&](ThriftType) { row_groups_.push_back(ReadRowGroup(in, &elsewhere)); });
    } else {
      if (id == 8) elsewhere = true;
      in.Skip(type);
    }
  });
  if (!in.ok()) return Damaged(fmt::format("its footer, near byte {} of it", in.position()));
  if (elsewhere) return Unsupported("has columns that are encrypted or in other files", name_);
  if (!LeavesOf(schema, &leaves_)) return Damaged("its schema is no tree");
  return CheckChunks();
}

Status ParquetFile::CheckChunks() const {
  const auto size = static_cast<std::int64_t>(file_.size_bytes);
  for (const RowGroup& group : row_groups_) {
    if (group.columns.size() != leaves_.size() || group.rows < 0) {
      return Damaged("a row group has other columns than the schema");
    }
    for (const ColumnChunk& chunk : group.columns) {
      if (chunk.offset < 0 || chunk.size_bytes < 0 || chunk.values < 0 || chunk.offset > size ||
          chunk.size_bytes > size - chunk.offset) {
        return Damaged("a column lies outside of it");
      }
    }
  }
  return {};
}

Result<ParquetFile> ParquetFile::Open(OpenedFile opened, std::string name) {
  ParquetFile file(std::move(opened), std::move(name));
  constexpr std::string_view kMagic = "PAR1";
  const std::uint64_t size = file.file_.size_bytes;
  if (size < 12) return InvalidInput("is no Parquet file: it has fewer than 12 bytes", file.name_);
  std::string tail;
  RETURN_IF_ERROR(file.ReadAt(static_cast<std::int64_t>(size - 8), 8, &tail));
  if (tail.size() != 8 || !tail.ends_with(kMagic)) {
    if (tail.ends_with("PARE")) return Unsupported("has an encrypted footer", file.name_);
    return InvalidInput("is no Parquet file: it does not end with PAR1", file.name_);
  }
  std::uint32_t length = 0;
  std::memcpy(&length, tail.data(), sizeof(length));  // little-endian, as all supported machines
  if (length > size - 12) return file.Damaged("its footer is longer than it");
  if (length > kMostFooterBytes) {
    return InvalidInput(
        fmt::format("has a footer of {} bytes; expected at most {}", length, kMostFooterBytes),
        file.name_);
  }
  std::string footer;
  RETURN_IF_ERROR(file.ReadAt(static_cast<std::int64_t>(size - 8 - length), length, &footer));
  RETURN_IF_ERROR(file.ReadFooter(footer));
  return file;
}

int ParquetFile::FindLeaf(std::string_view path) const {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const std::string_view leaf = leaves_[i].path;
    const bool here = leaf.starts_with(path);
    if (here && (leaf.size() == path.size() || leaf[path.size()] == '.'))
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace rharness
