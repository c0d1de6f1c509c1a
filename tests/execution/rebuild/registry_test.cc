// An image at a real registry: had while it is there, gone once its manifest is deleted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/rebuild/rebuild.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST(RebuildRegistry, IsAskedForAnImageThatNoEngineHasHere) {
  ContainerWorld world;
  if (!world.ready()) GTEST_SKIP() << "no containers here: " << world.problem();
  Manifest manifest;
  manifest.run_id = "r";
  manifest.image = {.kind = ImageKind::kOci,
                    .registry = world.registry(),
                    .repository = "ml/tiny",
                    .tag = "1",
                    .digest = world.first().digest};
  const auto ask = [&](bool network) {
    RebuildOptions options;
    options.network = network;
    return Rebuilder(options).Ask(manifest).parts.at(0);
  };
  EXPECT_EQ(ask(false).state, PartState::kUnknown);
  EXPECT_THAT(ask(false).why, HasSubstr("--network"));
  EXPECT_EQ(ask(true).state, PartState::kHad) << ask(true).why;
  manifest.image.digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(ask(true).state, PartState::kGone) << ask(true).why;
  manifest.image.repository = "ml/nothing";
  EXPECT_EQ(ask(true).state, PartState::kGone) << ask(true).why;
  manifest.image.registry = fmt::format("127.0.0.1:{}", ContainerWorld::FreePort());
  EXPECT_EQ(ask(true).state, PartState::kUnknown) << ask(true).why;

  // An engine that has it is enough, and knows what it is made of.
  manifest.image.registry = world.registry();
  manifest.image.repository = "ml/tiny";
  manifest.image.digest = world.first().digest;
  const ContainerLauncher podman(*FindEngine("podman"));
  EXPECT_EQ(podman.Describe(manifest.image).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(ContainerWorld::Run({"podman", "pull", "--quiet",
                                   world.registry() + "/ml/tiny@" + world.first().digest})
                  .outcome.Succeeded());
  EXPECT_EQ(ask(false).state, PartState::kHad) << ask(false).why;
  const auto facts = podman.Describe(manifest.image);
  ASSERT_TRUE(facts.ok()) << facts.error().ToString();
  ASSERT_EQ(facts->layers.size(), 1u);
  EXPECT_THAT(facts->layers[0], testing::StartsWith("sha256:"));
}

}  // namespace
}  // namespace rharness
