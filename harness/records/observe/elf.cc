// Reading program headers, notes and the dynamic section.
#include "harness/records/observe/elf.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "harness/base/descriptor.h"

namespace rharness {
namespace {

constexpr std::size_t kMostHeaders = 256;
constexpr std::uint64_t kMostNoteBytes = 64 << 10;
constexpr std::uint64_t kMostDynamicBytes = 64 << 10;
constexpr std::size_t kLongestName = 512;
constexpr std::size_t kMostNeeded = 256;
constexpr std::size_t kLongestBuildId = 64;

// Reads at an offset; short at the end of the file.
class ElfReader {
 public:
  ElfReader(const std::filesystem::path& path, OpenedFile file)
      : where_(path.string()), file_(std::move(file)) {}

  std::string Bytes(std::uint64_t offset, std::uint64_t size) const {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::size_t have = 0;
    while (have < bytes.size() && offset + have <= file_.size_bytes) {
      const ssize_t got = ::pread(file_.descriptor.get(), bytes.data() + have, bytes.size() - have,
                                  static_cast<off_t>(offset + have));
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
  }
  template <class T>
  std::optional<T> Value(std::uint64_t offset) const {
    const std::string bytes = Bytes(offset, sizeof(T));
    if (bytes.size() != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  // Ends with NUL in the file; empty if too long or no text.
  std::string Name(std::uint64_t offset) const {
    const std::string bytes = Bytes(offset, kLongestName);
    const auto end = bytes.find('\0');
    if (end == bytes.npos) return {};
    const std::string name = bytes.substr(0, end);
    const bool plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
    return plain ? name : std::string();
  }
  std::uint64_t size_bytes() const { return file_.size_bytes; }
  Error Bad(std::string_view what) const {
    return InvalidInput(fmt::format("is no readable ELF file: {}", what), where_);
  }

 private:
  std::string where_;
  OpenedFile file_;
};

using Headers = std::vector<Elf64_Phdr>;

Result<Headers> ReadHeaders(const ElfReader& reader, ElfFile* out) {
  const auto head = reader.Value<Elf64_Ehdr>(0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return reader.Bad("no ELF header");
  if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB) {
    return reader.Bad("expected 64 bits, little-endian");
  }
  if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > kMostHeaders ||
      head->e_phoff > reader.size_bytes()) {
    return reader.Bad("program headers where none can be");
  }
  out->machine = head->e_machine;
  Headers headers;
  for (std::size_t i = 0; i < head->e_phnum; ++i) {
    const auto header = reader.Value<Elf64_Phdr>(head->e_phoff + i * sizeof(Elf64_Phdr));
    if (!header) return reader.Bad("program headers beyond its end");
    if (header->p_offset > reader.size_bytes()) continue;  // nothing of it is in the file
    headers.push_back(*header);
  }
  return headers;
}

// "GNU", type 3. Sizes are padded to four bytes.
std::string BuildIdIn(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const std::uint64_t name_bytes = (std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3};
    const std::uint64_t bytes = (std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3};
    if (name_bytes > notes.size() || bytes > notes.size() - name_bytes) return {};
    const bool is_gnu = notes.substr(0, note.n_namesz) == std::string_view("GNU\0", 4);
    const std::string_view content = notes.substr(name_bytes, note.n_descsz);
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && content.size() <= kLongestBuildId) {
      std::string digits;
      for (const char c : content) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return digits;
    }
    notes.remove_prefix(name_bytes + bytes);
  }
  return {};
}

// Where in the file an address lies.
std::optional<std::uint64_t> OffsetOf(const Headers& headers, std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
        address - header.p_vaddr < header.p_filesz) {
      return header.p_offset + (address - header.p_vaddr);
    }
  }
  return std::nullopt;
}

void ReadDynamic(const ElfReader& reader, const Headers& headers, const Elf64_Phdr& section,
                 ElfFile* out) {
  const std::string bytes =
      reader.Bytes(section.p_offset, std::min<std::uint64_t>(section.p_filesz, kMostDynamicBytes));
  std::vector<Elf64_Dyn> entries(bytes.size() / sizeof(Elf64_Dyn));
  if (entries.empty()) return;
  std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Elf64_Dyn));
  std::optional<std::uint64_t> names;
  std::uint64_t names_bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) names = OffsetOf(headers, entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) names_bytes = entry.d_un.d_val;
  }
  if (!names) return;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_un.d_val >= names_bytes || *names > reader.size_bytes()) continue;
    if (entry.d_tag == DT_SONAME) out->soname = reader.Name(*names + entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED && out->needed.size() < kMostNeeded) {
      out->needed.push_back(reader.Name(*names + entry.d_un.d_val));
    }
  }
}

}  // namespace

Result<ElfFile> ReadElf(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(OpenedFile file, OpenRegularFile(path));
  const ElfReader reader(path, std::move(file));
  ElfFile out;
  out.size_bytes = reader.size_bytes();
  ASSIGN_OR_RETURN(const Headers headers, ReadHeaders(reader, &out));
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_INTERP) out.interpreter = reader.Name(header.p_offset);
    if (header.p_type == PT_NOTE && out.build_id.empty()) {
      out.build_id = BuildIdIn(
          reader.Bytes(header.p_offset, std::min<std::uint64_t>(header.p_filesz, kMostNoteBytes)));
    }
    if (header.p_type == PT_DYNAMIC) {
      out.is_dynamic = true;
      ReadDynamic(reader, headers, header, &out);
    }
  }
  return out;
}

}  // namespace rharness
