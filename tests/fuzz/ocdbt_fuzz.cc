// Fuzzes the reader of OCDBT and of the arrays of zarr in it: no crash, no undefined behaviour, and
// what opens can be read.
//
// An input is the body of a database's one node, or after an "M" that of its manifest; the target
// puts it into a folder with right checksums. Run: rharness-ocdbt-fuzz -max_total_time=60 CORPUS
// ocdbt_seeds
#include <filesystem>
#include <fstream>

#include "compare/weights/orbax.h"
#include "tests/compare/weights/ocdbt_parts.h"
#include "tests/fuzz/fuzz_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A folder in memory, until the program ends.
const fs::path& FuzzFolder() {
  static const fs::path kFolder = [] {
    std::string name = "/dev/shm/ocdbt-fuzz-XXXXXX";
    Require(::mkdtemp(name.data()) != nullptr);
    std::atexit([] { fs::remove_all(FuzzFolder()); });
    fs::create_directory(fs::path(name) / "d");
    return fs::path(name);
  }();
  return kFolder;
}

void WriteFile(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rharness;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const bool manifest = input.starts_with('M');
  const std::string leaf = LeafOf(
      {{"w/.zarray", R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"|u1","fill_value":0})"},
       {"w/0", "ab"},
       {"w/1", "cd"}});
  const std::string body = manifest ? leaf : input;
  const fs::path& folder = FuzzFolder();
  WriteFile(folder / "d/x", OcdbtPart(kOcdbtNodeMagic, body));
  WriteFile(folder / "manifest.ocdbt",
            OcdbtPart(kOcdbtManifestMagic,
                      manifest ? input.substr(1) : ManifestBodyOf(body.size() + 18)));
  const auto checkpoint = OpenOrbax(folder);
  if (checkpoint.ok()) {
    CheckCheckpoint(**checkpoint, "");
  } else {
    Require(!checkpoint.error().message.empty() && !checkpoint.error().where.empty());
  }
  return 0;
}
