// Real files, and the real git with a configuration of the test's own.
#include "tests/attack/attack_world.h"

#include <fmt/format.h>

#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

ScopedTempDir MakeFolder() {
  auto folder = ScopedTempDir::Make("rharness-attack-");
  if (!folder.ok()) Abort("no temporary folder");
  return std::move(*folder);
}

}  // namespace

AttackWorld::AttackWorld() : folder_(MakeFolder()) {
  fs::create_directories(repository());
  fs::create_directories(folder() / "drill");
  places_.root = repository();
  manifest_.run_id = "r";
  manifest_.command = {"true"};
  manifest_.code.repository = ".";
}

void AttackWorld::Write(const std::string& relative, const std::string& content) const {
  const Status written = WriteFileAtomic(folder() / relative, content);
  ASSERT_TRUE(written.ok()) << written.error().ToString();
}

std::string AttackWorld::Read(const fs::path& path) {
  auto text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : std::string();
}

std::string AttackWorld::Git(std::vector<std::string> arguments, const fs::path& where) const {
  ProcessSpec spec{.argv = {"git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "-c",
                            "protocol.file.allow=always"},
                   .environment = PickEnvironment({"PATH"})};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment["HOME"] = (folder() / "nobody").string();
  spec.working_directory = where.empty() ? repository() : where;
  ProcessResult result = RunProcess(spec);
  EXPECT_TRUE(result.outcome.Succeeded())
      << fmt::format("{}", fmt::join(arguments, " ")) << result.stderr_text;
  std::string text = std::move(result.stdout_text);
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string AttackWorld::Commit(const fs::path& where) const {
  Git({"init", "--quiet"}, where);
  Git({"add", "--all"}, where);
  Git({"commit", "--quiet", "--allow-empty", "-m", "one"}, where);
  return Git({"rev-parse", "HEAD"}, where);
}

fs::path AttackWorld::LooseObject(const std::string& name) const {
  return repository() / ".git" / "objects" / name.substr(0, 2) / name.substr(2);
}

Result<Workspace> AttackWorld::Prepare() {
  return PrepareWorkspace(manifest_, folder() / "drill" / "workspace", places_, &cache_, limits_);
}

std::string OneTensor(float value) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace rharness
