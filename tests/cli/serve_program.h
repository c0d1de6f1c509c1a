// `rharness serve` beside a test, over the runs of DrillProgram.
#ifndef RHARNESS_TESTS_CLI_SERVE_PROGRAM_H_
#define RHARNESS_TESTS_CLI_SERVE_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/cli/unfinished_drill.h"
#include "tests/insight/serve/http_client.h"

namespace rharness {

class ServeProgram : public DrillProgram {
 protected:
  // Whether it listens; its port is port().
  bool Start(const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {kRharness, "serve",    "--history",
                                     "runs.db", "--listen", "127.0.0.1:0"};
    argv.insert(argv.end(), options.begin(), options.end());
    server_ = std::make_unique<Background>(argv, folder_.path(), environment_);
    return Eventually([this] {
      if (!std::filesystem::exists(At("background.log"))) return false;
      const std::string log = Log();
      const std::size_t at = log.find("http://127.0.0.1:");
      if (at == std::string::npos || log.find('/', at + 8) == std::string::npos) return false;
      port_ = static_cast<std::uint16_t>(std::atoi(log.c_str() + at + 17));
      return port_ != 0;
    });
  }
  std::uint16_t port() const { return port_; }
  std::string Log() const { return Read(At("background.log")); }
  Background& server() { return *server_; }

 private:
  std::unique_ptr<Background> server_;
  std::uint16_t port_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_SERVE_PROGRAM_H_
