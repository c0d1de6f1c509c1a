// The Python environment of a run, as recorded: its kind, its place, its interpreter. Its packages
// are Environment::packages.
//
// Role: lets a rerun use the same environment again, which no checkout contains.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PYTHON_ENVIRONMENT_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PYTHON_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

enum class PythonKind {
  kSystem,  // an interpreter of the system, or built or unpacked elsewhere
  kPyenv,   // one of pyenv's versions
  kVenv,    // a virtual environment (PEP 405): venv, virtualenv
  kUv,      // one that uv made
  kConda,
};
std::string_view PythonKindName(PythonKind kind);  // "system", "pyenv", "venv", "uv", "conda"

// Whether it is a separate folder for one set of packages, which a rerun must have.
bool IsIsolated(PythonKind kind);

struct PythonEnvironment {
  PythonKind kind = PythonKind::kSystem;
  std::string prefix;       // its folder: absolute, links resolved
  std::string place;        // its place below the code's root, for commands; empty: outside
  std::string program;      // the started file, below the prefix: "bin/python"
  std::string interpreter;  // the target of that file, links resolved
  std::string version;      // "3.11.7"; empty: not known
  // Its bin was on PATH, or VIRTUAL_ENV or CONDA_PREFIX named it.
  bool activated = false;
  // Folders before its own: PYTHONPATH, then those of editable installs below the code's root.
  // Relative ones are below that root.
  std::vector<std::string> search_path;
  std::string user_base;  // folder of `pip install --user`; empty: none
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PYTHON_ENVIRONMENT_H_
