// The members of an environment: variables, software, the Python; hardware_members.h has the
// machine.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_MEMBERS_H_

#include <array>
#include <string_view>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/hardware_members.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

inline constexpr NameTable<PythonKind, 5> kPythonKindNames = {{{PythonKind::kSystem, "system"},
                                                               {PythonKind::kPyenv, "pyenv"},
                                                               {PythonKind::kVenv, "venv"},
                                                               {PythonKind::kUv, "uv"},
                                                               {PythonKind::kConda, "conda"}}};

// An absolute path without ':'; it becomes a part of a command and of lists between colons.
void ReadPythonFolder(JsonReader& reader, std::string_view key, Presence presence,
                      std::string* out);
inline constexpr TextKind<ReadPythonFolder, DescribeFolder> kPythonFolder;
void CheckMembers(JsonReader& reader, const PythonEnvironment& python);

template <class Io, Is<PythonEnvironment> T>
void Members(Io& io, T& python) {
  io.Must(EnumKind<kPythonKindNames>(), "kind", python.kind,
          "What it is: an interpreter of the system, one of pyenv's versions, or a folder of its "
          "own for packages.");
  io.Must(kPythonFolder, "prefix", python.prefix,
          About("Its folder, links resolved.").Examples("/srv/lab/digits/.venv"));
  io.UnlessEmpty(kRelativePath, "place", python.place,
                 About("Where a command finds it, relative to the code's root. Absent where it "
                       "lies elsewhere.")
                     .Examples(".venv"));
  io.UnlessEmpty(kRelativePath, "program", python.program,
                 About("What was started, below the prefix.").Examples("bin/python"));
  io.UnlessEmpty(
      kPythonFolder, "interpreter", python.interpreter,
      About("The file that this leads to, links resolved.").Examples("/usr/bin/python3.11"));
  io.UnlessEmpty(kPlainText, "version", python.version,
                 About("Of the interpreter.").Examples("3.11.2"));
  io.UnlessEmpty(kPythonFolder, "user_base", python.user_base,
                 About("Where `pip install --user` had put packages that it saw.")
                     .Examples("/srv/lab/.local"));
  io.UnlessEmpty("activated", python.activated,
                 "Its bin was on PATH, or VIRTUAL_ENV or CONDA_PREFIX named it. Absent: no.");
  io.UnlessEmpty("search_path", python.search_path,
                 About("Folders before its own: PYTHONPATH, then those of editable installs below "
                       "the code's root. Relative ones are below that root.")
                     .Examples(R"(["src"])"));
}

template <class Io, Is<Environment> T>
void Members(Io& io, T& environment) {
  io.Noun("What the run ran on.");
  io.May(kVariables, "variables", environment.variables,
         About("Environment variables that change arithmetic or randomness; null: known to be "
               "unset. A secret is replaced by a note: \"withheld:redacted\", or "
               "\"withheld:hmac-sha256:\", the id of a key and the keyed digest; older records "
               "have \"withheld:sha256:\" and the plain digest.")
             .Examples(R"({"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": null})"));
  io.May(kByName, "software", environment.software,
         About("Versions by name.").Examples(R"({"glibc": "2.36", "os": "Debian GNU/Linux 12"})"));
  io.MayObject("hardware", environment.hardware, "The machine.");
  io.UnlessEmpty(kPackages, "packages", environment.packages,
                 About("Packages by package manager (\"python\", \"conda\", \"dpkg\"), then by "
                       "whether a process of the run was seen to use them: versions by name. A "
                       "manager that is missing was not looked at; absent in records of before.")
                     .Examples(R"({"python": {"used": {"numpy": "1.26.4"}}})"));
  io.UnlessEmpty(kLockFiles, "lock_files", environment.lock_files,
                 "SHA-256 of each lock file beside the code, by its path relative to the code's "
                 "root. Absent where none was found, and in records of before.");
  io.ObjectUnlessEmpty("python", environment.python,
                       "The Python that a run on the host ran in. Absent where none was seen, and "
                       "in records of before.");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_MEMBERS_H_
