// The members of an environment: variables, software, the machine, the Python.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ENVIRONMENT_MEMBERS_H_

#include <array>
#include <string_view>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

template <class Io, Is<Cpu> T>
void Members(Io& io, T& cpu) {
  io.May(kPlainText, "architecture", cpu.architecture,
         About("As uname names it.").Examples("x86_64"));
  io.May(kPlainText, "model", cpu.model,
         About("As the system names it.").Examples("AMD EPYC 9654 96-Core Processor"));
  io.May(kCountNumber, "logical_cores", cpu.logical_cores,
         About("Cores online, hardware threads counted.").Examples("192"));
  io.May(kCountNumber, "numa_nodes", cpu.numa_nodes, About("Memory nodes.").Examples("2"));
  io.May(kPlainText, "microcode", cpu.microcode, About("Its version.").Examples("0xa101144"));
  io.May("isa", cpu.isa,
         About("The flags that numeric libraries dispatch on, sorted.")
             .Examples(R"(["avx2", "avx512f", "fma"])"));
  io.UnlessEmpty(
      kCountNumber, "sockets", cpu.sockets,
      About("Processors; here and below, left out where hwloc is not there to say.").Examples("2"));
  io.UnlessEmpty(kCountNumber, "cores_per_socket", cpu.cores_per_socket,
                 About("Cores of each, hardware threads not counted.").Examples("96"));
  io.UnlessEmpty("l3_bytes", cpu.l3_bytes,
                 About("Of one cache of the third level.").Examples("33554432"));
}

template <class Io, Is<Gpu> T>
void Members(Io& io, T& gpu) {
  io.Noun("A GPU.");
  io.May(kPlainText, "model", gpu.model, About("As the driver names it.").Examples("NVIDIA H200"));
  io.May("memory_bytes", gpu.memory_bytes, About("Its memory in bytes.").Examples("150754820096"));
  io.May(kPlainText, "uuid", gpu.uuid,
         About("Names the board, for the question whether it is the same machine.")
             .Examples("GPU-5d3e"));
  io.UnlessEmpty(
      kCountNumber, "cores", gpu.cores,
      About("Its arithmetic cores; left out where the driver does not say.").Examples("16896"));
  io.UnlessEmpty(kPlainText, "compute_capability", gpu.compute_capability,
                 About("Its architecture.").Examples("\"9.0\""));
  io.UnlessEmpty(
      kPlainText, "mig", gpu.mig,
      About("Whether it is shared out in instances: enabled or disabled.").Examples("disabled"));
  io.UnlessEmpty(kPlainText, "compute_mode", gpu.compute_mode,
                 About("Which processes it serves.").Examples("default"));
  io.UnlessEmpty(kPlainText, "bus_id", gpu.bus_id,
                 About("Where it is on PCI; left out where the driver does not say.")
                     .Examples("0000:17:00.0"));
  io.UnlessEmpty(kCountNumber, "numa_node", gpu.numa_node,
                 About("The memory node that it hangs on.").Examples("0"));
}

Json DescribeInterconnect(SchemaNoun&);
inline constexpr TextKind<ReadAlone<ReadText>, DescribeInterconnect> kInterconnect;

template <class Io, Is<Hardware> T>
void Members(Io& io, T& hardware) {
  io.MayObject("cpu", hardware.cpu, "The processor.");
  io.May("memory_bytes", hardware.memory_bytes,
         About("Main memory in bytes.").Examples("1622722691072"));
  io.List("gpus", hardware.gpus, "One an accelerator.");
  io.May(kPlainText, "gpu_driver", hardware.gpu_driver,
         About("Version of the driver; empty: none.").Examples("580.65.06"));
  io.May(kInterconnect, "interconnect", hardware.interconnect, "Between the GPUs.");
  io.UnlessEmpty(
      kPlainText, "pcie_order", hardware.pcie_order,
      About("Of several GPUs: their numbers in the order of the PCIe tree, a bar between "
            "those that share no port of the host.")
          .Examples("0 1 | 2 3"));
}

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
