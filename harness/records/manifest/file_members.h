// The members of what is on a disk: code files, data, artifacts and their tensors.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_FILE_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_FILE_MEMBERS_H_

#include <array>
#include <string_view>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/artifact.h"
#include "harness/records/manifest/data_item.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/record_kinds.h"

namespace rharness {

inline constexpr std::array<std::string_view, 7> kArtifactRoles = {
    "weights", "optimizer", kItemsRole, "metrics", "log", "other", kModelOfTracker};

template <class Io, Is<CodeFile> T>
void Members(Io& io, T& file) {
  io.Noun("A source or generated file that the run depends on.");
  io.Must(kRelativePath, "path", file.path,
          About("Relative to the repository's root, and to the workspace in a rerun.")
              .Examples("train.py"));
  io.May(kSha256, "sha256", file.sha256, "Of the file's content.");
}

void CheckMembers(JsonReader& reader, const MadeBy& made_by);
void CheckMembers(JsonReader& reader, const DataItem& item);

template <class Io, Is<MadeBy> T>
void Members(Io& io, T& made_by) {
  io.NotEmpty();
  io.UnlessEmpty(kRepositoryText, "repository", made_by.repository,
                 About("Folder or URL of its code, without credentials.")
                     .Examples("https://git.example.org/etl"));
  io.UnlessEmpty(kHex, "commit", made_by.commit,
                 About("The full commit.").Pattern("^([0-9a-f]{40}|[0-9a-f]{64})$"));
  io.UnlessEmpty(kPlainText, "version", made_by.version,
                 About("As its authors count.").Examples("2.3.1"));
}

template <class Io, Is<DataItem> T>
void Members(Io& io, T& item) {
  io.Noun("An input of the run, pinned by the hash of its content.");
  io.Must(kNameText, "name", item.name, About("Unique in the record.").Examples("digits"));
  io.May(kAnyPath, "location", item.location,
         About("Where to fetch it; relative ones lie below the drill's root. Empty: `path`.")
             .Examples("sets/digits.csv"));
  io.Must(kAnyPath, "path", item.path,
          About("As the command sees it: relative to its working directory, or absolute.")
              .Examples("data/digits.csv"));
  io.May(EnumKind<kDataKindNames>(), "kind", item.kind, "What it is.");
  io.May(kSha256, "sha256", item.sha256,
         "Of the file, of the directory's tree (`rharness hash`), or of the table's version.");
  io.May("size_bytes", item.size_bytes, About("Size of all content in bytes.").Examples("562000"));
  io.UnlessEmpty(FolderNamesKind(), "empty_folders", item.empty_folders,
                 About("Empty folders below the directory, at most 1,000. Absent: not known.")
                     .Examples(R"(["classes/none"])"));
  io.UnlessEmpty(kPlainText, "other_digest", item.other_digest,
                 About("What an imported record has instead of a SHA-256. Never a pin.")
                     .Examples("md5:6fdb5336fce0dbfd669f83065f107551"));
  io.UnlessEmpty(kPlainText, "source", item.source,
                 About("Where `rharness fetch` gets it: a URL without credentials, or a version.")
                     .Examples("https://sets.example.org/digits.csv\n"
                               "s3://sets/digits.csv?versionId=3HL4kqtJlcpXroDTDmJ\n"
                               "delta:sets/digits@12"));
  io.ObjectUnlessEmpty("made_by", item.made_by, "Which transform wrote it: of these at least one.");
}

// The sizes of a tensor, which must be there: empty for a scalar.
struct ShapeKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::vector<std::uint64_t>* out) {
    if (!reader.Has(key)) reader.Fail("missing; expected an array of sizes", key);
    reader.ReadArray(key, out);
  }
  static Json Describe(StrictSchema& schema) {
    return Json::MakeObject({{"type", "array"}, {"items", schema.OfType<std::uint64_t>()}});
  }
};

template <class Io, Is<TensorRecord> T>
void Members(Io& io, T& tensor) {
  io.Noun("One tensor of a recorded checkpoint.");
  io.Must("name", tensor.name, About("As in the checkpoint.").Examples("fc.weight"));
  io.Must(kNameText, "dtype", tensor.dtype,
          About("Element type in the spelling of safetensors.").Examples("F32\nBF16"));
  io.Must(ShapeKind(), "shape", tensor.shape,
          About("Sizes of the dimensions; empty for a scalar.").Examples("[64, 10]"));
  io.May(kSha256, "sha256", tensor.sha256, "Leaf of the canonical tensor digest.");
  io.UnlessEmpty("non_finite", tensor.non_finite,
                 "Elements that are not-a-number or infinite, where it is not a mask or the like; "
                 "absent: none, or not counted.");
}

template <class Io, Is<ArtifactPart> T>
void Members(Io& io, T& part) {
  io.Noun("A further file of an artifact: a shard beside an index, or one that is loaded with it.");
  io.Must(kRelativePath, "path", part.path,
          About("Relative to the folder of the artifact's own path.")
              .Examples("model-00001-of-00002.safetensors"));
  io.May("size_bytes", part.size_bytes, About("Size in bytes.").Examples("65608"));
  io.May(kSha256, "sha256", part.sha256, "Of the file.");
  io.UnlessEmpty("loaded", part.loaded,
                 "Whether it is loaded with the tensors, such as a config.json.");
}

template <class Io, Is<BesideRecord> T>
void Members(Io& io, T& part) {
  io.Noun("What is loaded with the tensors of a checkpoint: one file, or one part of its file.");
  io.Must("name", part.name,
          About("As a comparison names it.").Examples("config.json\nattributes"));
  io.May(kSha256, "sha256", part.sha256, "Of what is compared of it.");
  io.UnlessEmpty("text", part.text, "Its content, of a small JSON object without a secret.");
}

template <class Io, Is<Artifact> T>
void Members(Io& io, T& artifact) {
  io.Noun("A file that the run made.");
  io.Must(ChoiceKind<kArtifactRoles>(), "role", artifact.role,
          "What it is for. Of weights and optimizer the tensors are compared, of others the "
          "SHA-256 of the file. Items of an evaluation are compared one by one. A log (text or "
          "plots for people) may differ from run to run, and "
          "so may a file of metrics whose numbers the manifest has; all others must not. A model "
          "is what a tracker keeps beside the run.");
  io.Must(kRelativePath, "path", artifact.path,
          About("Relative to the working directory.").Examples("out/model.safetensors"));
  io.May(kAnyPath, "location", artifact.location,
         About("Where the original can be read, if it was kept; relative ones lie below the "
               "drill's root (in evidence: below the drill folder).")
             .Examples("kept/model.safetensors"));
  io.May("size_bytes", artifact.size_bytes, About("Size in bytes.").Examples("65608"));
  io.May(kSha256, "sha256", artifact.sha256, "Of the file; of items, of what is kept of them.");
  io.May(kSha256, "tensor_digest", artifact.tensor_digest,
         "Canonical digest of the tensors, of weights and optimizer state: equal tensors have "
         "equal digests, whatever file they lie in.");
  io.UnlessEmpty(kSha256, "beside_digest", artifact.beside_digest,
                 "Of what is loaded with the tensors and is none: a graph, a model's settings, the "
                 "attributes of a pickled module.");
  io.ListUnlessEmpty("beside", artifact.beside, "What beside_digest covers, by name.");
  io.List("tensors", artifact.tensors, "One a tensor, sorted by name; may be empty.");
  io.ListUnlessEmpty("parts", artifact.parts,
                     "The files that an index or a .metadata lists; written files that are loaded "
                     "with the tensors.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_FILE_MEMBERS_H_
