// Reading ELF sections. Source: Tool Interface Standard, "Executable and Linking Format", 1.2.
#include "probes/gpu/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "harness/base/digest.h"

namespace rharness {
namespace {

Result<std::string_view> Slice(std::string_view file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) {
    return IntegrityError(fmt::format("{} bytes are beyond the end at {}", size, file.size()),
                          fmt::format("byte {}", offset));
  }
  return file.substr(offset, size);
}

template <class T>
Result<T> ReadAt(std::string_view file, std::uint64_t offset) {
  ASSIGN_OR_RETURN(const std::string_view bytes, Slice(file, offset, sizeof(T)));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// The section table, and the table of names in it.
struct Table {
  std::string_view cubin;
  Elf64_Ehdr header{};
  std::string_view names;

  Result<Elf64_Shdr> Section(std::uint64_t index) const {
    // Checked before the product, which could wrap.
    if (header.e_shoff > cubin.size()) {
      return IntegrityError("the section table is beyond the end",
                            fmt::format("byte {}", header.e_shoff));
    }
    return ReadAt<Elf64_Shdr>(cubin, header.e_shoff + index * sizeof(Elf64_Shdr));
  }
};

Result<Table> ReadTable(std::string_view cubin) {
  Table table{.cubin = cubin};
  ASSIGN_OR_RETURN(table.header, ReadAt<Elf64_Ehdr>(cubin, 0));
  const Elf64_Ehdr& header = table.header;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return IntegrityError("expected a 64-bit little-endian ELF file", "byte 0");
  }
  ASSIGN_OR_RETURN(const Elf64_Shdr names_at, table.Section(header.e_shstrndx));
  ASSIGN_OR_RETURN(table.names, Slice(cubin, names_at.sh_offset, names_at.sh_size));
  return table;
}

}  // namespace

Result<std::map<std::string, std::string_view>> CubinSections(std::string_view cubin) {
  ASSIGN_OR_RETURN(const Table table, ReadTable(cubin));
  std::map<std::string, std::string_view> sections;
  // No byte is in two sections, and few names share an ending: sections together larger than the
  // file overlap, and would grow with the square of the file's size.
  std::size_t name_bytes = cubin.size(), content_bytes = cubin.size();
  for (std::uint64_t i = 0; i < table.header.e_shnum; ++i) {
    ASSIGN_OR_RETURN(const Elf64_Shdr one, table.Section(i));
    if (one.sh_type == SHT_NOBITS || one.sh_type == SHT_NULL) continue;
    ASSIGN_OR_RETURN(const std::string_view content, Slice(cubin, one.sh_offset, one.sh_size));
    if (one.sh_name >= table.names.size()) {
      return IntegrityError("a section's name is beyond the table of names",
                            fmt::format("section {}", i));
    }
    const std::string_view rest = table.names.substr(one.sh_name, name_bytes + 1);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name.size() > name_bytes || content.size() > content_bytes) {
      return IntegrityError("the sections up to here are together larger than the file",
                            fmt::format("section {}", i));
    }
    name_bytes -= name.size();
    content_bytes -= content.size();
    sections.emplace(std::string(name), content);
  }
  return sections;
}

Result<std::map<std::string, std::string>> CodeDigests(std::string_view cubin) {
  ASSIGN_OR_RETURN(const auto sections, CubinSections(cubin));
  const std::string_view text = ".text.", constant = ".nv.constant";
  std::map<std::string, std::string> of_kernel;
  for (const auto& [name, content] : sections) {
    if (name.starts_with(text)) of_kernel[name.substr(text.size())] = std::string(content);
  }
  for (const auto& [name, content] : sections) {
    if (!name.starts_with(constant)) continue;
    const std::size_t dot = name.find('.', constant.size());
    const auto kernel =
        dot == std::string::npos ? of_kernel.end() : of_kernel.find(name.substr(dot + 1));
    if (kernel != of_kernel.end()) kernel->second.append(content);
  }
  if (of_kernel.empty()) return IntegrityError("there is no section of code");
  for (auto& [kernel, code] : of_kernel) code = Sha256HexOf(code);
  return of_kernel;
}

}  // namespace rharness
