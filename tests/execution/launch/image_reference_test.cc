// Which image references may become part of a command line.
#include "harness/execution/launch/image_reference.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

const std::string kHex(64, 'a');

Image Pinned(std::string registry, std::string repository, std::string digest = "sha256:" + kHex) {
  Image image;
  image.kind = ImageKind::kOci;
  image.registry = std::move(registry);
  image.repository = std::move(repository);
  image.digest = std::move(digest);
  image.tag = "ignored; even $(this)";
  return image;
}

TEST(ImageReference, JoinsRegistryRepositoryAndDigest) {
  const Result<std::string> reference = ImageReference(Pinned("registry.example.org:5000", "ml/a"));
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(*reference, "registry.example.org:5000/ml/a@sha256:" + kHex);
}

TEST(ImageReference, OfAShortNameIsThatOfDockersRegistry) {
  EXPECT_EQ(*ImageReference(Pinned("", "lab/train")), "docker.io/lab/train@sha256:" + kHex);
  EXPECT_EQ(*ImageReference(Pinned("", "train")), "docker.io/library/train@sha256:" + kHex);
  EXPECT_FALSE(ImageReference(Pinned("", "")).ok());
}

TEST(ImageReference, TakesTheNamesOfTheDistributionSpecification) {
  for (const char* repository :
       {"a", "a/b/c", "a.b", "a_b", "a__b", "a-b", "a---b", "0/1", "x9.y-z_w/v"}) {
    EXPECT_TRUE(ImageReference(Pinned("localhost", repository)).ok()) << repository;
  }
  for (const char* registry : {"localhost", "127.0.0.1:5000", "Reg-1.example.org", "h:65535"}) {
    EXPECT_TRUE(ImageReference(Pinned(registry, "a")).ok()) << registry;
  }
}

TEST(ImageReference, RefusesEverythingElse) {
  for (const char* repository :
       {"",   "/",  "a/",  "/a",  "a//b", "A",    "a..b",   "a___b",        "a._b", ".a",
        "a-", "-a", "a b", "a:b", "a@b",  "../a", "a/../b", "--privileged", "a\n",  "\xc3\xa9"}) {
    EXPECT_EQ(ImageReference(Pinned("localhost", repository)).error().code,
              ErrorCode::kInvalidInput)
        << repository;
  }
  for (const char* registry :
       {"-h", "h-", "h:", "h:123456", "h:80a", "h/x", "a..b", "h x", "user@h", "--root=/", "h\n"}) {
    EXPECT_FALSE(ImageReference(Pinned(registry, "a")).ok()) << registry;
  }
  const std::string upper(64, 'A');
  for (const std::string& digest :
       {std::string(), kHex, "sha256:" + kHex.substr(1), "sha256:" + kHex + "a", "sha256:" + upper,
        "sha512:" + kHex, "sha256:" + kHex.substr(1) + "g"}) {
    EXPECT_FALSE(ImageReference(Pinned("localhost", "a", digest)).ok()) << digest;
  }
  Image host = Pinned("localhost", "a");
  host.kind = ImageKind::kHost;
  EXPECT_FALSE(ImageReference(host).ok());
}

TEST(CheckPlatform, TakesTwoOrThreeParts) {
  for (const char* platform : {"", "linux/amd64", "linux/arm64/v8"}) {
    EXPECT_TRUE(CheckPlatform(platform).ok()) << platform;
  }
  for (const char* platform : {"linux", "linux/", "a/b/c/d", "--all", "linux/amd64 x", "/"}) {
    EXPECT_FALSE(CheckPlatform(platform).ok()) << platform;
  }
}

}  // namespace
}  // namespace rharness
