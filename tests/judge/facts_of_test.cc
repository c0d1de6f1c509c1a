// Which fields of a record are facts, and which are known not to be known.
#include "harness/judge/facts_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/records/manifest/environment_secrets.h"

namespace rharness {
namespace {

using Texts = std::vector<std::string>;

// A run as a record of before has it: variables and a digest, and no packages.
Manifest RecordedBefore() {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.image.packages_sha256 = std::string(64, 'a');
  manifest.environment.variables["OMP_NUM_THREADS"] = "1";
  manifest.environment.software["glibc"] = "2.36";
  return manifest;
}

Environment WithPackages(Environment environment, const std::string& jax,
                         const std::string& numpy) {
  environment.packages["python"] = {{"jax", {jax, PackageUse::kNotKnown}},
                                    {"numpy", {numpy, PackageUse::kUsed}}};
  environment.packages["dpkg"] = {{"htop:amd64", {"3", PackageUse::kNotUsed}}};
  return environment;
}

Evidence Seen(const Environment& environment) {
  Evidence evidence;
  evidence.environment = environment;
  evidence.environment.software["host_packages"] = std::string(64, 'a');
  return evidence;
}

LayerComparison Compared(const Manifest& manifest, const Evidence& evidence) {
  return CompareFacts(FactsOf(manifest), FactsOf(evidence, manifest))[2];
}

TEST(FactsAsRerun, WhatTheDrillOverridesWouldHaveBeenUnset) {
  const Manifest manifest = RecordedBefore();
  Evidence evidence = Seen(manifest.environment);
  evidence.environment.variables["BATCH"] = "2";
  evidence.environment.variables["OMP_NUM_THREADS"] = "4";
  for (const char* name : {"BATCH", "OMP_NUM_THREADS"}) {
    evidence.remarks.push_back(
        {.code = std::string(kEnvironmentOverridden), .subject = std::string("variable ") + name});
  }
  const LayerComparison layer =
      CompareFacts(FactsAsRerun(manifest, evidence), FactsOf(evidence, manifest))[2];
  ASSERT_EQ(layer.differences.size(), 2u);
  const auto batch = std::ranges::find(layer.differences, "variable.BATCH", &FactDifference::key);
  ASSERT_NE(batch, layer.differences.end());
  EXPECT_EQ(batch->recorded, std::nullopt);
  EXPECT_EQ(batch->observed, "2");
  const auto threads =
      std::ranges::find(layer.differences, "variable.OMP_NUM_THREADS", &FactDifference::key);
  ASSERT_NE(threads, layer.differences.end());
  EXPECT_EQ(threads->recorded, "1");
}

TEST(FactsOf, ARecordWithoutPackagesAreNotKnownAndNeverTheSame) {
  const Manifest manifest = RecordedBefore();
  const LayerComparison layer =
      Compared(manifest, Seen(WithPackages(manifest.environment, "0.4.35", "2.4.6")));
  EXPECT_EQ(layer.state, LayerState::kPartlyKnown);
  EXPECT_EQ(layer.not_known, Texts{"Python packages not recorded"})
      << "the host's are known by their digest";
  EXPECT_TRUE(layer.differences.empty());
}

TEST(FactsOf, ARecordWithPackagesNameThoseThatChanged) {
  Manifest manifest = RecordedBefore();
  const Environment plain = manifest.environment;
  manifest.environment = WithPackages(plain, "0.10.2", "1.26.4");
  EXPECT_EQ(Compared(manifest, Seen(manifest.environment)).state, LayerState::kSame);
  const LayerComparison layer = Compared(manifest, Seen(WithPackages(plain, "0.4.35", "2.4.6")));
  ASSERT_EQ(layer.state, LayerState::kDiffers);
  ASSERT_EQ(layer.differences.size(), 2u);
  EXPECT_EQ(layer.differences[0].key, "package.python.numpy");
  EXPECT_EQ(layer.differences[0].recorded, "1.26.4");
  EXPECT_EQ(layer.differences[0].observed, "2.4.6");
  EXPECT_EQ(layer.differences[0].use, FactUse::kUsed);
  EXPECT_EQ(layer.differences[1].key, "package.python.jax");
}

TEST(FactsOf, HowAMachineIsPutTogetherExplainsAndIsNeverDifferentWhereItIsNotKnown) {
  Manifest manifest = RecordedBefore();
  manifest.resources.gpus = 2;
  Hardware& recorded = manifest.environment.hardware;
  recorded.cpu = {.architecture = "x86_64", .numa_nodes = 2};
  recorded.gpus.resize(2);
  for (Gpu& gpu : recorded.gpus) gpu.model = "A100";
  Evidence seen = Seen(manifest.environment);
  Hardware& here = seen.environment.hardware;
  here.cpu = {.architecture = "x86_64",
              .numa_nodes = 4,
              .sockets = 2,
              .cores_per_socket = 64,
              .l3_bytes = 32 << 20};
  here.gpus[0].numa_node = 0;
  here.gpus[1].numa_node = 1;
  here.pcie_order = "0 | 1";
  const auto layer = [&] {
    const auto layers = CompareFacts(FactsOf(manifest), FactsOf(seen, manifest));
    return *std::ranges::find(layers, Layer::kHardware, &LayerComparison::layer);
  };
  const auto keys = [&] {
    Texts names;
    for (const FactDifference& one : layer().differences) {
      EXPECT_EQ(one.weight, FactWeight::kContext) << one.key;
      names.push_back(one.key);
    }
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(keys(), Texts{"cpu.numa_nodes"}) << "all that a record of before says";
  recorded = here;
  recorded.cpu.l3_bytes = 16 << 20;
  recorded.gpus[1].numa_node = 0;
  recorded.pcie_order = "0 1";
  EXPECT_EQ(keys(), (Texts{"cpu.l3", "gpu.numa_nodes", "gpu.pcie_order"}));
  manifest.resources.gpus = 1;
  EXPECT_EQ(keys(), Texts{"cpu.l3"}) << "one GPU is near to itself";
  recorded.cpu = {.architecture = "x86_64"};  // no hwloc was there
  EXPECT_EQ(layer().state, LayerState::kSame);
}

TEST(FactsOf, TheNetworkOfARunOverSeveralNodesIsOfItsClass) {
  Manifest manifest = RecordedBefore();
  manifest.gang = Gang{.nodes = 2};
  Hardware& recorded = manifest.environment.hardware;
  recorded.fabric.emplace(2, FabricPort{.type = "MT4129",
                                        .firmware = "28.39.1002",
                                        .link = "InfiniBand",
                                        .rate = "400 Gb/sec (4X NDR)"});
  Evidence seen = Seen(manifest.environment);
  const auto hardware = [&] {
    const auto layers = CompareFacts(FactsOf(manifest), FactsOf(seen, manifest));
    return *std::ranges::find(layers, Layer::kHardware, &LayerComparison::layer);
  };
  const auto find = [&](std::string_view key) {
    const auto all = hardware().differences;
    const auto found = std::ranges::find(all, key, &FactDifference::key);
    return found == all.end() ? std::nullopt : std::optional(*found);
  };
  EXPECT_FALSE(find("fabric.adapters"));
  EXPECT_EQ(hardware().not_known, Texts{});
  std::optional<std::vector<FabricPort>>& here = seen.environment.hardware.fabric;
  here->pop_back();
  (*here)[0].firmware = "28.40.1000";
  ASSERT_TRUE(find("fabric.adapters"));
  EXPECT_EQ(find("fabric.adapters")->weight, FactWeight::kClass);
  EXPECT_EQ(find("fabric.firmware")->weight, FactWeight::kContext);
  here->clear();
  ASSERT_TRUE(find("fabric.adapters"));
  EXPECT_EQ(find("fabric.adapters")->weight, FactWeight::kClass);
  EXPECT_EQ(find("fabric.adapters")->observed, "none");
  here.reset();
  EXPECT_FALSE(find("fabric.adapters"));
  EXPECT_EQ(hardware().not_known, Texts{"network adapters not observed"});
  std::swap(here, manifest.environment.hardware.fabric);
  EXPECT_EQ(hardware().not_known, Texts{"network adapters not recorded"});
  manifest.gang.reset();
  EXPECT_FALSE(find("fabric.adapters")) << "one node has none between its nodes";
  EXPECT_EQ(hardware().not_known, Texts{});
}

TEST(FactsOf, ARunInAnImageAreKnownByTheImage) {
  Manifest manifest = RecordedBefore();
  manifest.image.kind = ImageKind::kOci;
  manifest.image.digest = "sha256:a";
  Evidence evidence = Seen(manifest.environment);
  evidence.image_digest = "sha256:a";
  EXPECT_EQ(Compared(manifest, evidence).state, LayerState::kSame);
}

TEST(FactsOf, AWithheldValueAreComparedByOneKeyAlone) {
  Manifest manifest = RecordedBefore();
  manifest.environment = WithPackages(manifest.environment, "1", "1");
  manifest.environment.variables["JAX_URL"] = KeyedNote("one", "http://u:p@h");
  Evidence evidence = Seen(manifest.environment);
  EXPECT_EQ(Compared(manifest, evidence).state, LayerState::kSame);
  evidence.environment.variables["JAX_URL"] = KeyedNote("one", "http://u:q@h");
  EXPECT_EQ(Compared(manifest, evidence).state, LayerState::kDiffers);
  evidence.environment.variables["JAX_URL"] = KeyedNote("two", "http://u:p@h");
  EXPECT_EQ(Compared(manifest, evidence).state, LayerState::kPartlyKnown);
  EXPECT_EQ(Compared(manifest, evidence).not_known,
            Texts{"JAX_URL (its value is not written down)"});
}

TEST(FactsOf, AnEmptyRecordSayThatTheVariablesAreNotKnown) {
  const LayerComparison layer = Compared(Manifest{}, Seen(WithPackages({}, "1", "1")));
  EXPECT_EQ(layer.not_known,
            (Texts{"the host's packages not recorded", "Python packages not recorded",
                   "environment variables not recorded"}));
}

// A run under observation: one library, of a package of this version; one undeclared file.
Observation Observed(const std::string& seed, const std::string& library,
                     const std::string& version) {
  Observation seen;
  seen.means = {"maps", "preload", "python"};
  seen.seeds = {{"random.seed", {seed}}};
  seen.flags = {{"torch.backends.cudnn.benchmark", "False"}, {"torch.num_threads", "4"}};
  seen.libraries = {{.path = library,
                     .soname = "libopenblas.so.0",
                     .build_id = "ab",
                     .size_bytes = 1,
                     .manager = "python",
                     .package = "numpy",
                     .version = version}};
  seen.inputs = {{.path = "config.yaml", .sha256 = "aa", .size_bytes = 3}};
  return seen;
}

std::vector<std::string> KeysOf(const LayerComparison& layer) {
  Texts keys;
  for (const FactDifference& difference : layer.differences) {
    EXPECT_EQ(difference.weight, FactWeight::kContext) << difference.key;
    keys.push_back(difference.key);
  }
  return keys;
}

std::array<LayerComparison, 5> AllLayers(const Manifest& manifest, const Evidence& evidence) {
  return CompareFacts(FactsAsRerun(manifest, evidence), FactsOf(evidence, manifest));
}

TEST(ObservedFacts, CompareWhatWasSeenWithWhatWasSeen) {
  Manifest manifest = RecordedBefore();
  manifest.seeds["init"] = 1;
  manifest.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1");
  Evidence evidence = Seen(manifest.environment);
  evidence.seeds["init"] = 1;
  evidence.observation = manifest.observation;
  for (const LayerComparison& layer : AllLayers(manifest, evidence)) {
    EXPECT_EQ(KeysOf(layer), Texts{});
  }
  evidence.observation = Observed("2", "/first/libopenblas.so.0", "1");
  evidence.observation->flags["torch.backends.cudnn.benchmark"] = "True";
  evidence.observation->flags["torch.num_threads"] = "8";
  evidence.observation->inputs->clear();
  const auto layers = AllLayers(manifest, evidence);
  EXPECT_EQ(KeysOf(layers[0]), Texts{"input.config.yaml"}) << "not read again";
  EXPECT_EQ(KeysOf(layers[2]), (Texts{"library.libopenblas.so.0", "flag.torch.num_threads"}));
  EXPECT_EQ(layers[2].differences[0].recorded, "/usr/lib/libopenblas.so.0, build id ab");
  EXPECT_EQ(KeysOf(layers[4]),
            (Texts{"flag.torch.backends.cudnn.benchmark", "seed_set.random.seed"}));
}

// In an image nothing is looked at, which is no list without entries.
TEST(ObservedFacts, OfARerunInAnImageAreToldNotToBeKnown) {
  Manifest manifest = RecordedBefore();
  manifest.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1");
  Evidence evidence = Seen(manifest.environment);
  evidence.observation.emplace().unseen = {"what runs in an image"};
  const auto layers = AllLayers(manifest, evidence);
  EXPECT_THAT(layers[2].not_known,
              testing::Contains(
                  "what the run uses in its image (libraries, variables, files) not observed"));
  for (const LayerComparison& layer : layers) EXPECT_EQ(KeysOf(layer), Texts{});
}

TEST(ObservedFacts, OfLibrariesInAnImageAreTheirBuildIdsWhereverTheyLie) {
  Manifest manifest = RecordedBefore();
  manifest.image.kind = ImageKind::kOci;
  manifest.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1");
  Evidence evidence = Seen(manifest.environment);
  evidence.observation = Observed("1", "/opt/lib/libopenblas.so.0", "1");
  EXPECT_EQ(KeysOf(AllLayers(manifest, evidence)[2]), Texts{});
  evidence.observation->libraries[0].build_id = "ef";
  const auto layers = AllLayers(manifest, evidence);
  EXPECT_EQ(KeysOf(layers[2]), Texts{"library.libopenblas.so.0"});
  EXPECT_EQ(layers[2].differences[0].observed, "build id ef");
}

TEST(ObservedFacts, OfOneSideAloneAreNoDifferenceAndNothingThatIsNotKnown) {
  Manifest manifest = RecordedBefore();
  Evidence evidence = Seen(manifest.environment);
  const auto before = AllLayers(manifest, evidence);
  evidence.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1");
  const auto seen_again = AllLayers(manifest, evidence);
  evidence.observation.reset();
  manifest.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1");
  const auto recorded = AllLayers(manifest, evidence);
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const LayerComparison* layer : {&seen_again[i], &recorded[i]}) {
      EXPECT_EQ(layer->state, before[i].state) << i;
      EXPECT_EQ(layer->not_known, before[i].not_known) << i;
      EXPECT_EQ(KeysOf(*layer), Texts{}) << i;
    }
  }
}

TEST(ObservedFacts, ALibraryOfAPackageThatChangedIsToldByThePackage) {
  Manifest manifest = RecordedBefore();
  manifest.observation = Observed("1", "/usr/lib/libopenblas.so.0", "1.26.4");
  const Environment plain = manifest.environment;
  manifest.environment = WithPackages(plain, "0.10.2", "1.26.4");
  Evidence evidence = Seen(WithPackages(plain, "0.10.2", "2.4.6"));
  evidence.observation = Observed("1", "/usr/lib/libopenblas-2.so.0", "2.4.6");
  EXPECT_EQ(KeysOf(AllLayers(manifest, evidence)[2]), Texts{"package.python.numpy"});
}

TEST(FactsOf, EqualPackageListsAreComparedWithoutALookAtThem) {
  Manifest manifest = RecordedBefore();
  manifest.environment = WithPackages(manifest.environment, "0.4", "1.26");
  const Evidence evidence = Seen(WithPackages(RecordedBefore().environment, "0.4", "1.26"));
  const auto bundle = [](const std::vector<Fact>& facts) {
    return std::ranges::find(facts, "package.python.", &Fact::key)->bundle;
  };
  const auto recorded = FactsOf(manifest), seen = FactsOf(evidence, manifest);
  ASSERT_NE(bundle(recorded), nullptr);
  EXPECT_EQ(bundle(recorded), bundle(seen));
  EXPECT_EQ(Compared(manifest, evidence).state, LayerState::kSame);
}

TEST(FactsOf, ARecordWithoutHashesDiffersFromNoneThatHasThem) {
  Manifest manifest = RecordedBefore();
  manifest.environment = WithPackages(manifest.environment, "0.4", "1.26");
  Environment now = WithPackages(RecordedBefore().environment, "0.4", "1.26");
  const auto with_digest = [](char digit) {
    return PackageList(
        {{"jax", {"0.4", PackageUse::kNotKnown}},
         {"numpy", {"1.26", PackageUse::kUsed, "sha256:" + std::string(64, digit)}}});
  };
  now.packages["python"] = with_digest('a');
  EXPECT_EQ(Compared(manifest, Seen(now)).state, LayerState::kSame);
  manifest.environment.packages["python"] = with_digest('b');
  const LayerComparison layer = Compared(manifest, Seen(now));
  ASSERT_EQ(layer.differences.size(), 1u);
  EXPECT_EQ(layer.differences[0].key, "package.python.numpy");
  EXPECT_EQ(layer.differences[0].recorded, "1.26 (sha256 bbbbbbbbbbbb...)");
}

TEST(FactsOf, AChangedLockFileIsADifferenceOfTheEnvironmentByItsName) {
  Manifest manifest = RecordedBefore();
  Evidence evidence = Seen(manifest.environment);
  manifest.environment.lock_files["uv.lock"] = std::string(64, 'a');
  EXPECT_TRUE(Compared(manifest, evidence).differences.empty()) << "not looked at";
  evidence.environment.lock_files["uv.lock"] = std::string(64, 'b');
  const LayerComparison layer = Compared(manifest, evidence);
  ASSERT_EQ(layer.differences.size(), 1u);
  EXPECT_EQ(layer.differences[0].key, "lock_file.uv.lock");
}

}  // namespace
}  // namespace rharness
