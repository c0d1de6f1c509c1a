// Replies as podman 4.3 and docker print them, shortened, and what is made of them.
#include "harness/execution/launch/engine_reply.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;

const std::string kPinned = "sha256:" + std::string(64, '1');
const std::string kOther = "sha256:" + std::string(64, '2');
const std::string kId(64, '3');

Image PinnedImage() {
  Image image;
  image.kind = ImageKind::kOci;
  image.registry = "localhost";
  image.repository = "a";
  image.digest = kPinned;
  return image;
}

std::string ImageReply(const std::string& digest, const std::string& repository_digest) {
  return fmt::format(R"([{{"Id": "{}", "Digest": "{}", "RepoDigests": ["localhost/a@{}"]}}])", kId,
                     digest, repository_digest);
}

TEST(ProveImage, FindsThePinnedDigestInEitherPlace) {
  for (const std::string& reply : {ImageReply(kPinned, kOther), ImageReply(kOther, kPinned)}) {
    const Result<ImageProof> proof = ProveImage(reply, PinnedImage());
    ASSERT_TRUE(proof.ok()) << proof.error().ToString();
    EXPECT_EQ(proof->digest, kPinned);
    EXPECT_EQ(proof->image_id, "sha256:" + kId);
  }
}

TEST(ProveImage, DockerTellsNoDigestOfItsOwn) {
  const std::string reply =
      fmt::format(R"([{{"Id": "sha256:{}", "RepoDigests": ["x/a@{}", "localhost/a@{}"]}}])", kId,
                  kOther, kPinned);
  ASSERT_TRUE(ProveImage(reply, PinnedImage()).ok());
  EXPECT_EQ(ProveImage(reply, PinnedImage())->image_id, "sha256:" + kId);
}

TEST(ProveImage, AnotherDigestIsAnIntegrityError) {
  const Result<ImageProof> proof = ProveImage(ImageReply(kOther, kOther), PinnedImage());
  EXPECT_EQ(proof.error().code, ErrorCode::kIntegrity);
  EXPECT_THAT(proof.error().message, HasSubstr(kPinned));
}

TEST(ProveImage, NothingIsNotFoundAndNonsenseIsAProcessError) {
  EXPECT_EQ(ProveImage("[]\n", PinnedImage()).error().code, ErrorCode::kNotFound);
  for (const char* reply : {"", "{}", "[{}]", "[1]", "[{}, {}]", "Error: no"}) {
    EXPECT_EQ(ProveImage(reply, PinnedImage()).error().code, ErrorCode::kProcess) << reply;
  }
}

std::string ContainerReply(const std::string& status, int code) {
  return fmt::format(
      R"([{{"Image": "{}", "State": {{"Status": "{}", "ExitCode": {}, "OOMKilled": false}}}}])",
      kId, status, code);
}

TEST(ParseContainerInspect, TellsTheStatesApart) {
  for (const auto& [status, running, ended] :
       {std::tuple("exited", false, true), std::tuple("running", true, false),
        std::tuple("paused", true, false), std::tuple("created", false, false)}) {
    const Result<std::optional<ContainerState>> state =
        ParseContainerInspect(ContainerReply(status, 5));
    ASSERT_TRUE(state.ok() && *state) << status;
    EXPECT_EQ((*state)->running, running) << status;
    EXPECT_EQ((*state)->ended, ended) << status;
    EXPECT_EQ((*state)->exit_code, 5);
    EXPECT_EQ((*state)->image_id, "sha256:" + kId);
  }
  EXPECT_FALSE(ParseContainerInspect("[]")->has_value());
  EXPECT_EQ(ParseContainerInspect("[{}]").error().code, ErrorCode::kProcess);
}

ProcessResult Failed(const std::string& message) {
  ProcessResult result;
  result.outcome.kind = OutcomeKind::kExited;
  result.outcome.exit_code = 125;
  result.stderr_text = message;
  return result;
}

TEST(ExplainPullFailure, SeparatesAbsenceFromInfrastructure) {
  const Image image = PinnedImage();
  for (const char* absent :
       {"Trying to pull\nError: reading manifest: manifest unknown: manifest unknown\n",
        "Error: name unknown: repository name not known to registry",
        "Error response from daemon: manifest for x not found: manifest unknown: gone"}) {
    EXPECT_EQ(ExplainPullFailure(image, Failed(absent)).code, ErrorCode::kNotFound) << absent;
  }
  for (const char* down : {"dial tcp 127.0.0.1:5000: connect: connection refused", "no such host",
                           "unauthorized: authentication required", "no space left on device",
                           "received unexpected HTTP status: 503 Service Unavailable", ""}) {
    EXPECT_EQ(ExplainPullFailure(image, Failed(down)).code, ErrorCode::kProcess) << down;
  }
  ProcessResult late = Failed("");
  late.outcome.kind = OutcomeKind::kTimedOut;
  EXPECT_EQ(ExplainPullFailure(image, late).code, ErrorCode::kTimeout);
  EXPECT_THAT(ExplainPullFailure(image, Failed("a\nthe reason\n")).message,
              HasSubstr("the reason"));
}

Outcome Client(OutcomeKind kind, int code = 0) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.exit_code = code;
  return outcome;
}

ContainerState Ended(int code, bool out_of_memory = false) {
  ContainerState state;
  state.ended = true;
  state.exit_code = code;
  state.out_of_memory = out_of_memory;
  return state;
}

Outcome Decide(Outcome outcome, const std::optional<ContainerState>& container,
               bool memory_limited = false) {
  DecideOutcome("podman", container, memory_limited, &outcome);
  return outcome;
}

TEST(DecideOutcome, TheContainersExitCodeBeatsTheClients) {
  const Outcome outcome = Decide(Client(OutcomeKind::kExited, 0), Ended(7));
  EXPECT_EQ(outcome.kind, OutcomeKind::kExited);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(Decide(Client(OutcomeKind::kSignalled), Ended(0)).kind, OutcomeKind::kExited);
  EXPECT_EQ(Decide(Client(OutcomeKind::kExited, 125), Ended(125)).exit_code, 125);
}

TEST(DecideOutcome, MemoryIsToldByTheFlagOrByTheCodeAtALimit) {
  const Outcome client = Client(OutcomeKind::kExited, 137);
  EXPECT_EQ(Decide(client, Ended(137), true).kind, OutcomeKind::kMemoryLimit);
  EXPECT_EQ(Decide(client, Ended(1, true), false).kind, OutcomeKind::kMemoryLimit);
  EXPECT_EQ(Decide(client, Ended(137), false).kind, OutcomeKind::kExited);
  EXPECT_EQ(Decide(client, Ended(139), true).kind, OutcomeKind::kExited);
}

TEST(DecideOutcome, WhatTheEngineCouldNotStartIsNotTheJobs) {
  EXPECT_EQ(Decide(Client(OutcomeKind::kExited, 125), std::nullopt).kind, OutcomeKind::kNotStarted);
  EXPECT_EQ(Decide(Client(OutcomeKind::kExited, 125), ContainerState{}).kind,
            OutcomeKind::kNotStarted);
  EXPECT_EQ(Decide(Client(OutcomeKind::kExited, 0), std::nullopt).kind, OutcomeKind::kNotStarted);
  for (const int code : {126, 127}) {
    const Outcome outcome = Decide(Client(OutcomeKind::kExited, code), ContainerState{});
    EXPECT_EQ(outcome.kind, OutcomeKind::kExited);
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_THAT(outcome.detail, HasSubstr("in the image"));
  }
}

TEST(DecideOutcome, AClientThatDiesBeforeItsContainerLosesIt) {
  ContainerState running;
  running.running = true;
  EXPECT_EQ(Decide(Client(OutcomeKind::kSignalled), running).kind, OutcomeKind::kLost);
}

TEST(DecideOutcome, LimitsOfRharnessStay) {
  for (const OutcomeKind kind : {OutcomeKind::kTimedOut, OutcomeKind::kCancelled,
                                 OutcomeKind::kDiskLimit, OutcomeKind::kMemoryLimit}) {
    EXPECT_EQ(Decide(Client(kind), Ended(137), true).kind, kind);
    EXPECT_EQ(Decide(Client(kind), std::nullopt).kind, kind);
  }
}

TEST(ParseImageFacts, ReadsLayersAndTheLabelsOfTheBase) {
  Image image;
  image.kind = ImageKind::kOci;
  image.digest = "sha256:" + std::string(64, 'a');
  const std::string json = R"([{"Id": "x", "Digest": ")" + image.digest + R"(",
      "RootFS": {"Type": "layers", "Layers": ["sha256:1", "sha256:2"]},
      "Config": {"Labels": {"org.opencontainers.image.base.name": "docker.io/library/debian:12",
                            "org.opencontainers.image.base.digest": "sha256:3"}}}])";
  const auto facts = ParseImageFacts(json, image);
  ASSERT_TRUE(facts.ok()) << facts.error().ToString();
  EXPECT_EQ(facts->layers, (std::vector<std::string>{"sha256:1", "sha256:2"}));
  EXPECT_EQ(facts->base_name, "docker.io/library/debian:12");
  EXPECT_EQ(facts->base_digest, "sha256:3");
  image.digest = "sha256:" + std::string(64, 'b');
  EXPECT_EQ(ParseImageFacts(json, image).error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(ParseImageFacts("[]", image).error().code, ErrorCode::kNotFound);
  // What an engine leaves out, or writes as null, is not known.
  const auto bare = ParseImageFacts(R"([{"Id": "x", "RepoDigests": ["r/i@)" + image.digest +
                                        R"("], "Config": {"Labels": null}}])",
                                    image);
  ASSERT_TRUE(bare.ok()) << bare.error().ToString();
  EXPECT_TRUE(bare->layers.empty());
  EXPECT_EQ(bare->base_name, "");
}

}  // namespace
}  // namespace rharness
