// DVC repositories in tests: files with their MD5s, written by hand.
#ifndef RHARNESS_TESTS_RECORDS_INTAKE_DVC_REPOSITORY_H_
#define RHARNESS_TESTS_RECORDS_INTAKE_DVC_REPOSITORY_H_

#include <openssl/evp.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/subprocess.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {

// By OpenSSL's own interface, not by what is tested.
inline std::string TestMd5(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_md5(), nullptr);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

class DvcRepositoryTest : public SourceTree {
 protected:
  // "    - path: raw.bin\n      hash: md5\n      md5: ...\n".
  static std::string Entry(const std::string& path, std::string_view content) {
    return "    - {path: '" + path + "', hash: md5, md5: " + TestMd5(content) +
           ", size: " + std::to_string(content.size()) + "}\n";
  }
  static std::string Entry(const std::string& path, const std::string& md5, bool) {
    return "    - {path: '" + path + "', hash: md5, md5: " + md5 + "}\n";
  }
  // In the cache of the repository, DVC 3's form.
  std::string PutCached(std::string_view content, const std::string& suffix = "") {
    const std::string md5 = TestMd5(content);
    Put(".dvc/cache/files/md5/" + md5.substr(0, 2) + "/" + md5.substr(2) + suffix, content);
    return md5 + suffix;
  }
  // A program of the repository's, in its folder; its output.
  std::string Git(std::vector<std::string> arguments) {
    ProcessSpec spec{.argv = {"git", "-c", "user.name=n", "-c", "user.email=e@x", "-c",
                              "init.defaultBranch=main", "-c", "commit.gpgsign=false"}};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = root().parent_path();
    spec.working_directory = root();
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(1);
    ProcessResult result = RunProcess(spec, limits);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString() << result.stderr_text;
    while (result.stdout_text.ends_with('\n')) result.stdout_text.pop_back();
    return result.stdout_text;
  }
  std::string Commit() {
    Git({"add", "-A"});
    Git({"commit", "-q", "--allow-empty", "-m", "x"});
    return Git({"rev-parse", "HEAD"});
  }

  void PutLock(const std::string& stages, const std::string& folder = "") {
    Put(folder + "dvc.lock", "schema: '2.0'\nstages:\n" + stages);
  }
  // One stage "train" with this dep and no output but "out".
  ImportOutcome ImportDep(const std::string& dep) {
    Put(".dvc/config", "");
    Put("out", "o");
    PutLock("  train:\n    cmd: a\n    deps:\n" + dep + "    outs:\n" + Entry("out", "o"));
    return Import("dvc");
  }
  static const Artifact* ArtifactOf(const Manifest& run, std::string_view path) {
    for (const Artifact& artifact : run.artifacts) {
      if (artifact.path == path) return &artifact;
    }
    return nullptr;
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_INTAKE_DVC_REPOSITORY_H_
