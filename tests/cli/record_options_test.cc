// The words of `rharness record`: images, metrics and pairs.
#include "harness/cli/record_options.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(RecordImage, IsSplitIntoItsParts) {
  struct {
    std::string text, registry, repository, tag;
  } const cases[] = {
      {"ml/train:1", "docker.io", "ml/train", "1"},
      {"train", "docker.io", "library/train", ""},
      {"docker.io/train:1", "docker.io", "library/train", "1"},
      {"index.docker.io/ml/train", "docker.io", "ml/train", ""},
      {"Registry/ml/train", "Registry", "ml/train", ""},
      {"localhost/train", "localhost", "train", ""},
      {"registry.example.org/ml/train:2", "registry.example.org", "ml/train", "2"},
      {"registry:5000/train", "registry:5000", "train", ""},
      {"registry:5000/train:x", "registry:5000", "train", "x"},
  };
  for (const auto& c : cases) {
    const auto image = ParseImage(c.text + "@" + kDigest);
    ASSERT_TRUE(image.ok()) << c.text;
    EXPECT_EQ(image->registry, c.registry) << c.text;
    EXPECT_EQ(image->repository, c.repository) << c.text;
    EXPECT_EQ(image->tag, c.tag) << c.text;
    EXPECT_EQ(image->digest, kDigest);
    EXPECT_EQ(image->kind, ImageKind::kOci);
  }
}

TEST(RecordImage, IsAFileWhereItIsAPath) {
  struct {
    std::string text, location, digest;
  } const cases[] = {
      {"/images/train.sif", "/images/train.sif", ""},
      {"train.sif", "train.sif", ""},
      {"./train", "./train", ""},
      {"../a@b/train.sqsh", "../a@b/train.sqsh", ""},
      {"train.squashfs@" + kDigest, "train.squashfs", kDigest},
      {"/images/train@" + kDigest, "/images/train", kDigest},
  };
  for (const auto& c : cases) {
    const auto image = ParseImage(c.text);
    ASSERT_TRUE(image.ok()) << c.text << ": " << image.error().ToString();
    EXPECT_NE(image->kind, ImageKind::kOci) << c.text;
    EXPECT_EQ(image->location, c.location);
    EXPECT_EQ(image->digest, c.digest) << c.text;
    EXPECT_EQ(image->repository, "");
  }
}

TEST(RecordImage, NeedsADigestAndAName) {
  EXPECT_FALSE(ParseImage("ml/train:1").ok());
  EXPECT_FALSE(ParseImage("ml/train@md5:00").ok());
  EXPECT_FALSE(ParseImage("@" + kDigest).ok());
  EXPECT_FALSE(ParseImage("ml/Train@" + kDigest).ok()) << "which no engine takes";
  EXPECT_FALSE(ParseImage("train.sif@sha256:").ok());
  EXPECT_FALSE(ParseImage("train.sif@sha256:ABC").ok());
  EXPECT_FALSE(ParseImage("ml/train@sha256:12").ok());
  EXPECT_FALSE(ParseImage("docker://registry/train@" + kDigest).ok());
  EXPECT_FALSE(ParseImage("ml/train@" + kDigest + "@" + kDigest).ok());
}

TEST(RecordMetric, ReadsEveryField) {
  const auto metric = ParseMetric("f1,direction=lower,unit=nat,margin=1e-3,quantum=0.5,primary");
  ASSERT_TRUE(metric.ok());
  EXPECT_EQ(metric->name, "f1");
  EXPECT_EQ(metric->direction, MetricDirection::kLower);
  EXPECT_EQ(metric->unit, "nat");
  EXPECT_EQ(metric->margin, 1e-3);
  EXPECT_EQ(metric->quantum, 0.5);
  EXPECT_TRUE(metric->primary);
  EXPECT_EQ(ParseMetric("loss")->unit, "1");
}

TEST(RecordMetric, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", ",primary", "f1,direction=up", "f1,margin=0", "f1,margin=x",
                           "f1,quantum=-1", "f1,unit=", "f1,prime", "f1,"}) {
    EXPECT_FALSE(ParseMetric(text).ok()) << text;
  }
}

TEST(RecordRequest, TakesNamesFromPaths) {
  RecordArguments arguments;
  arguments.out = "runs/a7.json";
  arguments.data = {"sets/digits.csv", "all=./sets//", "a/b=c", "/srv/x/../y"};
  const auto request = BuildRequest(arguments);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->run_id, "a7");
  ASSERT_EQ(request->data.size(), 4u);
  EXPECT_EQ(request->data[0].name, "digits.csv");
  EXPECT_EQ(request->data[1].name, "all");
  EXPECT_EQ(request->data[1].path, "sets");
  EXPECT_EQ(request->data[2].path, "a/b=c");
  EXPECT_EQ(request->data[3].path, "/srv/y");
}

TEST(RecordRequest, RefusesPairsWithoutName) {
  for (const char* text : {"7", "=7", "init=7.5", "init=", "init=99999999999999999999"}) {
    RecordArguments arguments;
    arguments.seeds = {text};
    EXPECT_FALSE(BuildRequest(arguments).ok()) << text;
  }
}

TEST(BuildManifest, JoinsDeclaredAndMeasuredMetricsAndSources) {
  RecordRequest request;
  request.seeds = {{"init", 1}};
  request.rng_sources = {"cuda", "init"};
  Metric declared;
  declared.name = "z";
  declared.primary = true;
  request.metrics = {declared};
  Recording recording;
  recording.outcome.kind = OutcomeKind::kExited;
  recording.metrics.metrics = {{"a", 1.0}, {"z", 2.0}};
  const Manifest manifest = BuildManifest(request, recording);
  EXPECT_EQ(manifest.rng_sources, (std::vector<std::string>{"init", "cuda"}));
  ASSERT_EQ(manifest.metrics.size(), 2u);
  EXPECT_EQ(manifest.metrics[0].name, "z");
  EXPECT_EQ(manifest.metrics[0].value, 2.0);
  EXPECT_EQ(manifest.metrics[1].name, "a");
  EXPECT_TRUE(manifest.notes.empty());
}

}  // namespace
}  // namespace rharness
