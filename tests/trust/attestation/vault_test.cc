// Keys in Vault's transit engine, of a scripted server: what it answers, and what becomes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "harness/base/base64.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/open_signer.h"
#include "tests/execution/fetch/scripted_server.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "hvs.only-for-this-test";
constexpr char kMessage[] = "bytes to sign";

std::string Answer(int status, const std::string& body, const std::string& headers = "") {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}", status,
                     body.size(), headers, body);
}

std::string KeyAnswer(const std::string& type, const std::string& public_key, int version = 1) {
  return Answer(
      200,
      Json::MakeObject(
          {{"data",
            Json::MakeObject(
                {{"type", type},
                 {"latest_version", version},
                 {"keys", Json::MakeObject({{std::to_string(version),
                                             Json::MakeObject({{"public_key", public_key}})}})}})}})
          .Dump());
}

std::string SignedAnswer(const std::string& signature, int version = 1) {
  return Answer(200, fmt::format(R"({{"data":{{"signature":"vault:v{}:{}"}}}})", version,
                                 ToBase64Text(signature)));
}

// The head of a request is all that the script sees, so every message is the same.
class Vault : public testing::Test {
 protected:
  using Script = ScriptedServer::Script;
  SignerPlace Place(const std::string& url) const {
    std::map<std::string, std::string> variables = variables_;
    variables.emplace("VAULT_ADDR", url);
    variables.emplace("VAULT_TOKEN_FILE", token_.string());
    SignerPlace place{.variable = [variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    }};
    place.limits.request = std::chrono::milliseconds(300);
    place.limits.first_wait = std::chrono::milliseconds(1);
    return place;
  }
  std::string Try(const Script& script, const std::string& locator = "vault:transit/lab") {
    const ScriptedServer server(script);
    const auto text = [](const Error& error) {
      EXPECT_THAT(error.ToString(), Not(HasSubstr(kToken)));
      return std::string(ErrorCodeName(error.code)) + " " + error.ToString();
    };
    const auto signer = OpenSigner(locator, Place(server.url()));
    const std::string said = [&] {
      if (!signer.ok()) return text(signer.error());
      const auto signature = (*signer)->Sign(kMessage);
      if (!signature.ok()) return text(signature.error());
      EXPECT_TRUE((*signer)->public_key().Verifies(kMessage, *signature));
      return "signed by " + (*signer)->public_key().id();
    }();
    requests_ = server.requests();
    return said;
  }
  // The key of Bob, and this answer to what is to be signed.
  std::string TrySign(const std::string& answer, int version = 1) {
    return Try([&](const std::string& request) {
      return request.starts_with("GET ")
                 ? KeyAnswer("ecdsa-p256", world_.bob->public_key().Pem(), version)
                 : answer;
    });
  }
  std::string TryOpen(const std::string& answer) {
    return Try([&](const std::string&) { return answer; });
  }

  AttestedWorld world_;
  std::filesystem::path token_ = world_.folder.Put("vault-token", std::string(kToken) + "\n");
  std::map<std::string, std::string> variables_;
  std::vector<std::string> requests_;
};

TEST_F(Vault, SignsWithTheNewestVersionOfAKey) {
  variables_["VAULT_NAMESPACE"] = "team";
  const std::string signature = *world_.bob->Sign(kMessage);
  EXPECT_EQ(TrySign(SignedAnswer(signature, 3), 3), "signed by " + world_.bob->public_key().id());
  ASSERT_EQ(requests_.size(), 2U);
  EXPECT_THAT(requests_[0], testing::StartsWith("GET /v1/transit/keys/lab "));
  EXPECT_THAT(requests_[1], testing::StartsWith("POST /v1/transit/sign/lab/sha2-256 "));
  for (const std::string& request : requests_) {
    EXPECT_THAT(request, HasSubstr(std::string("X-Vault-Token: ") + kToken));
    EXPECT_THAT(request, HasSubstr("X-Vault-Namespace: team"));
  }
}

TEST_F(Vault, SignsWithEd25519) {
  const std::string signature = *world_.ada->Sign(kMessage);
  EXPECT_EQ(Try([&](const std::string& request) {
              return request.starts_with("GET ")
                         ? KeyAnswer("ed25519", ToBase64Text(FromHex(kAdaPublic)))
                         : SignedAnswer(signature);
            }),
            "signed by " + world_.ada->public_key().id());
  EXPECT_THAT(requests_.back(), testing::StartsWith("POST /v1/transit/sign/lab "));
}

TEST_F(Vault, ThatIsSealedSlowOrWrongSignsNothing) {
  const std::string eve = *world_.eve->Sign(kMessage);
  EXPECT_THAT(TryOpen(Answer(503, R"({"errors":["Vault is sealed"]})")),
              testing::AllOf(HasSubstr("io "), HasSubstr("503): Vault is sealed (3 attempts)")));
  EXPECT_THAT(TryOpen(Answer(403, R"({"errors":["permission denied"]})")),
              HasSubstr("refuses these credentials (403): permission denied"));
  EXPECT_THAT(TryOpen(Answer(404, R"({"errors":[]})")), HasSubstr("not_found "));
  EXPECT_THAT(TryOpen(""), HasSubstr("timeout "));
  EXPECT_THAT(TryOpen(Answer(307, "", "Location: https://elsewhere/\r\n")),
              HasSubstr("sends elsewhere (307), to https://elsewhere/, which is not followed"));
  EXPECT_THAT(TryOpen(ScriptedServer::Ok("<html>proxy</html>")), HasSubstr("which is no JSON"));
  EXPECT_THAT(TryOpen("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"data\""), HasSubstr("io "));
  EXPECT_THAT(TryOpen(ScriptedServer::Ok("{}")), HasSubstr("data"));
  EXPECT_THAT(TryOpen(KeyAnswer("rsa-2048", "x")), HasSubstr("unsupported "));
  EXPECT_THAT(TryOpen(KeyAnswer("ed25519", "x")), HasSubstr("expected 32 bytes"));
  EXPECT_THAT(TryOpen(KeyAnswer("ecdsa-p256", "x")), HasSubstr("expected one PEM block"));
  EXPECT_THAT(TryOpen(ScriptedServer::Ok(std::string(2 << 20, ' '))), HasSubstr("more than"));
  const std::string bob = *world_.bob->Sign(kMessage);
  EXPECT_THAT(TrySign(SignedAnswer(eve)),
              testing::AllOf(HasSubstr("integrity "), HasSubstr("nothing is signed")));
  EXPECT_THAT(TrySign(SignedAnswer(bob, 2)), HasSubstr("expected a signature of version 1"));
  EXPECT_THAT(TrySign(SignedAnswer(bob.substr(1))), HasSubstr("integrity "));
  EXPECT_THAT(TrySign(Answer(503, R"({"errors":["Vault is sealed"]})")),
              HasSubstr("Vault is sealed"));
  EXPECT_THAT(TrySign(Answer(400, fmt::format(R"({{"errors":["{} is bad"]}})", kToken))),
              HasSubstr("*** is bad"));
}

TEST_F(Vault, TakesItsTokenFromAFileAndSendsItNowhereElse) {
  const auto said = [&](const std::string& locator = "vault:transit/lab") {
    const auto signer = OpenSigner(locator, Place("http://127.0.0.1:9"));
    return signer.ok() ? "opened" : signer.error().ToString();
  };
  EXPECT_THAT(said("vault:lab"), HasSubstr("expected vault:MOUNT/KEY"));
  EXPECT_THAT(said("vault:transit/../sys"), HasSubstr("expected vault:MOUNT/KEY"));
  EXPECT_THAT(said("vault:transit/a?b"), HasSubstr("expected vault:MOUNT/KEY"));
  variables_["VAULT_ADDR"] = "http://vault.example:8200";
  EXPECT_THAT(said(), HasSubstr("unencrypted; expected https"));
  variables_["VAULT_ADDR"] = "http://127.0.0.1.example:8200";
  EXPECT_THAT(said(), HasSubstr("unencrypted; expected https"));
  variables_["VAULT_ADDR"] = "";
  EXPECT_THAT(said(), HasSubstr("VAULT_ADDR"));
  variables_.clear();
  variables_["VAULT_TOKEN_FILE"] = world_.folder.Put("open", kToken, 0644).string();
  EXPECT_THAT(said(), HasSubstr("others may read it"));
  variables_["VAULT_TOKEN_FILE"] = "/nowhere/token";
  variables_["VAULT_TOKEN"] = kToken;
  EXPECT_THAT(said(), testing::AllOf(HasSubstr("VAULT_TOKEN is not read"), Not(HasSubstr(kToken))));
  variables_["VAULT_TOKEN_FILE"] = world_.folder.Put("blank", "a b\n").string();
  EXPECT_THAT(said(), HasSubstr("has a blank"));
  const auto signer = OpenSigner("vault:transit/lab", "phrase");
  ASSERT_FALSE(signer.ok());
  EXPECT_THAT(signer.error().message, HasSubstr("--passphrase-file opens a PEM file"));
}

}  // namespace
}  // namespace rharness
