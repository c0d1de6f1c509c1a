// Libraries and undeclared inputs.
#include "harness/records/observe/files_seen.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/records/observe/elf.h"
#include "harness/records/observe/programs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Change times are the kernel's clock ticks, up to this much behind.
constexpr std::chrono::milliseconds kTick{4};

// Whether a record can hold it: readers refuse control characters and invalid UTF-8.
bool IsRecordable(const std::string& path) {
  constexpr std::size_t kLongest = 1024;
  return path.size() > 1 && path.size() <= kLongest && path.front() == '/' &&
         fs::path(path).lexically_normal().string() == path &&
         SafeRelativePath(std::string_view(path).substr(1), "").ok();
}

// Both in normal form. Empty: not below.
std::string Below(const std::string& base, const std::string& path) {
  if (base.empty() || !path.starts_with(base)) return {};
  if (base.back() == '/') return path.substr(base.size());
  return path.size() > base.size() && path[base.size()] == '/' ? path.substr(base.size() + 1) : "";
}

bool IsBelowAny(const std::vector<std::string>& places, const std::string& path) {
  return std::ranges::any_of(places, [&](const std::string& place) {
    return path == place || !Below(place, path).empty();
  });
}

// "a/__pycache__/b.cpython-311.pyc" is Python's cache of "a/b.py".
fs::path SourceOf(const fs::path& path) {
  if (path.extension() != ".pyc" || path.parent_path().filename() != "__pycache__") return path;
  const std::string name = path.filename().string();
  return path.parent_path().parent_path() / (name.substr(0, name.find('.')) + ".py");
}

// PYTHONPATH names the run's own folders, too: that of a script, which PyTorch hands to the
// processes that compile for it.
bool IsOfRun(const std::string& folder, const std::string& base) {
  if (base.empty()) return false;
  if (folder == base || !Below(folder, base).empty()) return true;
  return !Below(base, folder).empty() && folder.find("/site-packages") == folder.npos &&
         folder.find("/dist-packages") == folder.npos;
}

// The parts of an installation that the programs of a run were started from: "/opt/conda/lib".
std::vector<std::string> InstalledPlaces(const Footprint& footprint, const std::string& base) {
  std::vector<std::string> places;
  const auto add = [&](const fs::path& program) {
    const fs::path folder = program.parent_path();
    if (folder.filename() != "bin") return;
    for (const char* part : {"lib", "lib64", "include", "share", "bin"}) {
      places.push_back((folder.parent_path() / part).lexically_normal().string());
    }
  };
  for (const SeenProgram& program : footprint.programs) {
    if (KindOf(program.executable) != ProgramKind::kPython) continue;
    add(program.executable);
    add(fs::path(program.working_directory) / program.invoked_as);
  }
  for (const fs::path& folder : PackageFolders(footprint)) {
    if (!IsOfRun(folder.string(), base)) places.push_back(folder.string());
  }
  return places;
}

// Parts of paths below which programs keep what they made for themselves.
constexpr auto kHousekeeping = std::to_array<std::string_view>(
    {"/.git/", "/__pycache__/", "/.cache/fontconfig/", "/.cache/jax/", "/.cache/matplotlib/",
     "/.cache/mesa_shader_cache/", "/.cache/numba/", "/.cache/nvidia/", "/.cache/pip/",
     "/.cache/rharness/", "/.cache/tilelang/", "/.cache/torch_extensions/",
     "/.cache/torch/inductor/", "/.cache/torch/kernels/", "/.cache/triton/", "/.cache/uv/",
     "/.cache/vllm/", "/.nv/ComputeCache/", "/.triton/"});

// Where the compilers of PyTorch, Triton, CUDA, JAX and Numba keep their results, if one is set.
constexpr auto kCacheVariables = std::to_array<const char*>(
    {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH",
     "JAX_COMPILATION_CACHE_DIR", "NUMBA_CACHE_DIR"});

bool IsBelowVariable(const char* name, const std::string& path) {
  const char* folder = std::getenv(name);
  return folder != nullptr && *folder == '/' &&
         !Below(fs::path(folder).lexically_normal().string(), path).empty();
}

// PyTorch's compiler keeps its results in torchinductor_USER of the temporary folder.
bool IsOfInductor(const std::string& path) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return path.starts_with("/tmp/torchinductor_") ||
         (!error && path.starts_with((temporary / "torchinductor_").string()));
}

// A program's own housekeeping, which is no input. In caches, compiled code and fonts are; models
// and data sets (~/.cache/huggingface, ~/.cache/torch/hub) are not.
bool IsHousekeeping(const std::string& path) {
  const auto has = [&](std::string_view part) { return path.find(part) != path.npos; };
  const auto is_set = [&](const char* name) { return IsBelowVariable(name, path); };
  return path.ends_with("/pyvenv.cfg") || std::ranges::any_of(kHousekeeping, has) ||
         IsOfInductor(path) || std::ranges::any_of(kCacheVariables, is_set);
}

// What a version manager runs to start the Python that the record names (Environment::python). A
// rerun starts that Python itself, so these would differ in every one.
bool IsOfVersionManager(const std::string& path) {
  constexpr std::array<std::string_view, 4> kFolders = {"/.pyenv/", "/.asdf/", "/.rbenv/",
                                                        "/mise/shims/"};
  return path.find("/versions/") == path.npos &&
         std::ranges::any_of(
             kFolders, [&](std::string_view folder) { return path.find(folder) != path.npos; });
}

// Installed programs that are scripts, outside of the run's own folders.
bool IsInstalledScript(const fs::path& path, const fs::path& base) {
  struct stat info {};
  if (!Below(base.string(), path.string()).empty() || ::stat(path.c_str(), &info) != 0)
    return false;
  return (info.st_mode & S_IXUSR) != 0 && path.parent_path().filename() == "bin";
}

class InputSelection {
 public:
  InputSelection(const ObserveRequest& request, const Footprint& footprint, WallTime started)
      : request_(request),
        footprint_(footprint),
        started_(started),
        installed_(InstalledPlaces(footprint, request.base.string())) {
    for (const fs::path& place : request.declared) declared_.push_back(place.string());
  }

  std::set<std::string> Undeclared(const std::set<std::string>& files) const {
    std::set<std::string> undeclared;
    std::vector<std::string> below;
    for (const std::string& file : files) {
      const std::string path = Undeclared(file);
      if (path.empty() || !undeclared.insert(path).second) continue;
      const std::string name = Below(request_.base.string(), path);
      if (!name.empty()) below.push_back(name);
    }
    if (below.empty() || !request_.recorded) return undeclared;
    for (const std::string& name : request_.recorded(below)) {
      undeclared.erase((request_.base / name).string());
    }
    return undeclared;
  }

 private:
  // The reported form of the file; empty: it is accounted for.
  std::string Undeclared(const std::string& file) const {
    const fs::path path = SourceOf(file);
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(path, error)) || error) return {};
    if (!IsRecordable(path.string()) || IsHousekeeping(path.string()) ||
        footprint_.mapped.contains(path.string()))
      return {};
    if (IsBelowAny(declared_, path) || IsBelowAny(installed_, path)) return {};
    if (IsOfVersionManager(path.string()) && Below(request_.base.string(), path.string()).empty())
      return {};
    if (IsInstalledScript(path, request_.base) || IsChangedSince(path, started_)) return {};
    return path.string();
  }

  const ObserveRequest& request_;
  const Footprint& footprint_;
  const WallTime started_;
  const std::vector<std::string> installed_;
  std::vector<std::string> declared_;
};

// "inputs/current/data.csv" of "/run/inputs/current/data.csv", where a link below the base leads to
// the file. Empty: the name is no path of the run's, leads elsewhere by now, or a rerun has both
// the link, by its commit, and the file.
std::string NameInRun(const std::string& name, const std::string& file,
                      const ObserveRequest& request) {
  const std::string base = request.base.string(), below = Below(base, name);
  std::error_code error;
  if (below.empty() || !IsRecordable(name) || fs::canonical(name, error) != file || error) {
    return {};
  }
  if (Below(base, file).empty() || !request.recorded) return below;
  fs::path link;
  for (const fs::path& part : fs::path(below)) {
    link /= part;
    if (fs::is_symlink(fs::symlink_status(request.base / link, error))) break;
  }
  return request.recorded({link.string()}).empty() ? below : std::string();
}

// Whether numeric work is made of a library, by its file's name.
bool IsNumeric(const std::string& path) {
  constexpr std::array<std::string_view, 30> kWords = {
      "blas",   "lapack",   "mkl",    "blis",    "cuda",   "cudnn",   "cublas", "cufft",
      "curand", "cusolver", "cuspar", "nccl",    "nvrt",   "torch",   "c10",    "xla",
      "jax",    "dnn",      "omp",    "libm.so", "mvec",   "libc.so", "fft",    "gsl",
      "sleef",  "tbb",      "rocm",   "hip",     "miopen", "tensor"};
  const std::string name = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// "ext.so" of "/run/ext.so": of a file that comes along to wherever the run is.
std::string PathInRun(const std::string& path, const ObserveRequest& request, WallTime started) {
  const std::string below = Below(request.base.string(), path);
  if (below.empty()) return path;
  const bool comes_along =
      IsChangedSince(path, started) ||
      std::ranges::any_of(request.declared,
                          [&](const fs::path& place) {
                            return path == place.string() || !Below(place.string(), path).empty();
                          }) ||
      (request.recorded && request.recorded({below}).contains(below));
  return comes_along ? below : path;
}

}  // namespace

bool IsChangedSince(const fs::path& file, WallTime started) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return true;
  const auto changed = std::chrono::sys_time<std::chrono::nanoseconds>(
      std::chrono::seconds(info.st_ctim.tv_sec) + std::chrono::nanoseconds(info.st_ctim.tv_nsec));
  return changed + kTick >= started;
}

std::vector<SeenLibrary> LibrariesOf(const Footprint& footprint, const PackageOwners& owners,
                                     const ObserveRequest& request, WallTime started) {
  std::vector<SeenLibrary> libraries;
  for (const std::string& path : footprint.mapped) {
    if (libraries.size() >= kMostLibraries) break;
    if (!IsRecordable(path)) continue;
    const auto elf = ReadElf(path);
    if (!elf.ok() || !elf->is_dynamic) continue;
    const auto owner = owners.find(path);
    const bool has_owner = owner != owners.end();
    // Programs, and parts of a package that nobody links with.
    const bool is_part = has_owner || path.find("/lib-dynload/") != path.npos;
    if (elf->soname.empty() && (is_part || !elf->interpreter.empty())) continue;
    if (has_owner && !IsNumeric(path)) continue;
    SeenLibrary& library = libraries.emplace_back();
    library.path = PathInRun(path, request, started);
    library.soname = elf->soname.substr(0, 256);
    library.build_id = elf->build_id;
    library.size_bytes = elf->size_bytes;
    if (!has_owner) continue;
    library.manager = owner->second.manager;
    library.package = owner->second.name;
    library.version = owner->second.version;
  }
  return libraries;
}

std::set<std::string> OverwrittenInputs(const std::set<std::string>& begun_from,
                                        const ObserveRequest& request, WallTime started) {
  std::set<std::string> overwritten;
  for (const std::string& file : begun_from) {
    const std::string below = Below(request.base.string(), file);
    struct stat info {};
    if (!IsRecordable(file) || IsHousekeeping(file)) continue;
    if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const bool declared = std::ranges::any_of(request.declared, [&](const fs::path& place) {
      return file == place.string() || !Below(place.string(), file).empty();
    });
    if (!declared && IsChangedSince(file, started)) {
      overwritten.insert(below.empty() ? file : below);
    }
  }
  if (overwritten.empty() || !request.recorded) return overwritten;
  std::vector<std::string> own;
  std::ranges::copy_if(overwritten, std::back_inserter(own),
                       [](const std::string& name) { return !name.starts_with('/'); });
  for (const std::string& name : request.recorded(own)) overwritten.erase(name);
  return overwritten;
}

std::vector<SeenInput> UndeclaredInputs(const std::set<std::string>& files,
                                        const std::map<std::string, std::string>& links,
                                        const ObserveRequest& request, const Footprint& footprint,
                                        WallTime started, std::size_t* more) {
  std::set<std::string> opened = files, linked;
  std::multimap<std::string, std::string> names;  // below the base, by file
  for (const auto& [name, file] : links) {
    std::string below = NameInRun(name, file, request);
    (below.empty() ? opened : linked).insert(file);
    if (!below.empty()) names.emplace(file, std::move(below));
  }
  for (const std::string& file : files) {
    const std::string below = Below(request.base.string(), file);
    if (linked.contains(file)) names.emplace(file, below.empty() ? file : below);
  }
  opened.insert(linked.begin(), linked.end());
  const auto undeclared = InputSelection(request, footprint, started).Undeclared(opened);
  std::vector<std::pair<std::string, std::string>> reported;  // file, path
  for (const std::string& file : undeclared) {
    const std::string below = Below(request.base.string(), file);
    const auto [first, last] = names.equal_range(file);
    if (first == last) reported.emplace_back(file, below.empty() ? file : below);
    for (auto name = first; name != last; ++name) reported.emplace_back(*name);
  }
  *more = reported.size() - std::min(reported.size(), request.most_inputs);
  std::vector<SeenInput> inputs;
  std::uint64_t hashed = 0;
  for (const auto& [path, name] : reported) {
    if (inputs.size() >= request.most_inputs) break;
    const auto file = OpenRegularFile(path, /*follow_links=*/false);
    if (!file.ok()) continue;
    SeenInput& input = inputs.emplace_back();
    input.path = name;
    input.size_bytes = file->size_bytes;
    if (input.size_bytes > kMostHashedBytes - hashed) continue;
    hashed += input.size_bytes;
    if (auto digest = HashFile(path); digest.ok()) input.sha256 = std::move(digest->sha256);
  }
  std::ranges::sort(inputs, {}, &SeenInput::path);
  return inputs;
}

}  // namespace rharness
