// A file that a run made, as in manifests and evidence.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ARTIFACT_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ARTIFACT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// One tensor of a recorded checkpoint; sha256 is the leaf of the canonical tensor digest.
struct TensorRecord {
  std::string name;
  std::string dtype;  // the safetensors spelling
  std::vector<std::uint64_t> shape;
  std::string sha256;
  // Elements that are not-a-number or infinite and should not be (compare/weights/non_finite.h).
  std::uint64_t non_finite = 0;
};

// A further file of an artifact that consists of several: a shard beside an index, or a file that
// is loaded with the tensors, such as a config.json.
struct ArtifactPart {
  std::string path;  // relative to the folder of the artifact's own path
  std::uint64_t size_bytes = 0;
  std::string sha256;
  bool loaded = false;  // it holds no tensors
};

// What is loaded with the tensors of a checkpoint: one file, or one part of its file.
struct BesideRecord {
  std::string name;
  std::string sha256;  // of what is compared of it (compare/weights/side_files.h)
  std::string text;    // a small JSON object, for words on how another differs; may be empty
};

// The role of a model that a tracker keeps beside the run, as it was logged. The run did not write
// it, and no rerun does.
inline constexpr std::string_view kModelOfTracker = "model";

// The role of an evaluation with its items: a file, or a folder with files whose names change.
inline constexpr std::string_view kItemsRole = "items";

struct Artifact {
  std::string role;      // "weights", "optimizer", "items", "metrics", "log", "other" or "model"
  std::string path;      // relative to the working directory
  std::string location;  // readable copy of the original, if kept; relative ones below --root
  std::uint64_t size_bytes = 0;
  std::string sha256;                 // of items: of the text that is kept of them
  std::string tensor_digest;          // canonical; weights and optimizer state
  std::string beside_digest;          // of what is loaded with them; empty: nothing, or unknown
  std::vector<BesideRecord> beside;   // what this digest covers, by name; may be empty
  std::vector<TensorRecord> tensors;  // one per tensor, sorted by name; may be empty
  // For an index or a .metadata: the files that it lists, sorted by path, kept beside it. Then
  // files that the run wrote and that are loaded with the tensors (ArtifactPart::loaded).
  std::vector<ArtifactPart> parts;
};

// The paths of the parts that are loaded with the tensors.
std::vector<std::string> LoadedPartsOf(const Artifact& artifact);

// Whether an artifact holds tensors: weights or optimizer state.
bool IsCheckpoint(const Artifact& artifact);

// What a checkpoint is loaded as: its tensor digest and what is beside it; empty without the first.
std::string LoadedDigest(const Artifact& artifact);

// The paths of all files of an artifact, its own first; relative if its own is.
std::vector<std::filesystem::path> FilesOf(const Artifact& artifact);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ARTIFACT_H_
