// fork, a pipe, and the JSON of a result.
#include "probes/gpu/forked.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "probes/runner.h"

namespace rharness {
namespace {

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string ReadAll(int descriptor) {
  std::string text;
  char some[65536];
  while (true) {
    const ssize_t got = ::read(descriptor, some, sizeof(some));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(some, static_cast<std::size_t>(got));
  }
}

[[noreturn]] void RunChild(const std::vector<VariableChange>& changes,
                           const std::function<ProbeResult()>& run, int out) {
  for (const VariableChange& change : changes) {
    if (change.value) {
      ::setenv(change.name.c_str(), change.value->c_str(), 1);
    } else {
      ::unsetenv(change.name.c_str());
    }
  }
  const bool written = WriteAll(out, ToJson(run()).Dump());
  // As the program itself ends a probe: libraries of the stack are not asked to tidy up.
  ::_exit(written ? 0 : 1);
}

int WaitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<ProbeResult> RunForked(const std::vector<VariableChange>& changes,
                              const std::function<ProbeResult()>& run) {
  int ends[2];
  if (::pipe(ends) != 0) return IoErrorFromErrno("cannot make a pipe", errno);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    RunChild(changes, run, ends[1]);
  }
  const int failed = errno;
  ::close(ends[1]);
  const std::string text = child > 0 ? ReadAll(ends[0]) : "";
  ::close(ends[0]);
  if (child < 0) return IoErrorFromErrno("cannot fork", failed);
  const int status = WaitFor(child);
  if (WIFSIGNALED(status)) {
    return FailedProbe(fmt::format("its process was ended by signal {}", WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) {
    return FailedProbe(fmt::format("its process exited with code {}", WEXITSTATUS(status)));
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "result"));
  return ParseProbeResult(json);
}

bool AddPart(const std::string& name, ProbeResult part, ProbeResult* whole) {
  if (part.status != ProbeStatus::kOk) {
    whole->status = part.status;
    whole->message = fmt::format("{}: {}", name, part.message);
    return false;
  }
  whole->choices.merge(part.choices);
  whole->trees.merge(part.trees);
  whole->bits.merge(part.bits);
  whole->counts.merge(part.counts);
  whole->libraries.merge(part.libraries);
  whole->unstable.insert(whole->unstable.end(), part.unstable.begin(), part.unstable.end());
  whole->notes.insert(whole->notes.end(), part.notes.begin(), part.notes.end());
  return true;
}

}  // namespace rharness
