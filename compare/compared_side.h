// One side of a comparison: what was given, and what it is.
//
// Role: of a Comparison, and of a subject before there is one. Pure.
#ifndef RHARNESS_COMPARE_COMPARED_SIDE_H_
#define RHARNESS_COMPARE_COMPARED_SIDE_H_

#include <string>
#include <string_view>

#include "harness/base/member_facts.h"

namespace rharness {

enum class SideKind {
  kUnknown,  // it could not be read: the pair has no comparison
  kManifest,
  kEvidence,
  kCheckpoint,
  kCurves,
  kResults,     // of many runs: a table, groups of logs
  kEvaluation,  // scores of one model, item by item
  kTokens,      // log-probabilities of tokens
  kEnvironment,
  kFingerprint,
  kFile,  // no reader opens it
};

inline constexpr NameTable<SideKind, 11> kSideKindNames = {
    {{SideKind::kUnknown, ""},
     {SideKind::kManifest, "manifest"},
     {SideKind::kEvidence, "evidence"},
     {SideKind::kCheckpoint, "checkpoint"},
     {SideKind::kCurves, "curves"},
     {SideKind::kResults, "results"},
     {SideKind::kEvaluation, "evaluation"},
     {SideKind::kTokens, "log-probabilities"},
     {SideKind::kEnvironment, "environment"},
     {SideKind::kFingerprint, "fingerprint"},
     {SideKind::kFile, "file"}}};

constexpr std::string_view SideKindName(SideKind kind) { return NameIn(kSideKindNames, kind); }

// Of a run: it has data, code, image and seeds.
constexpr bool IsRecord(SideKind kind) {
  return kind == SideKind::kManifest || kind == SideKind::kEvidence;
}

struct ComparedSide {
  std::string path;
  SideKind kind = SideKind::kUnknown;
  std::string detail;  // "safetensors, 148 tensors, 13.5 GB"; may be empty
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARED_SIDE_H_
