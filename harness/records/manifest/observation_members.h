// The members of an observation. What was not looked at is left out.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_MEMBERS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

// The means that are known; a reader takes others, of a later version, as they are.
struct MeansKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::set<std::string>* out) {
    NamesKind::Read(reader, key, false, out);
  }
  static Json Write(const std::set<std::string>& means) { return NamesKind::Write(means); }
  static Json Describe(SchemaNoun&);
};

// Names, or lists of names, by name.
struct NamesByNameKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, std::vector<std::string>>* out);
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, std::string>* out);
  static Json Write(const std::map<std::string, std::vector<std::string>>& lists);
  static Json Write(const std::map<std::string, std::string>& names) { return JsonOf(names); }
  template <class T>
  static Json Describe(SchemaNoun& schema) {
    Json name = DescribeName(schema);
    if constexpr (IsList<typename T::mapped_type>) {
      name = Json::MakeObject({{"type", "array"}, {"items", std::move(name)}});
    }
    return Json::MakeObject({{"type", "object"}, {"additionalProperties", std::move(name)}});
  }
};

template <class Io, Is<SeenLibrary> T>
void Members(Io& io, T& library) {
  io.Must(kAnyPath, "path", library.path, "Where it lies; relative where the run made it.");
  io.May("size_bytes", library.size_bytes, "Its size.");
  io.UnlessEmpty(kPlainText, "soname", library.soname,
                 About("The name that other files link against; absent where it has none.")
                     .Examples("libopenblas.so.0"));
  io.UnlessEmpty(kHex, "build_id", library.build_id, "The GNU build id; absent where it has none.");
  io.UnlessEmpty(
      kPlainText, "manager", library.manager,
      About("The manager of the package that it is of; left out: none is known.").Examples("dpkg"));
  io.UnlessEmpty(kPlainText, "package", library.package, "That package.");
  io.UnlessEmpty(kPlainText, "version", library.version, "Of that package.");
}

template <class Io, Is<SeenInput> T>
void Members(Io& io, T& input) {
  io.Must(kAnyPath, "path", input.path, "Relative to the code's root where it lies below.");
  io.May("size_bytes", input.size_bytes, "Its size.");
  io.UnlessEmpty(kHex, "sha256", input.sha256,
                 "Of its content; left out: too large to be hashed in passing.");
}

template <class Io, Is<SeenKernel> T>
void Members(Io& io, T& kernel) {
  io.Noun("A GPU kernel that was launched.");
  io.Must(kNameText, "name", kernel.name, "Its symbol; a long one ends with a digest of it.");
  io.May("launches", kernel.launches, "How often, by all processes.");
  io.UnlessEmpty("shapes", kernel.shapes,
                 About("Blocks of threads, and dynamic shared memory, of its launches.")
                     .Examples(R"(["4x1x1 of 256x1x1 + 1024 bytes"])"));
}

template <class Io, Is<SeenKernels> T>
void Members(Io& io, T& kernels) {
  io.Noun("GPU kernels that the processes of the run launched.");
  io.ListUnlessEmpty("launched", kernels.launched, "By name.");
  io.UnlessEmpty("orders", kernels.orders,
                 About("Of each process a digest of the names in the order of their launches, and "
                       "how many there were.")
                     .Examples(R"(["9f2c6a01d3e4b57c of 24 launches"])"));
  io.May("all", kernels.is_all, "Whether none was missed.");
}

template <class Io, Is<Observation> T>
void Members(Io& io, T& seen) {
  io.Noun("What the run was seen to use while it ran. Absent: nothing was looked at.");
  io.May(MeansKind(), "means", seen.means,
         "How it was looked at: samples of /proc, a library before the others, hooks in each "
         "Python, a library in each CUDA driver.");
  io.UnlessEmpty(NamesByNameKind(), "seeds", seen.seeds,
                 About("Values that were set, by what set them; in the order of the calls where "
                       "one process made them, else sorted.")
                     .Examples(R"({"numpy.random.seed": ["7"]})"));
  io.UnlessEmpty(NamesByNameKind(), "flags", seen.flags,
                 About("Determinism flags in force at the end.")
                     .Examples(R"({"torch.use_deterministic_algorithms": "True"})"));
  io.UnlessEmpty(kByName, "nondeterministic", seen.nondeterministic,
                 "Operators that warned of having no deterministic implementation, and how often "
                 "that was shown.");
  io.UnlessEmpty(NamesByNameKind(), "nccl", seen.nccl,
                 About("What NCCL's log says that it chose. Absent: no such log was seen.")
                     .Examples(R"({"version": "2.21.5+cuda12.4", "network": "IB"})"));
  io.ObjectUnlessEmpty("kernels", seen.kernels,
                       "GPU kernels that were launched. Absent: they were not looked at, or no "
                       "process had a CUDA driver.");
  io.UnlessEmpty(kNames, "variables_read", seen.variables_read,
                 "Of the variables that a record keeps, those that somebody asked for by name. "
                 "Absent: not every program could be looked at.");
  io.ListUnlessEmpty("libraries", seen.libraries,
                     "Libraries that were mapped as code, without those of packages that no "
                     "numeric work is made of.");
  io.ListUnlessEmpty("inputs", seen.inputs,
                     "Files that were read and that neither data, code nor an installed package "
                     "accounts for. Absent: not known.");
  io.UnlessEmpty(kNames, "overwritten", seen.overwritten,
                 "Files that the run read as they were before it and then wrote over, relative to "
                 "its folder: what it began from is in no record.");
  io.UnlessEmpty("unseen", seen.unseen, "What could not be looked at, one sentence each.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_MEMBERS_H_
