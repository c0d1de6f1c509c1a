// A token of SoftHSM in a folder of its own, made by pkcs11-tool.
#ifndef RHARNESS_TESTS_TRUST_ATTESTATION_SOFT_TOKEN_H_
#define RHARNESS_TESTS_TRUST_ATTESTATION_SOFT_TOKEN_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {

// The token "lab", whose PIN is 648219. Who uses it has SOFTHSM2_CONF in its environment.
class SoftToken {
 public:
  static constexpr char kModule[] = "/usr/lib/softhsm/libsofthsm2.so";
  static constexpr char kPin[] = "648219";
  static constexpr char kMissing[] = "needs softhsm2 and opensc; ./dev test installs them";

  static bool CanBeMade() {
    return std::filesystem::exists(kModule) && std::filesystem::exists("/usr/bin/pkcs11-tool");
  }
  explicit SoftToken(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::create_directories(folder / "store");
    EXPECT_TRUE(
        WriteFileAtomic(configuration(), "directories.tokendir = " + (folder / "store").string() +
                                             "\nobjectstore.backend = file\n"
                                             "log.level = ERROR\n")
            .ok());
    EXPECT_TRUE(WriteFileAtomic(pin_file(), std::string(kPin) + "\n").ok());
    std::filesystem::permissions(pin_file(), std::filesystem::perms(0600));
    EXPECT_TRUE(
        Tool({"--init-token", "--slot-index", "0", "--label", "lab", "--so-pin", "12345678"}));
    EXPECT_TRUE(Tool({"--login", "--login-type", "so", "--so-pin", "12345678", "--init-pin",
                      "--pin", kPin, "--token-label", "lab"}));
  }

  std::string configuration() const { return (folder_ / "softhsm.conf").string(); }
  std::filesystem::path pin_file() const { return folder_ / "pin"; }
  // A key pair of pkcs11-tool's type ("EC:prime256v1"); false where this SoftHSM has none such.
  bool Make(const std::string& type, const std::string& label, const std::string& id) const {
    return Tool({"--login", "--pin", kPin, "--token-label", "lab", "--keypairgen", "--key-type",
                 type, "--label", label, "--id", id});
  }
  // The public half of the key with this id, as PEM.
  bool ExportPublicPem(const std::string& id, const std::filesystem::path& to) const {
    const std::string der = (folder_ / "public.der").string();
    return Tool({"--read-object", "--type", "pubkey", "--id", id, "--token-label", "lab",
                 "--output-file", der}) &&
           RunProcess(
               {{"openssl", "pkey", "-pubin", "-inform", "DER", "-in", der, "-out", to.string()},
                PickEnvironment({"PATH"}),
                "/"},
               {})
               .outcome.Succeeded();
  }
  // `query` in place of the PIN's file.
  std::string Uri(const std::string& path, const std::string& query = "") const {
    return "pkcs11:" + path + "?module-path=" + kModule +
           (query.empty() ? "&pin-source=file:" + pin_file().string() : query);
  }

 private:
  bool Tool(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"pkcs11-tool", "--module", kModule};
    argv.insert(argv.end(), words.begin(), words.end());
    auto environment = PickEnvironment({"PATH"});
    environment["SOFTHSM2_CONF"] = configuration();
    return RunProcess({argv, environment, "/"}, {}).outcome.Succeeded();
  }

  std::filesystem::path folder_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_ATTESTATION_SOFT_TOKEN_H_
