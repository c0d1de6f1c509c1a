// A complete manifest that the tests of its reader, its rules and the history start from.
#include "tests/records/manifest/example.h"

namespace rharness {

const std::string_view kExampleManifest = R"({
  "schema": "rharness.manifest/v1",
  "run_id": "digits-0007",
  "family": "digits-mlp/epyc",
  "started": "2026-11-20T08:00:00.000Z",
  "ended": "2026-11-20T08:01:30.500Z",
  "duration_seconds": 90.5,
  "code": {
    "repository": "https://git.example.org/ml/digits.git",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "dirty": true,
    "diff_sha256": "1111111111111111111111111111111111111111111111111111111111111111",
    "files": [{"path": "train.py",
               "sha256": "2222222222222222222222222222222222222222222222222222222222222222"}]
  },
  "image": {
    "kind": "oci",
    "registry": "registry.example.org:5000",
    "repository": "ml/train",
    "tag": "2026.11",
    "digest": "sha256:3333333333333333333333333333333333333333333333333333333333333333",
    "platform": "linux/amd64"
  },
  "data": [{"name": "digits", "location": "sets/digits.csv", "path": "data/digits.csv",
            "kind": "file", "size_bytes": 562000, "other_digest": "md5:0123",
            "source": "https://sets.example.org/digits.csv",
            "made_by": {"repository" : "https://git.example.org/etl", "version" : "2.3.1",
                        "commit" : "89abcdef0123456789abcdef0123456789abcdef"},
            "sha256": "4444444444444444444444444444444444444444444444444444444444444444"}],
  "command": ["python3", "train.py", "--seed", "7", "--lr=0.1"],
  "working_directory": "src",
  "hyperparameters": {"lr": 0.1, "layers": [64, 10], "schedule": {"kind": "cosine", "warm": 5}},
  "seeds": {"init": 7, "shuffle": 8},
  "rng_sources": ["init", "shuffle"],
  "environment": {
    "variables": {"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": null},
    "software": {"glibc": "2.36", "os": "Debian GNU/Linux 12"},
    "hardware": {
      "cpu": {"architecture": "x86_64", "model": "AMD EPYC 9654", "logical_cores": 192,
              "numa_nodes": 2, "sockets": 2, "cores_per_socket": 96,
              "l3_bytes": 33554432, "microcode": "0xa101144", "isa": ["avx2", "avx512f", "fma"]},
      "memory_bytes": 1622722691072,
      "gpus": [{"model": "NVIDIA H200", "memory_bytes": 150754820096, "uuid": "GPU-0",
                "bus_id": "0000:17:00.0", "numa_node": 1}],
      "gpu_driver": "580.65.06",
      "interconnect": "nvlink",
      "pcie_order": "0 1 | 2 3"
    },
    "packages": {"python": {"used": {"numpy": "1.26.4"}, "not_known": {"jax": "0.4.35"}},
                 "dpkg": {"not_used": {"htop:amd64": "3.2.2-2"}}}
  },
  "determinism": {"declared": "bitwise", "scope": "architecture",
                  "flags": {"torch.use_deterministic_algorithms": "true"}},
  "metrics_path": "metrics.json",
  "metrics": [
    {"name": "accuracy", "value": 0.991, "unit": "1", "direction": "higher", "primary": true,
     "margin": 0.01, "quantum": 0.0027777777777777778},
    {"name": "loss", "value": 0.03125, "unit": "nat", "direction": "lower"}
  ],
  "curves": [{"name": "loss", "steps": [0, 10, 20], "values": [2.3, 0.5, 0.03125]}],
  "artifacts": [{"role": "weights", "path": "out/model.safetensors", "location": "kept/model.st",
                 "size_bytes": 65608,
                 "sha256": "5555555555555555555555555555555555555555555555555555555555555555",
                 "tensor_digest":
                   "6666666666666666666666666666666666666666666666666666666666666666",
                 "tensors": [{"name": "fc.weight", "dtype": "F32", "shape": [64, 10],
                   "sha256": "7777777777777777777777777777777777777777777777777777777777777777"}]}],
  "resources": {"cpus": 2, "gpus": 1, "memory_bytes": 4294967296, "disk_bytes": 1073741824,
                "timeout_seconds": 600},
  "probe_families": ["gemm", "reduction"],
  "properties": [{"name": "repeated"},
                 {"name": "processes", "label": "two", "arguments": ["--processes", "2"],
                  "environment": {"GLOO_SOCKET_IFNAME": "lo", "OMP_PROC_BIND": null},
                  "within": {"metrics": {"loss": 1e-4}, "tensors": 1e-6}}],
  "observation": {
    "means": ["kernels", "maps", "preload", "python"],
    "seeds": {"random.seed": ["13"], "torch.manual_seed": ["14", "15"]},
    "flags": {"jax_enable_x64": "True"},
    "nondeterministic": {"cumsum_cuda_kernel": 3},
    "kernels": {"launched": [{"name": "_Z3sumPf", "launches": 24,
                              "shapes": ["4x1x1 of 256x1x1", "other shapes"]}],
                "orders": ["9f2c6a01d3e4b57c of 24 launches"], "all": true},
    "variables_read": ["MKL_CBWR"],
    "libraries": [{"path": "/opt/blas/libopenblas.so.0", "size_bytes": 100,
                   "soname": "libopenblas.so.0", "build_id": "00ff", "manager": "dpkg",
                   "package": "libopenblas0:amd64", "version": "0.3.21"}],
    "inputs": [{"path": "config.yaml", "size_bytes": 6,
                "sha256": "057913131a07cda7e1a4435613bfc7e8f0042464c223175f9b8c9cec40a29322"}],
    "unseen": ["tool is statically linked or of another machine: what it reads"]
  },
  "notes": ["recorded on the login node"],
  "origin": {"kind": "mlflow", "source": "https://mlflow.example", "id": "3f2a",
             "fields": [{"path": "code.commit", "grade": "hint",
                         "from": "tag mlflow.source.git.commit"}],
             "remarks": ["metric loss: line 3 is no number"]}
})";

const std::string_view kExampleEvidence = R"({
  "schema": "rharness.evidence/v1",
  "run_id": "digits-0007",
  "rerun": 2,
  "attempt": 3,
  "started": "2026-11-20T09:00:00.000Z",
  "ended": "2026-11-20T09:01:31.250Z",
  "outcome": {"kind": "signalled", "exit_code": 0, "signal": 11, "detail": "core dumped",
              "wall_seconds": 91.25, "cpu_seconds": 180.000000001, "peak_memory_bytes": 123456789,
              "not_held": "memory was watched: no control groups"},
  "obstacle": "the image is gone",
  "obstacle_layer": "environment",
  "image_digest": "sha256:3333333333333333333333333333333333333333333333333333333333333333",
  "image_id": "8888888888888888888888888888888888888888888888888888888888888888",
  "code_commit": "0123456789abcdef0123456789abcdef01234567",
  "code_files": [{"path": "train.py",
                  "sha256": "2222222222222222222222222222222222222222222222222222222222222222"}],
  "data": [{"name": "digits", "path": "data/digits.csv", "kind": "file", "size_bytes": 562000,
            "sha256": "4444444444444444444444444444444444444444444444444444444444444444"}],
  "remarks": [{"code": "output_missing", "layer": "code", "subject": "out/a.bin",
               "observed": "missing", "limit": "present", "message": "out/a.bin was not written"}],
  "environment": {"variables": {"TZ": null}, "software": {"glibc": "2.36"},
                  "packages": {"python": {"used": {"numpy": "2.4.6"}}}},
  "seeds": {"init": 7},
  "observation": {
    "means": ["kernels", "maps", "preload", "python"],
    "seeds": {"random.seed": ["13"], "torch.manual_seed": ["14", "15"]},
    "flags": {"jax_enable_x64": "True"},
    "nondeterministic": {"cumsum_cuda_kernel": 3},
    "kernels": {"launched": [{"name": "_Z3sumPf", "launches": 24,
                              "shapes": ["4x1x1 of 256x1x1", "other shapes"]}],
                "orders": ["9f2c6a01d3e4b57c of 24 launches"], "all": true},
    "variables_read": ["MKL_CBWR"],
    "libraries": [{"path": "/opt/blas/libopenblas.so.0", "size_bytes": 100,
                   "soname": "libopenblas.so.0", "build_id": "00ff", "manager": "dpkg",
                   "package": "libopenblas0:amd64", "version": "0.3.21"}],
    "inputs": [{"path": "config.yaml", "size_bytes": 6,
                "sha256": "057913131a07cda7e1a4435613bfc7e8f0042464c223175f9b8c9cec40a29322"}],
    "unseen": ["tool is statically linked or of another machine: what it reads"]
  },
  "metrics": {"metrics": {"accuracy": 0.75, "loss": "nan"},
              "curves": {"loss": {"steps": [1, 2], "values": [0.5, "inf"]}}},
  "artifacts": [{"role": "log", "path": "out/log.txt", "location": "runs/log.txt", "size_bytes": 3,
                 "sha256": "9999999999999999999999999999999999999999999999999999999999999999"}],
  "stdout_path": "runs/2/stdout.txt",
  "stderr_path": "runs/2/stderr.txt"
})";

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at == std::string_view::npos) Abort("not in the example: " + std::string(from));
  if (text.find(from, at + 1) != std::string_view::npos) {
    Abort("twice in the example: " + std::string(from));
  }
  return std::string(text.substr(0, at)).append(to).append(text.substr(at + from.size()));
}

Result<Manifest> ParseManifestText(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "run.json"));
  return ParseManifest(json, "run.json");
}

Result<Evidence> ParseEvidenceText(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "evidence.json"));
  return ParseEvidence(json, "evidence.json");
}

Manifest ExampleManifest() { return *ParseManifestText(kExampleManifest); }
Evidence ExampleEvidence() { return *ParseEvidenceText(kExampleEvidence); }

}  // namespace rharness
