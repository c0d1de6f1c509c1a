// `rharness gate baseline accept`: somebody takes a fingerprint as the baseline, for a while.
#include <fmt/format.h>

#include <memory>

#include "harness/base/files.h"
#include "harness/cli/gate_options.h"
#include "harness/gate/baseline.h"
#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

struct AcceptArguments {
  std::string fingerprint;
  std::string folder;
  std::string by;
  std::string reason;
  std::string expires;
};

Result<int> Accept(const AcceptArguments& arguments) {
  ASSIGN_OR_RETURN(const WallTime expires, ParseEndOfDay(arguments.expires));
  ASSIGN_OR_RETURN(const BaselineRecord record,
                   AcceptBaseline(arguments.fingerprint, arguments.folder, arguments.by,
                                  arguments.reason, SystemClock().Now(), expires));
  if (Globals().quiet) return kExitOk;
  return Print(
      TerminalSafe(fmt::format("accepted {} by {} {}\n", record.fingerprint_sha256.substr(0, 12),
                               record.accepted_by, FormatUntil(record.expires))));
}

}  // namespace

void AddGateBaseline(Command& gate) {
  auto arguments = std::make_shared<AcceptArguments>();
  Command& verb =
      gate.AddVerb("baseline", "Accepted fingerprints")
          .AddVerb("accept", "Accept a fingerprint as the baseline: who, why, until when");
  verb.Add("fingerprint", &arguments->fingerprint, "Fingerprint to accept").File().Required();
  verb.Add("--folder", &arguments->folder, "Folder of the baseline and its record")
      .Folder()
      .Required();
  verb.Add("--by", &arguments->by, "Who accepts it").Required();
  verb.Add("--reason", &arguments->reason, "Why").Required();
  verb.Add("--expires", &arguments->expires, "Last day on which it holds, such as 2026-12-31 (UTC)")
      .Value("DATE")
      .Required();
  verb.Example(
      "rharness gate baseline accept now.json --folder baseline --by ada --reason \"in use since "
      "May\" "
      "--expires 2026-12-31");
  verb.Do([arguments] {
    const auto code = Accept(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
