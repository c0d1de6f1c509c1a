// Traces of calls as a hook writes them: a small network of calls, in which tests plant
// differences.
#ifndef RHARNESS_TESTS_COMPARE_TRACES_CALL_LINES_H_
#define RHARNESS_TESTS_COMPARE_TRACES_CALL_LINES_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compare/traces/call_onset.h"
#include "harness/base/files.h"

namespace rharness {

struct Given {
  std::string digest;
  int from = -1;  // order of the call that wrote it
  std::string name;
  bool unseen = false;
};

// A call as the hook sees it; `out` is the digest of its one output.
struct Called {
  std::string op;
  std::vector<Given> in;
  std::string out;
  std::string module = "net";
  std::string phase = "forward";
  std::string more;  // members, each with a comma in front: ,"args":"p=0.1"
  double norm = 2.0;
};

inline std::string TensorText(const Given& one, double norm) {
  std::string text =
      fmt::format(R"({{"digest":"{}","shape":[4,8],"dtype":"float32","norm":{})", one.digest, norm);
  if (one.from >= 0) text += fmt::format(R"(,"from":{})", one.from);
  if (!one.name.empty()) text += fmt::format(R"(,"name":"{}")", one.name);
  if (one.unseen) text += R"(,"unseen":true)";
  return text + "}";
}

inline std::string CallText(int step, std::size_t order, const Called& call) {
  std::string in;
  for (const Given& one : call.in) in += (in.empty() ? "" : ",") + TensorText(one, 1.0);
  return fmt::format(
      R"({{"step":{},"order":{},"phase":"{}","module":"{}","op":"{}","site":"t.py:{}"{},"in":[{}],"out":[{}]}})"
      "\n",
      step, order, call.phase, call.module, call.op, 10 + order % 7, call.more, in,
      TensorText({call.out}, call.norm));
}

inline std::string CallHeader(int rank = 0, const std::string& digest = "sha256/64") {
  return fmt::format(
      R"({{"schema":"rharness.calls/v1","rank":{},"world":2,"framework":"torch","framework_version":"2.15.0","digest":"{}","flags":{{}}}})"
      "\n",
      rank, digest);
}

inline std::string CallsText(const std::vector<std::vector<Called>>& steps, int rank = 0) {
  std::string text = CallHeader(rank);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (std::size_t i = 0; i < steps[step].size(); ++i) {
      text += CallText(static_cast<int>(step), i, steps[step][i]);
    }
  }
  return text + "{\"end\":true}\n";
}

// A folder of its own, removed at the end.
class CallFiles : public testing::Test {
 protected:
  CallFiles()
      : folder_(testing::TempDir() + "/calls-" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~CallFiles() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path.string();
  }
  // Of one rank, or of the ranks that the folders A and B have.
  CallOnset Onset(const std::vector<std::vector<Called>>& a,
                  const std::vector<std::vector<Called>>& b) {
    Write("A/rank-0.calls", CallsText(a));
    Write("B/rank-0.calls", CallsText(b));
    return OnsetOfFolders();
  }
  CallOnset OnsetOfFolders() {
    const auto a = LoadCalls(folder_ / "A");
    const auto b = LoadCalls(folder_ / "B");
    EXPECT_TRUE(a.ok() && b.ok());
    auto onset = FindCallOnset(*a, *b);
    EXPECT_TRUE(onset.ok()) << onset.error().ToString();
    return onset.ok() ? std::move(*onset) : CallOnset();
  }

  std::filesystem::path folder_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_TRACES_CALL_LINES_H_
