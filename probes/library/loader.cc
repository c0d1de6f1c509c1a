// dlopen, and a library's data from the loader and its ELF notes.
#include "probes/library/loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "harness/base/digest.h"
#include "harness/base/glob.h"

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

// The name before the loader's complaint that there is no such file; empty: another complaint.
std::string MissingFile(const std::string& error) {
  const std::size_t at = error.find(": cannot open shared object file: No such file");
  return at == std::string::npos ? "" : error.substr(0, at);
}

// Opens a file in a named folder. Its dependencies that the loader does not find come from the
// named folders, too: a wheel's libraries rely on others to load them.
Opened OpenWithNeeded(const fs::path& file, const std::vector<fs::path>& paths, int depth = 0) {
  constexpr int kMostNeeded = 64, kDeepest = 8;
  Opened opened = OpenFile(file.string());
  for (int i = 0; opened.handle == nullptr && i < kMostNeeded && depth < kDeepest; ++i) {
    const std::string needed = MissingFile(opened.error);
    if (needed.empty() || needed.find('/') != std::string::npos) break;
    std::error_code ignored;
    const auto folder = std::ranges::find_if(
        paths, [&](const fs::path& path) { return fs::exists(path / needed, ignored); });
    if (folder == paths.end()) break;
    const fs::path first_file = fs::absolute(*folder, ignored) / needed;
    const Opened first = OpenWithNeeded(first_file, paths, depth + 1);
    if (first.handle == nullptr) return first;
    opened = OpenFile(file.string());
  }
  return opened;
}

bool IsPattern(std::string_view soname) { return soname.find('*') != soname.npos; }

// The file of this name in the folder; for a pattern, the first one by name. Empty: none.
fs::path FileIn(const fs::path& folder, const std::string& soname) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(folder, ignored);
  if (!IsPattern(soname)) return fs::exists(whole / soname, ignored) ? whole / soname : fs::path();
  std::string first;
  for (const fs::directory_entry& entry : fs::directory_iterator(whole, ignored)) {
    const std::string name = entry.path().filename().string();
    if (GlobMatches(soname, name) && (first.empty() || name < first)) first = name;
  }
  return first.empty() ? fs::path() : whole / first;
}

// The named folders that a library was loaded from.
std::set<std::string>& UsedFolders() {
  static std::set<std::string> folders;
  return folders;
}

// "libmkl_rt.so" of "libmkl_rt.so.3".
std::string_view WithoutVersion(std::string_view soname) {
  const std::size_t at = soname.find(".so");
  return at == soname.npos ? soname : soname.substr(0, at + 3);
}

// A folder that was named and has the library in a version that is not asked for: the system's own
// would answer in its place, and nobody would see it.
Status RefuseOtherVersion(const std::vector<std::string>& sonames,
                          const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    for (const std::string& soname : sonames) {
      if (IsPattern(soname)) continue;
      const std::string other = fmt::format("{}.*", WithoutVersion(soname));
      const fs::path file = FileIn(path, other);
      if (file.empty()) continue;
      UsedFolders().insert(path.string());
      return Unsupported(
          fmt::format("is not among the versions that are asked for: {}", fmt::join(sonames, ", ")),
          file.string());
    }
  }
  return {};
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
      const fs::path file = FileIn(path, soname);
      if (file.empty()) continue;
      UsedFolders().insert(path.string());
      const Opened opened = OpenWithNeeded(file, paths);
      if (opened.handle == nullptr) return IoError(opened.error, file.string());
      return made(opened.handle, soname);
    }
    tried += (tried.empty() ? "" : ", ") + soname;
  }
  RETURN_IF_ERROR(RefuseOtherVersion(sonames, paths));
  for (const std::string& soname : sonames) {
    if (IsPattern(soname)) continue;
    const Opened opened = OpenFile(soname);
    if (opened.handle != nullptr) return made(opened.handle, soname);
    // That a dependency is missing is another matter.
    if (MissingFile(opened.error) != soname) return IoError(opened.error, soname);
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

Json DescribeLibrary(const Library& library, const std::string& version) {
  return Json()
      .Set("soname", library.soname())
      .Set("path", library.path().filename().string())
      .Set("build_id", library.BuildId())
      .Set("file", library.path().string())
      .Set("version", version);
}

Json WithDigest(const Json& described) {
  static std::map<std::string, std::string> digests;  // by file: one library answers many probes
  Json json = Json::MakeObject();
  for (const auto& [key, value] : described.AsObject()) {
    if (key != "file") {
      json.AppendMember(key, value);
      continue;
    }
    const auto [known, is_new] = digests.try_emplace(value.AsString());
    if (is_new) {
      const Result<FileDigest> digest = HashFile(value.AsString());
      if (digest.ok()) known->second = digest->sha256;
    }
    json.AppendMember("sha256", known->second);
  }
  return json;
}

const std::set<std::string>& FoldersUsed() { return UsedFolders(); }

}  // namespace rharness
