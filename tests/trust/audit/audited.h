// A log in a folder of its own, over records that stand in memory.
#ifndef RHARNESS_TESTS_TRUST_AUDIT_AUDITED_H_
#define RHARNESS_TESTS_TRUST_AUDIT_AUDITED_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/trust/audit/log_append.h"
#include "harness/trust/audit/record_book.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {

inline HeldRecord Held(const std::string& kind, const std::string& name,
                       const std::string& content) {
  return {kind, name, Sha256Of(std::as_bytes(std::span(content.data(), content.size())))};
}

// "manifest run-0" and so on.
inline std::vector<HeldRecord> Manifests(int count) {
  std::vector<HeldRecord> records;
  for (int i = 0; i < count; ++i) {
    records.push_back(Held("manifest", fmt::format("run-{}", i), fmt::format("text {}", i)));
  }
  return records;
}

class BookOf : public AppendSource {
 public:
  explicit BookOf(std::vector<HeldRecord> records) : book_(std::move(records)) {}
  Status Load() override { return {}; }
  Status Take(const AuditEntry& entry) override { return book_.Take(entry); }
  Result<std::vector<HeldRecord>> New() override {
    std::vector<HeldRecord> records;
    for (const HeldRecord* one : book_.Missing()) records.push_back(*one);
    return records;
  }

 private:
  RecordBook book_;
};

class AuditedLog : public testing::Test {
 protected:
  std::filesystem::path Log() const { return folder_.path() / "log"; }
  std::string Text(const char* name) const {
    const auto text = ReadFile(Log() / name);
    EXPECT_TRUE(text.ok()) << text.error().ToString();
    return text.ok() ? *text : "";
  }
  void Put(const char* name, const std::string& text) const {
    ASSERT_TRUE(std::ofstream(Log() / name, std::ios::binary) << text);
  }

  Result<Appended> Append(const std::vector<HeldRecord>& records, bool sign = true) {
    BookOf book(records);
    return AppendToLog({.folder = Log(),
                        .begin = !std::filesystem::exists(Log()),
                        .signer = sign ? ada_.get() : nullptr,
                        .clock = &clock_,
                        .wait = Seconds(0)},
                       &book);
  }
  void MustAppend(const std::vector<HeldRecord>& records, bool sign = true) {
    const auto done = Append(records, sign);
    ASSERT_TRUE(done.ok()) << done.error().ToString();
  }

  // The log by itself and held to these records.
  Result<CheckedLog> Check(const std::vector<HeldRecord>* records = nullptr) {
    bad_.reset();
    auto log = OpenLog(Log());
    if (!log.ok()) return log.error();
    std::optional<RecordBook> book;
    if (records != nullptr) book.emplace(*records);
    EachEntry each;
    if (book) each = [&](const AuditEntry& entry) { return book->Take(entry); };
    return CheckLog(&*log, {.trust = nullptr, .kept = kept_, .now = clock_.Now()}, each, &bad_);
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-audit-");
  KeyFolder keys_;
  std::unique_ptr<Signer> ada_ = keys_.Load(Ed25519Pem(kAdaSeed));
  FakeClock clock_{*ParseTime("2026-11-25T08:00:00Z")};
  std::vector<HeadText> kept_;
  std::optional<BadEntry> bad_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_AUDIT_AUDITED_H_
