// rharness version: what this program is, what it was built from, what it is linked with.
#include <fmt/format.h>

#include <memory>

#include "harness/base/version.h"
#include "harness/cli/build_facts.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

std::string LibrariesText(bool loaded) {
  std::string text;
  for (const LibraryFacts& library : LinkedLibraries()) {
    if (library.loaded != loaded) continue;
    text += fmt::format("  {:<14} {}\n", library.name, library.version);
  }
  return text;
}

std::string VersionText() {
  return fmt::format(
      "rharness {}\ncommit {}\nbuild {} for {}, {}\nlibraries, as they are loaded\n{}"
      "libraries, as they were compiled with\n{}",
      kVersion, kCommit, BuildType(), BuiltFor(), Compiler(), LibrariesText(true),
      LibrariesText(false));
}

Json VersionJson() {
  Json libraries = Json::MakeArray();
  for (const LibraryFacts& library : LinkedLibraries()) {
    libraries.Append(Json()
                         .Set("name", library.name)
                         .Set("version", library.version)
                         .Set("loaded", library.loaded));
  }
  return Json()
      .Set("schema", "rharness.version/v1")
      .Set("version", kVersion)
      .Set("commit", kCommit)
      .Set("build_type", BuildType())
      .Set("platform", BuiltFor())
      .Set("compiler", Compiler())
      .Set("libraries", std::move(libraries));
}

}  // namespace

void AddVersion(Command& root) {
  auto json = std::make_shared<bool>(false);
  Command& verb = root.AddVerb("version", "Print the version, the commit, and the libraries");
  verb.Describe(
      "Prints the version, the commit it was built from (\"-dirty\" where the sources differed "
      "from "
      "it), the kind of build, the compiler and the versions of the libraries.");
  verb.Add("--json", json.get(), "Print one JSON document (rharness.version/v1)");
  verb.Example("rharness version --json");
  verb.Do([json] { return *json ? PrintJson(VersionJson()) : Print(VersionText()); });
}

}  // namespace rharness
