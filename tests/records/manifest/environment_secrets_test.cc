// What is written in the place of a value, and with which key.
#include "harness/records/manifest/environment_secrets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

TEST(Secrets, AreNamesAndValuesThatSpeakOfThem) {
  for (const char* name :
       {"JAX_SERVICE_TOKEN", "TORCH_hub_password", "NCCL_MY_KEY", "A_SECRET", "MY_CREDENTIALS",
        "DB_PASSWD", "openai_api_key", "hfToken", "APIKey", "AWS_ACCESS_KEY_ID", "client-secret",
        "token", "optim/auth_token", "DB_PASS", "mysqlPwd", "smtp.pass"}) {
    EXPECT_TRUE(NamesSecret(name)) << name;
  }
  for (const char* name : {"OMP_NUM_THREADS",
                           "max_tokens",
                           "tokenizer",
                           "num_key_value_heads",
                           "pad_token_id",
                           "TOKENIZERS_PARALLELISM",
                           "pad_token",
                           "bosToken",
                           "sort_key",
                           "keyframes",
                           "key_dim",
                           "tokens_per_batch",
                           "monkey",
                           "secretary",
                           "PWD",
                           "OLDPWD",
                           "",
                           "_",
                           "forward_pass",
                           "num_pass",
                           "pass",
                           "bypass"}) {
    EXPECT_FALSE(NamesSecret(name)) << name;
  }
  EXPECT_TRUE(HoldsCredential("https://user:pass@example.org/x"));
  EXPECT_TRUE(HoldsCredential("a,grpc://u:p@h:1"));
  EXPECT_FALSE(HoldsCredential("https://example.org:8080/a@b:c"));
  EXPECT_FALSE(HoldsCredential("https://user@example.org"));
  EXPECT_FALSE(HoldsCredential("https://a-rather-long-name-of-a-team@example.org/x.git"));
  EXPECT_FALSE(HoldsCredential("ssh://0123456789abcdef0123456789abcdef@example.org/x"));
  EXPECT_TRUE(HoldsCredential("https://0123456789abcdef0123456789abcdef@example.org/x.git"));
  EXPECT_FALSE(HoldsCredential("--xla_flag=1"));
  EXPECT_TRUE(HoldsCredential("hf_" + std::string(34, 'a')));
  EXPECT_FALSE(HoldsCredential("hf_model"));
  EXPECT_TRUE(HoldsCredential("a=" + std::string("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl")));
  EXPECT_FALSE(HoldsCredential("eyJhbGciOiJI.eyJz"));
  EXPECT_TRUE(HoldsCredential("-----BEGIN EC PRIVATE KEY-----\n"));
}

TEST(Secrets, AreNoTruthValuesAndNoNumbersButPasswords) {
  EXPECT_TRUE(IsSecret("auth_token", "abc"));
  EXPECT_FALSE(IsSecret("auth_token", "False"));
  EXPECT_FALSE(IsSecret("auth_token", "1.5e3"));
  EXPECT_FALSE(IsSecret("auth_token", ""));
  EXPECT_TRUE(IsSecret("db_password", "1234"));
  EXPECT_FALSE(IsSecret("db_password", "none"));
}

// RFC 4231, test cases 2 and 6.
TEST(Secrets, HaveTheKeyedDigestOfTheStandard) {
  const auto digest = [](const std::string& key, const std::string& text) {
    const std::string note = KeyedNote(key, text);
    return note.substr(note.rfind(':') + 1);
  };
  EXPECT_EQ(digest("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      digest(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secrets, SayByWhichKeyTheyAreKept) {
  const std::string one = KeyedNote("key one", "v"), same = KeyedNote("key one", "w"),
                    two = KeyedNote("key two", "v");
  EXPECT_TRUE(one.starts_with("withheld:hmac-sha256:"));
  EXPECT_EQ(RealmOf(one), RealmOf(same));
  EXPECT_NE(RealmOf(one), RealmOf(two));
  EXPECT_NE(one, same);
  EXPECT_EQ(one.find("key one"), std::string::npos);
  EXPECT_EQ(RealmOf("withheld:redacted"), "redacted");
  EXPECT_EQ(RealmOf("withheld:sha256:" + std::string(64, 'a')), "sha256") << "older records";
  EXPECT_EQ(RealmOf("Haswell"), "");
  EXPECT_TRUE(IsWithheld(one));
  EXPECT_TRUE(IsWithheld("withheld:redacted"));
}

TEST(Secrets, AreKeyedWithAFileOfTheOwnerThatIsMadeOnce) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const fs::path file = folder->path() / "state/rharness/environment.key";
  const auto key = LoadOrMakeKey(file);
  ASSERT_TRUE(key.ok()) << key.error().ToString();
  EXPECT_TRUE(IsSha256Hex(*key));
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(*LoadOrMakeKey(file), *key);
  EXPECT_NE(*LoadOrMakeKey(folder->path() / "another"), *key);
  ASSERT_TRUE(WriteFileAtomic(file, "short\n").ok());
  EXPECT_EQ(LoadOrMakeKey(file).error().code, ErrorCode::kInvalidInput);
}

TEST(Secrets, AreKeyedDigestsUnlessRedactionIsAskedFor) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  ASSERT_EQ(::setenv("RHARNESS_KEY_FILE", (folder->path() / "key").c_str(), 1), 0);
  EXPECT_EQ(RealmOf(Withheld("JAX_SERVICE_TOKEN", "abc")).substr(0, 4), "key ");
  EXPECT_NE(Withheld("JAX_SERVICE_TOKEN", "abc"), Withheld("JAX_SERVICE_TOKEN", "abd"));
  EXPECT_EQ(Withheld("JAX_CACHE", "/tmp/a"), "/tmp/a");
  EXPECT_EQ(RealmOf(Withheld("JAX_URL", "http://u:p@h/")).substr(0, 4), "key ");
  ASSERT_EQ(::setenv("RHARNESS_SECRETS", "redacted", 1), 0);
  EXPECT_EQ(Withheld("JAX_SERVICE_TOKEN", "abc"), "withheld:redacted");
  EXPECT_EQ(RealmOf(Withheld("JAX_URL", "http://u:p@h/")).substr(0, 4), "key ");
  ASSERT_EQ(::unsetenv("RHARNESS_SECRETS"), 0);
}

}  // namespace
}  // namespace rharness
