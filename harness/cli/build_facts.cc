// Asks the libraries that can tell which version is loaded; of the others CMake found the version.
#include "harness/cli/build_facts.h"

#include <archive.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

namespace rharness {
namespace {

// "3.0.15" of "OpenSSL 3.0.15 3 Sep 2024" and of "libarchive 3.6.2".
std::string SecondWord(std::string_view text) {
  text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return std::string(text.substr(0, text.find(' ')));
}

}  // namespace

std::vector<LibraryFacts> LinkedLibraries() {
  std::vector<LibraryFacts> libraries = {
      {"Boost", RHARNESS_BOOST_VERSION},
      {"CLI11", RHARNESS_CLI11_VERSION},
      {"OpenSSL", SecondWord(OpenSSL_version(OPENSSL_VERSION)), true},
      {"SOCI", RHARNESS_SOCI_VERSION},
      {"SQLite", sqlite3_libversion(), true},
      {"fmt", RHARNESS_FMT_VERSION},
      {"libarchive", SecondWord(archive_version_string()), true},
      {"nlohmann_json", RHARNESS_JSON_VERSION},
      {"pugixml", RHARNESS_PUGIXML_VERSION},
      {"yaml-cpp", RHARNESS_YAML_VERSION},
      {"zlib", zlibVersion(), true},
  };
  return libraries;
}

std::string Compiler() { return RHARNESS_COMPILER; }

std::string BuildType() { return RHARNESS_BUILD_TYPE; }

std::string BuiltFor() {
#if defined(__x86_64__)
  return "linux/amd64";
#elif defined(__aarch64__)
  return "linux/arm64";
#else
  return "linux";
#endif
}

}  // namespace rharness
