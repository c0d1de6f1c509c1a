// Writing a configuration for two nodes on one host, and starting the daemons.
#include "tests/execution/dispatch/slurm_world.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string HostName() {
  std::string name(256, '\0');
  ::gethostname(name.data(), name.size() - 1);
  name.resize(name.find('\0'));
  return name.substr(0, name.find('.'));
}

}  // namespace

SlurmWorld::SlurmWorld(Accounting accounting, int max_array)
    : accounting_(accounting), max_array_(max_array) {
  if (::geteuid() != 0) {
    problem_ = "needs root";
    return;
  }
  std::vector<std::string> programs = {"munged", "slurmctld", "slurmd", "sbatch", "squeue"};
  if (accounting_ == Accounting::kDatabase) {
    programs.insert(programs.end(), {"slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db"});
  }
  for (const std::string& program : programs) {
    const ProcessResult found = ContainerWorld::Run({"sh", "-c", "command -v " + program});
    if (found.outcome.Succeeded()) continue;
    problem_ = fmt::format("{} is not installed", program);
    return;
  }
  auto folder = ScopedTempDir::Make("rharness-slurm-");
  if (!folder.ok()) {
    problem_ = folder.error().ToString();
    return;
  }
  folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
  reaper_ = std::make_unique<Reaper>(folder_->path());
  problem_ = reaper_->problem();
  if (!problem_.empty()) return;
  Configure();
  Start();
}

SlurmWorld::~SlurmWorld() {
  daemons_.erase("slurmctld");
  daemons_.clear();
  database_.reset();
  munge_.reset();
}

void SlurmWorld::Serve(const std::string& daemon) {
  std::vector<std::string> argv = {"slurmd", "-D", "-N", daemon};
  if (!daemon.starts_with("n")) argv = {daemon, "-D"};
  daemons_[daemon] = std::make_unique<Service>(std::move(argv));
}

void SlurmWorld::Kill(const std::string& daemon) {
  const std::string file = daemon.starts_with("n") ? "slurmd." + daemon + ".pid" : daemon + ".pid";
  const auto pid = ReadFile(folder_->path() / file);
  if (pid.ok() && std::atoi(pid->c_str()) > 0) ::kill(std::atoi(pid->c_str()), SIGKILL);
  daemons_.erase(daemon);
}

void SlurmWorld::KillAndRestart(const std::string& daemon, std::chrono::milliseconds down) {
  Kill(daemon);
  std::this_thread::sleep_for(down);
  Serve(daemon);
}

void SlurmWorld::ForgetJobs() {
  Kill("slurmctld");
  fs::remove_all(folder_->path() / "state");
  fs::create_directories(folder_->path() / "state");
  // A node refuses the number of a job that it has seen end.
  std::ofstream(folder_->path() / "slurm.conf", std::ios::app) << "FirstJobId=1000\n";
  Serve("slurmctld");
  for (int i = 0; i < 100 && Run({"scontrol", "ping"}).find("UP") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void SlurmWorld::StartAccounting() {
  const std::string at = folder_->path().string();
  const int port = ContainerWorld::FreePort();
  const auto await = [](const std::vector<std::string>& argv) {
    for (int i = 0; i < 300; ++i) {
      if (ContainerWorld::Run(argv).outcome.Succeeded()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  };
  const std::string socket = "--socket=" + at + "/database.socket";
  (void)Run({"mariadb-install-db", "--no-defaults", "--datadir=" + at + "/database", "--user=root",
             "--auth-root-authentication-method=normal", "--skip-test-db"});
  database_ = std::make_unique<Service>(std::vector<std::string>{
      "mariadbd", "--no-defaults", "--user=root", "--datadir=" + at + "/database", socket,
      "--port=" + std::to_string(port), "--bind-address=127.0.0.1",
      "--pid-file=" + at + "/database.pid", "--innodb-buffer-pool-size=64M"});
  if (!await({"mariadb", "--no-defaults", socket, "-e",
              "create database slurm; create user slurm@'127.0.0.1' identified by 'test'; "
              "grant all on slurm.* to slurm@'127.0.0.1'"})) {
    problem_ = "the database did not come up";
    return;
  }
  (void)WriteFileAtomic(
      folder_->path() / "slurmdbd.conf",
      fmt::format("AuthType=auth/munge\nAuthInfo=socket={0}/munge/socket\nDbdHost={1}\n"
                  "DbdAddr=127.0.0.1\nDbdPort={2}\nSlurmUser=root\nPidFile={0}/slurmdbd.pid\n"
                  "LogFile={0}/log/dbd\nStorageType=accounting_storage/mysql\n"
                  "StorageHost=127.0.0.1\nStoragePort={3}\nStorageUser=slurm\nStoragePass=test\n"
                  "StorageLoc=slurm\nCommunicationParameters=NoInAddrAny\n",
                  at, HostName(), accounting_port_, port));
  fs::permissions(folder_->path() / "slurmdbd.conf",
                  fs::perms::owner_read | fs::perms::owner_write);
  Serve("slurmdbd");
  if (!await({"sacctmgr", "--immediate", "add", "cluster", "test"})) {
    problem_ = "slurmdbd did not come up";
  }
}

std::string SlurmWorld::Run(std::vector<std::string> argv) {
  return ContainerWorld::Run(std::move(argv)).stdout_text;
}

std::string SlurmWorld::Describe() const {
  return Run({"squeue", "--all", "--format=%i %T %r %N"}) +
         Run({"sinfo", "--all", "--format=%n %T %E"}) +
         Run({"sh", "-c", "tail -n 40 " + folder_->path().string() + "/log/* 2>&1"});
}

void SlurmWorld::Configure() {
  const fs::path at = folder_->path();
  for (const char* name : {"munge", "state", "spool/n1", "spool/n2", "log"}) {
    fs::create_directories(at / name);
  }
  fs::permissions(at, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  std::string key(1024, '\0');
  std::random_device device;
  for (char& byte : key) byte = static_cast<char>(device());
  (void)WriteFileAtomic(at / "munge/key", key);
  fs::permissions(at / "munge/key", fs::perms::owner_read);
  const std::string host = HostName();
  const auto port = [] { return ContainerWorld::FreePort(); };
  accounting_port_ = port();
  const std::string storage =
      accounting_ == Accounting::kNone
          ? "AccountingStorageType=accounting_storage/none\n"
          : fmt::format(
                "AccountingStorageType=accounting_storage/slurmdbd\n"
                "AccountingStorageHost=127.0.0.1\nAccountingStoragePort={}\n"
                // Which is how a munge is named that is not at its usual place.
                "AccountingStoragePass={}/munge/socket\n",
                accounting_port_, at.string());
  (void)WriteFileAtomic(
      at / "slurm.conf",
      fmt::format("ClusterName=test\nSlurmctldHost={1}(127.0.0.1)\nSlurmUser=root\n"
                  "SlurmctldPort={2}\nSlurmdParameters=config_overrides\nAuthType=auth/munge\n"
                  "AuthInfo=socket={0}/munge/socket\nCredType=cred/munge\n"
                  "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
                  "StateSaveLocation={0}/state\nSlurmdSpoolDir={0}/spool/%n\n"
                  "SlurmctldPidFile={0}/slurmctld.pid\nSlurmdPidFile={0}/slurmd.%n.pid\n"
                  "SlurmctldLogFile={0}/log/ctld\nSlurmdLogFile={0}/log/%n\n"
                  "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
                  "{5}"
                  "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
                  "SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,"
                  "sched_min_interval=0\n"
                  "PropagateResourceLimits=NONE\nReturnToService=2\nMpiDefault=none\n"
                  "MinJobAge=300\nKillWait=5\nMaxArraySize={6}\n"
                  // A launch that a killed daemon lost is noticed when the node is asked.
                  "SlurmdTimeout=30\nBatchStartTimeout=5\n"
                  "NodeName=n1 NodeHostname={1} NodeAddr=127.0.0.1 Port={3} CPUs=4 State=UNKNOWN\n"
                  "NodeName=n2 NodeHostname={1} NodeAddr=127.0.0.1 Port={4} CPUs=4 State=UNKNOWN\n"
                  "PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n",
                  at.string(), host, port(), port(), port(), storage, max_array_));
  ::setenv("SLURM_CONF", (at / "slurm.conf").c_str(), 1);
}

void SlurmWorld::Start() {
  const std::string at = folder_->path().string();
  munge_ = std::make_unique<Service>(
      std::vector<std::string>{"munged", "--force", "--foreground", "--key-file", at + "/munge/key",
                               "--socket", at + "/munge/socket", "--pid-file", at + "/munge/pid",
                               "--log-file", at + "/munge/log", "--seed-file", at + "/munge/seed"});
  for (int i = 0; i < 100 && !fs::exists(at + "/munge/socket"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (accounting_ == Accounting::kDatabase) StartAccounting();
  if (!problem_.empty()) return;
  for (const char* daemon : {"slurmctld", "n1", "n2"}) Serve(daemon);
  for (int i = 0; i < 300; ++i) {
    if (Run({"sinfo", "--noheader", "--format=%T %D"}) == "idle 2\n") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  problem_ = "two nodes did not come up: " + Run({"sh", "-c", "tail -n 3 " + at + "/log/* 2>&1"});
}

}  // namespace rharness
