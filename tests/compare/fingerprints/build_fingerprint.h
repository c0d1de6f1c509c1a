// Fingerprints written by hand, as JSON, for the tests of what reads, compares and judges them.
#ifndef RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_FINGERPRINT_H_
#define RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_FINGERPRINT_H_

#include <map>
#include <string>
#include <vector>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/clock.h"
#include "harness/base/digest.h"
#include "probes/order/tree_name.h"
#include "tests/compare/fingerprints/build_tree.h"

namespace rharness {

class FingerprintBuilder {
 public:
  FingerprintBuilder() { stack_ = *ParseJson(R"({"gpus": [{"model": "NVIDIA H200"}]})", "stack"); }

  FingerprintBuilder& Stack(const std::string& key, const std::string& value) {
    stack_.Set(key, value);
    return *this;
  }
  // Of a machine without GPUs, measured before anything else happened.
  FingerprintBuilder& OfCpu(const std::string& made = FormatTime(WallTime())) {
    stack_.Set("gpus", Json::MakeArray());
    made_ = made;
    return *this;
  }
  FingerprintBuilder& Suite(const std::string& suite) {
    suite_ = suite;
    return *this;
  }
  // The members that follow belong to this probe; a second call of a name goes on with it.
  FingerprintBuilder& Probe(const std::string& name, const std::string& family = "gemm",
                            const std::string& status = "ok") {
    current_ = name;
    Json& probe = probes_[name];
    if (probe.IsNull()) probe = Json::MakeObject();
    probe.Set("name", name).Set("family", family).Set("device", "cuda:0").Set("status", status);
    return *this;
  }
  FingerprintBuilder& Message(const std::string& message) {
    probes_[current_].Set("message", message);
    return *this;
  }
  FingerprintBuilder& Parameters(const std::string& json) {
    probes_[current_].Set("parameters", *ParseJson(json, "parameters"));
    return *this;
  }
  FingerprintBuilder& Choice(const std::string& name, const std::string& json) {
    return Member("choice", name, *ParseJson(json, "choice"));
  }
  FingerprintBuilder& Tree(const std::string& name, const SumTree& tree, bool keep = true) {
    Json json;
    json.Set("name", NameOf(tree)).Set("leaves", tree.leaves()).Set("sha256", tree.Sha256());
    if (keep) json.Set("canonical", tree.Canonical());
    return Member("tree", name, json);
  }
  // Further members of the case's tree, as a JSON object.
  FingerprintBuilder& TreeDetail(const std::string& name, const std::string& json) {
    Json tree = *probes_[current_].Find("tree")->Find(name);
    const Json members = *ParseJson(json, "tree");
    for (const auto& [key, value] : members.AsObject()) tree.Set(key, value);
    return Member("tree", name, tree);
  }
  FingerprintBuilder& Bits(const std::string& name, const std::string& output) {
    return Member("bits", name, Sha256HexOf(output));
  }
  FingerprintBuilder& Unstable(const std::string& name) {
    Json list = Json::MakeArray();
    if (const Json* before = probes_[current_].Find("unstable")) list = *before;
    list.Append(name);
    probes_[current_].Set("deterministic", false).Set("unstable", list);
    return *this;
  }
  FingerprintBuilder& Without(const std::string& probe) {
    probes_.erase(probe);
    return *this;
  }

  Json ToJson() const {
    Json list = Json::MakeArray();
    for (const auto& [name, probe] : probes_) list.Append(probe);
    Json json;
    json.Set("schema", "rharness.fingerprint/v1")
        .Set("stack", stack_)
        .Set("suite", suite_)
        .Set("probes", list);
    if (!made_.empty()) json.Set("context", Json::MakeObject({{"made", made_}}));
    return json;
  }
  Fingerprint Parse(const std::string& file = "a.json") const {
    auto fingerprint = ParseFingerprint(ToJson(), file);
    if (!fingerprint.ok()) Abort(fingerprint.error().ToString());
    return std::move(*fingerprint);
  }

 private:
  FingerprintBuilder& Member(const std::string& layer, const std::string& name, const Json& value) {
    Json members = Json::MakeObject();
    if (const Json* before = probes_[current_].Find(layer)) members = *before;
    members.Set(name, value);
    probes_[current_].Set(layer, members);
    return *this;
  }

  Json stack_;
  std::string suite_ = "ok";
  std::string made_;
  std::map<std::string, Json> probes_;
  std::string current_;
};

// Four probes of four families that are ok, and one that is absent.
inline FingerprintBuilder SampleStack() {
  FingerprintBuilder build;
  build.Stack("driver", "580.65").Stack("cublas", "13.1.0");
  build.Probe("gemm_tree_fp16", "gemm")
      .Choice("64x64x32", R"({"algorithm": 21, "split_k": 1})")
      .Tree("64x64x32", FusedTree(32, 8))
      .Bits("64x64x32", "gemm 32")
      .Choice("64x64x16", R"({"algorithm": 21, "split_k": 1})")
      .Tree("64x64x16", FusedTree(16, 8))
      .Bits("64x64x16", "gemm 16");
  build.Probe("sum_tree_fp32", "reduction").Tree("sum 32", PairwiseTree(32)).Bits("sum 32", "sum");
  build.Probe("math_bits", "math").Bits("expf", "exp").Bits("logf", "log");
  build.Probe("jit_driver_cubin", "compiler")
      .Choice("axpy", R"({"text": "1234"})")
      .Bits("axpy", "axpy");
  build.Probe("nccl_tree", "collective", "absent").Message("no libnccl.so.2");
  return build;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_FINGERPRINT_H_
