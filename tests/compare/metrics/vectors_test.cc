// The reference vectors: results of independent programs and published tables, one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "compare/methods/methods.h"

namespace rharness {
namespace {

// RHARNESS_SHARED_DATA, else the folder beside the source tree.
std::filesystem::path VectorFile() {
  const char* shared = std::getenv("RHARNESS_SHARED_DATA");
  const std::filesystem::path root =
      shared != nullptr ? std::filesystem::path(shared)
                        : std::filesystem::path(RHARNESS_SOURCE_DIR) / ".." / "shared" / "data";
  return root / "statistics" / "vectors.json";
}

// Absolute below magnitude 1, relative above it; a tolerance of 0 means equal.
void ExpectClose(const Json& expected, const Json* actual, double tolerance,
                 const std::string& where) {
  ASSERT_NE(actual, nullptr) << where << ": no such result";
  if (expected.IsArray()) {
    ASSERT_EQ(expected.AsArray().size(), actual->AsArray().size()) << where;
    for (std::size_t i = 0; i < expected.AsArray().size(); ++i) {
      ExpectClose(expected.AsArray()[i], &actual->AsArray()[i], tolerance,
                  where + "[" + std::to_string(i) + "]");
    }
    return;
  }
  const std::optional<double> number = expected.ToDouble();
  if (!number.has_value()) {
    EXPECT_EQ(expected.Dump(), actual->Dump()) << where;
  } else if (std::isinf(*number)) {
    EXPECT_EQ(*number, actual->ToDouble()) << where;
  } else {
    ASSERT_TRUE(actual->ToDouble().has_value()) << where;
    EXPECT_NEAR(*number, *actual->ToDouble(), tolerance * std::max(1.0, std::fabs(*number)))
        << where;
  }
}

void RunVector(const Json& vector) {
  const std::string where = vector.Find("method")->AsString() + " " + vector.Find("id")->AsString();
  const Result<Json> actual = RunMethod(vector.Find("method")->AsString(), *vector.Find("inputs"));
  ASSERT_TRUE(actual.ok()) << where << ": " << actual.error().ToString();
  const double tolerance = vector.Find("tolerance")->ToDouble().value();
  for (const auto& [key, expected] : vector.Find("expected")->AsObject()) {
    ExpectClose(expected, actual->Find(key), tolerance, where + " " + key);
  }
}

TEST(StatisticsVectors, EveryMethodAgreesWithItsReferenceValues) {
  const std::filesystem::path file = VectorFile();
  std::ifstream stream(file);
  if (!stream) GTEST_SKIP() << "no reference vectors at " << file;
  std::stringstream text;
  text << stream.rdbuf();
  const Result<Json> document = ParseJson(text.str(), file.string());
  ASSERT_TRUE(document.ok()) << document.error().ToString();
  int run = 0;
  for (const Json& vector : document->Find("vectors")->AsArray()) {
    RunVector(vector);
    ++run;
  }
  fmt::print("{} vectors run\n", run);
  EXPECT_GE(run, 100);
}

}  // namespace
}  // namespace rharness
