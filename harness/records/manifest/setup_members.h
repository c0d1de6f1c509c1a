// The members of a manifest that say how a run was set up: code, image, determinism, resources.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_SETUP_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_SETUP_MEMBERS_H_

#include <array>
#include <string_view>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/file_members.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

inline constexpr std::array<std::string_view, 2> kDeclaredKinds = {"bitwise", "statistical"};
inline constexpr std::array<std::string_view, 2> kBitScopes = {"hardware_class", "architecture"};

inline constexpr const char* kImageDigestPattern = "^(sha256:[0-9a-f]{64})?$";
inline constexpr const char* kImageDigestExample =
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
inline const About kAboutSeeds =
    About("The seed of each source of randomness.").Examples(R"({"init": 7, "shuffle": 7})");

template <class Io, Is<Code> T>
void Members(Io& io, T& code) {
  io.Noun("What ran. Files, where listed, are the identity; else the commit is.");
  io.May(kRepositoryText, "repository", code.repository,
         About("Folder or URL; a relative folder lies below the drill's root.")
             .Examples("https://git.example.org/ml/digits.git\nsrc/digits"));
  io.May(kHex, "commit", code.commit,
         About("Full commit hash, or empty.")
             .Pattern("^([0-9a-f]{40}|[0-9a-f]{64})?$")
             .Examples("0123456789abcdef0123456789abcdef01234567"));
  io.May("dirty", code.dirty, "Whether the tree differed from the commit; absent: no.");
  io.May(kSha256, "diff_sha256", code.diff_sha256, "Of `git diff HEAD`, of a dirty tree.");
  io.List("files", code.files, "Sources and generated files that the run depends on.");
  io.UnlessEmpty(kSha256, "kept_diff_sha256", code.kept_diff_sha256,
                 "Of the diff that is kept beside the record, with binary files, which a rerun "
                 "applies to the commit. Absent where none is kept.");
}

template <class Io, Is<Image> T>
void Members(Io& io, T& image) {
  io.Noun("Where it ran: a container image pinned by digest, or the host.");
  io.May(EnumKind<kImageKindNames>(), "kind", image.kind,
         "A container image (\"oci\": from a registry; \"sif\" and \"squashfs\": a file for "
         "Apptainer or enroot), or none. Absent: the host.");
  io.May(kWord, "registry", image.registry,
         About("Host and port of the registry.").Examples("registry.example.org:5000"));
  io.May(kWord, "repository", image.repository,
         About("Name in the registry.").Examples("ml/train"));
  io.May(kWord, "tag", image.tag,
         About("Informative only; \"latest\" is not admitted.").Examples("\"2026.11\""));
  io.May(kWord, "digest", image.digest,
         About("What is pulled and proved; of a file, its own.")
             .Pattern(kImageDigestPattern)
             .Examples(kImageDigestExample));
  io.May(kWord, "platform", image.platform,
         About("Operating system and architecture.").Examples("linux/amd64"));
  io.May(kSha256, "packages_sha256", image.packages_sha256,
         "Of the host's package list, of a run without an image.");
  io.UnlessEmpty(kAnyPath, "location", image.location,
                 About("Of \"sif\" and \"squashfs\": the file, a path; relative ones lie below "
                       "--root.")
                     .Examples("images/train.sif"));
  io.UnlessEmpty("layers", image.layers,
                 "Digests of the unpacked layers (RootFS), the lowest first, as the engine's "
                 "inspection had them. Absent where no engine knew the image.");
  io.UnlessEmpty(kPlainText, "base_name", image.base_name,
                 About("The image that it was built on: its label "
                       "org.opencontainers.image.base.name.")
                     .Examples("docker.io/library/debian:12"));
  io.UnlessEmpty(kPlainText, "base_digest", image.base_digest,
                 About("The digest of that image: the label "
                       "org.opencontainers.image.base.digest.")
                     .Examples(kImageDigestExample));
}

template <class Io, Is<Determinism> T>
void Members(Io& io, T& determinism) {
  io.Noun("What the run promises.");
  io.May(ChoiceKind<kDeclaredKinds>(), "declared", determinism.declared,
         "Whether a rerun must meet the same bits or the same distribution; absent: statistical.");
  io.May(ChoiceKind<kBitScopes>(), "scope", determinism.scope,
         "Where the bits hold; absent: hardware_class.");
  io.May("flags", determinism.flags,
         About("Switches of frameworks and libraries.")
             .Examples(R"({"torch.use_deterministic_algorithms": "true"})"));
}

template <class Io, Is<Resources> T>
void Members(Io& io, T& resources) {
  io.Noun("What a rerun asks for. 0: the drill's limits, which no request exceeds.");
  io.May(kCountNumber, "cpus", resources.cpus, About("Processor cores; absent: 1.").Examples("2"));
  io.May(kCountNumber, "gpus", resources.gpus, About("GPUs.").Examples("1"));
  io.May("memory_bytes", resources.memory_bytes,
         About("Limit of resident memory in bytes.").Examples("4294967296"));
  io.May("disk_bytes", resources.disk_bytes,
         About("Limit of files written in bytes.").Examples("1073741824"));
  io.May(kSpanNumber, "timeout_seconds", resources.timeout_seconds,
         About("Time limit.").Examples("600"));
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_SETUP_MEMBERS_H_
