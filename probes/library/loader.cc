// dlopen, and what the loader and the ELF notes tell of a library.
#include "probes/library/loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "harness/base/digest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Never closed.
struct Opened {
  void* handle = nullptr;
  std::string error;  // the loader's own text
};

Opened OpenFile(const std::string& name) {
  dlerror();
  Opened opened{.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (opened.handle == nullptr) {
    const char* text = dlerror();
    opened.error = text != nullptr ? text : "the loader gave no reason";
  }
  return opened;
}

// The text names the missing file first: a dependency that is missing is another matter.
bool SaysNoSuchFile(const std::string& error, const std::string& soname) {
  return error.starts_with(soname + ": cannot open shared object file: No such file");
}

const link_map* MapOf(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

fs::path PathOf(void* handle) {
  const link_map* map = MapOf(handle);
  if (map == nullptr || map->l_name == nullptr) return {};
  std::error_code failed;
  const fs::path resolved = fs::canonical(map->l_name, failed);
  return failed ? fs::path(map->l_name) : resolved;
}

Status CheckSoname(const std::string& soname) {
  const bool named = !soname.empty() && soname.find('/') == std::string::npos &&
                     soname.find('\0') == std::string::npos;
  if (named) return {};
  return InvalidInput("expected the name of a shared library without a folder", soname);
}

std::size_t Padded(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// The description of the first GNU build-id note; empty if there is none.
std::span<const std::uint8_t> FindBuildId(std::span<const std::uint8_t> notes,
                                          std::size_t alignment) {
  ElfW(Nhdr) header;
  while (notes.size() >= sizeof(header)) {
    std::memcpy(&header, notes.data(), sizeof(header));
    const std::size_t name_at = sizeof(header);
    const std::size_t text_at = Padded(name_at + header.n_namesz, alignment);
    const std::size_t end = Padded(text_at + header.n_descsz, alignment);
    if (text_at + header.n_descsz > notes.size()) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes.data() + name_at, "GNU", 4) == 0) {
      return notes.subspan(text_at, header.n_descsz);
    }
    if (end >= notes.size()) return {};
    notes = notes.subspan(end);
  }
  return {};
}

struct NoteSearch {
  ElfW(Addr) base = 0;
  std::string path;
  std::string build_id;
};

int VisitObject(dl_phdr_info* info, std::size_t, void* data) {
  NoteSearch& search = *static_cast<NoteSearch*>(data);
  if (info->dlpi_addr != search.base || search.path != info->dlpi_name) return 0;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + segment.p_vaddr);
    search.build_id = ToHex(FindBuildId({notes, segment.p_memsz}, segment.p_align == 8 ? 8U : 4U));
    if (!search.build_id.empty()) return 1;
  }
  return 1;
}

}  // namespace

Result<std::shared_ptr<Library>> Library::Open(const std::vector<std::string>& sonames,
                                               const std::vector<fs::path>& paths) {
  for (const std::string& soname : sonames) RETURN_IF_ERROR(CheckSoname(soname));
  std::string tried;
  const auto made = [](void* handle, const std::string& soname) {
    return std::shared_ptr<Library>(new Library(handle, PathOf(handle), soname));
  };
  for (const std::string& soname : sonames) {
    for (const fs::path& path : paths) {
      std::error_code ignored;
      const fs::path file = fs::absolute(path, ignored) / soname;
      if (!fs::exists(file, ignored)) continue;
      const Opened opened = OpenFile(file.string());
      if (opened.handle == nullptr) return IoError(opened.error, file.string());
      return made(opened.handle, soname);
    }
    tried += (tried.empty() ? "" : ", ") + soname;
  }
  for (const std::string& soname : sonames) {
    const Opened opened = OpenFile(soname);
    if (opened.handle != nullptr) return made(opened.handle, soname);
    if (!SaysNoSuchFile(opened.error, soname)) return IoError(opened.error, soname);
  }
  return NotFound(fmt::format("no {} in the {} library paths given nor where the loader looks",
                              tried, paths.size()));
}

void* Library::Find(std::string_view symbol) const {
  return dlsym(handle_, std::string(symbol).c_str());
}

std::string Library::BuildId() const {
  const link_map* map = MapOf(handle_);
  if (map == nullptr) return {};
  NoteSearch search{.base = map->l_addr, .path = map->l_name};
  dl_iterate_phdr(VisitObject, &search);
  return search.build_id;
}

std::string Library::Sha256() const {
  const Result<FileDigest> digest = HashFile(path_);
  return digest.ok() ? digest->sha256 : std::string();
}

Json DescribeLibrary(const Library& library, const std::string& version) {
  return Json()
      .Set("soname", library.soname())
      .Set("path", library.path().filename().string())
      .Set("build_id", library.BuildId())
      .Set("sha256", library.Sha256())
      .Set("version", version);
}

}  // namespace rharness
