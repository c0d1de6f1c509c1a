// The configuration key: what changes it, what does not, and its value by another implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

std::string KeyAfter(const std::function<void(Manifest&)>& change) {
  Manifest manifest = ExampleManifest();
  change(manifest);
  return ConfigurationKey(manifest);
}

const std::string& OriginalKey() {
  static const std::string key = ConfigurationKey(ExampleManifest());
  return key;
}

// Computed by Python's hashlib over the canonical text that the header describes.
TEST(ConfigurationKey, IsTheSha256OfTheCanonicalText) {
  EXPECT_EQ(OriginalKey(), "3637daca731f994f1c0980051d4aff7e0e5c3524ea6a77629aa73f1679981df4");
}

TEST(ConfigurationKey, DoesNotSeeSeeds) {
  EXPECT_EQ(KeyAfter([](Manifest& m) {
              m.seeds["init"] = 11;
              m.command[3] = "11";
            }),
            OriginalKey());
}

TEST(ConfigurationKey, ReplacesSeedsInBothSpellingsOfAnArgument) {
  const auto joined = [](std::int64_t seed) {
    return KeyAfter([&](Manifest& m) {
      m.seeds["init"] = seed;
      m.command = {"train", "--Data-Seed=" + std::to_string(seed), "seed=" + std::to_string(seed)};
    });
  };
  EXPECT_EQ(joined(3), joined(-4));
}

TEST(ConfigurationKey, ReplacesAHyperparameterThatIsASeed) {
  const auto with = [](std::int64_t seed) {
    return KeyAfter([&](Manifest& m) {
      m.seeds["init"] = seed;
      m.command[3] = std::to_string(seed);
      m.hyperparameters["random_seed"] = seed;
    });
  };
  EXPECT_EQ(with(3), with(4));
}

TEST(ConfigurationKey, DoesNotSeeWhereTheTasksOfARunMeet) {
  const auto of = [](const std::vector<std::string>& command) {
    return KeyAfter([&](Manifest& m) { m.command = command; });
  };
  const auto on = [&](const std::string& host, const std::string& port) {
    return of({"torchrun", "--nnodes=2", "--master_addr", host, "--master-port=" + port,
               "--rdzv-endpoint=" + host + ":" + port, "--rdzv_id", "job" + port, "--node_rank",
               port.substr(0, 1), "--local_addr=" + host, "train.py"});
  };
  EXPECT_EQ(on("n1", "1000"), on("n2", "2000"));
  const std::vector<std::vector<std::string>> same = {
      {"mpirun", "-np", "4", "-H", "n1,n2", "python", "t.py"},
      {"/opt/bin/mpirun", "--mca", "btl", "tcp", "--host", "n1", "t"},
      {"srun", "-N2", "-l", "-w", "n1,n2", "python", "t.py"},
      {"srun", "-wn1", "--jobid=7", "--nodelist=n1", "python", "t.py"}};
  for (std::vector<std::string> command : same) {
    const std::string key = of(command);
    for (std::string& word : command) {
      if (const auto at = word.find("n1"); at != word.npos) word.replace(at, 2, "n9");
      if (word == "--jobid=7") word = "--jobid=8";
    }
    EXPECT_EQ(of(command), key) << command[0] << " " << command[1];
  }
}

TEST(ConfigurationKey, SeesTheSizeOfARunAndTheOptionsOfItsProgram) {
  const auto of = [](const std::vector<std::string>& command) {
    return KeyAfter([&](Manifest& m) { m.command = command; });
  };
  EXPECT_NE(of({"torchrun", "--nnodes=2", "t.py"}), of({"torchrun", "--nnodes=4", "t.py"}));
  EXPECT_NE(of({"torchrun", "--nproc-per-node", "2", "t"}),
            of({"torchrun", "--nproc-per-node", "4", "t"}));
  EXPECT_NE(of({"mpirun", "-np", "2", "t"}), of({"mpirun", "-np", "4", "t"}));
  // -w and -H of the program itself: workers, a size.
  EXPECT_NE(of({"srun", "-n", "2", "python", "t.py", "-w", "3"}),
            of({"srun", "-n", "2", "python", "t.py", "-w", "4"}));
  EXPECT_NE(of({"mpirun", "--oversubscribe", "t", "-H", "3"}),
            of({"mpirun", "--oversubscribe", "t", "-H", "4"}));
  EXPECT_NE(of({"train", "-w", "3"}), of({"train", "-w", "4"}));
  EXPECT_EQ(of({"train", "--master_addr"}), of({"train", "--master_addr"}));
}

TEST(ConfigurationKey, SeesNumbersThatAreNoSeeds) {
  // After --seed, but no seed's value; and a seed's value after another name.
  EXPECT_NE(KeyAfter([](Manifest& m) { m.command[3] = "99"; }), OriginalKey());
  const auto layers = [](const char* count) {
    return KeyAfter([&](Manifest& m) { m.command = {"train", "--layers", count}; });
  };
  EXPECT_NE(layers("7"), layers("8"));
  const auto after_joined = [](const char* size) {
    return KeyAfter([&](Manifest& m) { m.command = {"train", "--seed=7", size}; });
  };
  EXPECT_NE(after_joined("7"), after_joined("8"));
}

TEST(ConfigurationKey, ReplacesTheOnePositionalArgumentThatIsASeed) {
  const auto with = [](std::int64_t seed, std::vector<std::string> more) {
    return KeyAfter([&](Manifest& m) {
      m.seeds = {{"init", seed}};
      m.command = {"python3", "train.py", std::to_string(seed)};
      m.command.insert(m.command.end(), more.begin(), more.end());
      m.hyperparameters["random_state"] = seed;
    });
  };
  EXPECT_EQ(with(3, {}), with(4, {}));
  EXPECT_EQ(with(3, {"10"}), with(4, {"10"}));
  EXPECT_NE(with(3, {"3"}), with(4, {"4"})) << "which of the two is the seed is not known";
  EXPECT_NE(with(3, {"10"}), with(3, {"11"}));
}

TEST(ConfigurationKey, DoesNotSeeOrderOrResults) {
  const auto two_files = [](bool swapped) {
    return KeyAfter([&](Manifest& m) {
      m.code.files.push_back({"a.py", std::string(64, 'a')});
      m.data.push_back({"b", "", "b", DataKind::kFile, std::string(64, 'b'), 1});
      if (swapped) std::reverse(m.code.files.begin(), m.code.files.end());
      if (swapped) std::reverse(m.data.begin(), m.data.end());
    });
  };
  EXPECT_EQ(two_files(false), two_files(true));
  EXPECT_EQ(KeyAfter([](Manifest& m) {
              m.run_id = "other";
              m.metrics.clear();
              m.artifacts.clear();
              m.started = {};
              m.image.digest = "sha256:other";
              m.data[0].location = "elsewhere";
              m.environment = {};
              m.notes.clear();
              m.resources = {};
            }),
            OriginalKey());
}

TEST(ConfigurationKey, TakesNumbersByValueAndObjectsWithoutOrder) {
  EXPECT_EQ(
      KeyAfter([](Manifest& m) { m.hyperparameters["layers"] = *ParseJson("[64.0, 1e1]", ""); }),
      OriginalKey());
  EXPECT_EQ(KeyAfter([](Manifest& m) {
              m.hyperparameters["schedule"] = *ParseJson(R"({"warm": 5, "kind": "cosine"})", "");
            }),
            OriginalKey());
}

TEST(ConfigurationKey, SeesEverythingThatMakesAnotherConfiguration) {
  const std::function<void(Manifest&)> changes[] = {
      [](Manifest& m) { m.family = "other"; },
      [](Manifest& m) { m.code.files[0].sha256 = std::string(64, '0'); },
      [](Manifest& m) { m.code.files[0].path = "other.py"; },
      [](Manifest& m) { m.code.files.clear(); },
      [](Manifest& m) { m.data[0].sha256 = std::string(64, '0'); },
      [](Manifest& m) { m.hyperparameters["lr"] = 0.2; },
      [](Manifest& m) { m.hyperparameters["lr"] = "0.1"; },
      [](Manifest& m) { m.hyperparameters.erase("lr"); },
      [](Manifest& m) { m.determinism.declared = "statistical"; },
      [](Manifest& m) { m.command.push_back("--fast"); },
      [](Manifest& m) { m.command[4] = "--lr=0.2"; },
  };
  std::vector<std::string> keys = {OriginalKey()};
  for (const auto& change : changes) keys.push_back(KeyAfter(change));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(ConfigurationKey, UsesTheCommitOnlyWithoutFiles) {
  const auto with_commit = [](const char* commit, bool files) {
    return KeyAfter([&](Manifest& m) {
      m.code.commit = commit;
      if (!files) m.code.files.clear();
    });
  };
  EXPECT_EQ(with_commit("aa", true), with_commit("bb", true));
  EXPECT_NE(with_commit("aa", false), with_commit("bb", false));
}

TEST(ConfigurationKey, KnowsHowManyRanksARunHas) {
  const Manifest one = ExampleManifest();
  Manifest two = one;
  two.gang = Gang{};
  two.gang->nodes = 2;
  Manifest four = two;
  four.gang->tasks_per_node = 2;
  EXPECT_NE(ConfigurationKey(one), ConfigurationKey(two));
  EXPECT_NE(ConfigurationKey(two), ConfigurationKey(four));
  four.gang->parts.nodes = {{.host = "elsewhere", .environment = {}}};
  four.gang->start = GangStart::kPerTask;
  Manifest same = four;
  same.gang->parts = {};
  EXPECT_EQ(ConfigurationKey(same), ConfigurationKey(four)) << "on whichever nodes";
}

}  // namespace
}  // namespace rharness
