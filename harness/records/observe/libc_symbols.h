// Finds a function of the C library by name, without libdl.
//
// Role: for preload.cc in programs that are not linked with libdl, which has dlsym before glibc
// 2.34. Takes no memory. Source: System V ABI, chapter 5; the GNU hash table as binutils' ld writes
// it ("DT_GNU_HASH").
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_LIBC_SYMBOLS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_LIBC_SYMBOLS_H_

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

namespace rharness {

struct LibcSearch {
  const char* name;
  void* found;
};

// The parts of an object's dynamic section that a search needs.
struct SymbolTables {
  const Elf64_Sym* symbols = nullptr;
  const char* texts = nullptr;
  const uint32_t* hashes = nullptr;
  const Elf64_Half* versions = nullptr;
  uint64_t soname = 0;
};

inline SymbolTables TablesOf(uintptr_t base, const Elf64_Dyn* entry) {
  SymbolTables tables;
  for (; entry->d_tag != DT_NULL; ++entry) {
    // Some loaders leave addresses as they are in the file.
    const uintptr_t at = entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const Elf64_Sym*>(at);
    if (entry->d_tag == DT_STRTAB) tables.texts = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) tables.hashes = reinterpret_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_VERSYM) tables.versions = reinterpret_cast<const Elf64_Half*>(at);
    if (entry->d_tag == DT_SONAME) tables.soname = entry->d_un.d_val;
  }
  return tables;
}

// Of several versions, the default one for new programs.
inline void* FindSymbol(uintptr_t base, const SymbolTables& tables, const char* name) {
  const uint32_t* head = tables.hashes;
  const uint32_t buckets = head[0], first = head[1], bloom_words = head[2];
  const uint32_t* bucket = head + 4 + 2 * bloom_words;
  const uint32_t* chain = bucket + buckets;
  uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  if (buckets == 0) return nullptr;
  for (uint32_t i = bucket[hash % buckets]; i >= first; ++i) {
    constexpr Elf64_Half kHidden = 0x8000;
    const Elf64_Sym& symbol = tables.symbols[i];
    const bool is_default = tables.versions == nullptr || (tables.versions[i] & kHidden) == 0;
    if ((chain[i - first] | 1) == (hash | 1) && is_default && symbol.st_shndx != SHN_UNDEF &&
        strcmp(tables.texts + symbol.st_name, name) == 0) {
      return reinterpret_cast<void*>(base + symbol.st_value);
    }
    if ((chain[i - first] & 1) != 0) break;
  }
  return nullptr;
}

inline int SearchObject(struct dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<LibcSearch*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const uintptr_t base = info->dlpi_addr;
    const SymbolTables tables =
        TablesOf(base, reinterpret_cast<const Elf64_Dyn*>(base + info->dlpi_phdr[i].p_vaddr));
    if (tables.symbols == nullptr || tables.texts == nullptr || tables.hashes == nullptr ||
        tables.soname == 0 || strncmp(tables.texts + tables.soname, "libc.so", 7) != 0) {
      continue;
    }
    search->found = FindSymbol(base, tables, search->name);
  }
  return search->found != nullptr ? 1 : 0;
}

// Null: there is none.
inline void* FindInLibc(const char* name) {
  LibcSearch search{name, nullptr};
  dl_iterate_phdr(SearchObject, &search);
  return search.found;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_LIBC_SYMBOLS_H_
