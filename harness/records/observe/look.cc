// rharness-look FOLDER: observes one run in a container from outside, and prints what it saw when
// it gets SIGTERM.
//
// Role: started by image_observer.cc, which writes FOLDER/request.json; rharness-enter reports to
// it (door.h). Samples the container's processes in /proc, as RunProcess does for a run on this
// host; at the end it reads the notes, makes the container's root its own, and lets the Observer
// read the run's files there.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <thread>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/process_tree.h"
#include "harness/records/manifest/packages.h"
#include "harness/records/observe/door.h"
#include "harness/records/observe/image_observer.h"
#include "harness/records/observe/kernel_arena.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr unsigned kLongestReportSeconds = 8;
constexpr int kCostShare = 400;  // samples may use one part in this many of a core
constexpr nanoseconds kFirstSample = milliseconds(5);
constexpr nanoseconds kShortestInterval = milliseconds(50);
constexpr nanoseconds kLongestInterval = std::chrono::seconds(2);

nanoseconds Now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// What rharness-enter handed over.
struct Entry {
  DoorMessage message;
  int pid = 0;  // on this host; 0: not known
  Descriptor root;
  Descriptor notes;
  Descriptor mounts;  // only held: keeps the mounts below the root
};

std::string_view InWords(DoorWhy why) {
  switch (why) {
    case DoorWhy::kNone:
      return "";
    case DoorWhy::kNotes:
      return "found no folder in its container to write notes in";
    case DoorWhy::kNotGlibc:
      return "is not linked with glibc";
    case DoorWhy::kAddressSanitizer:
      return "is built with AddressSanitizer, which wants no library before its own";
  }
  return "has no library before its own";
}

class Door {
 public:
  // Listens in this folder. Errors: io.
  static Result<Door> Open(const fs::path& folder) {
    // By a short name, since sockets have no long ones.
    if (::chdir(folder.c_str()) != 0) return IoErrorFromErrno("cannot enter", errno, folder);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof(address.sun_path), "door/%s", kDoorSocket);
    Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::chmod(address.sun_path, 0666) != 0 || ::listen(fd.get(), 1) != 0) {
      return IoErrorFromErrno("cannot listen at the door", errno, folder);
    }
    return Door(std::move(fd));
  }

  pollfd Awaited() const {
    return {caller_.valid() ? caller_.get() : closed_ ? -1 : listener_.get(), POLLIN, 0};
  }

  // Accepts a waiting caller, without blocking. The first caller is rharness-enter; there is no
  // other.
  void Receive() {
    if (!caller_.valid() && !closed_) {
      caller_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    }
    while (caller_.valid() && Take()) {
    }
  }

  const std::optional<Entry>& entry() const { return entry_; }
  int not_started() const { return not_started_; }

 private:
  explicit Door(Descriptor listener) : listener_(std::move(listener)) {}

  bool Take() {
    DoorMessage message;
    iovec part{&message, sizeof(message)};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
    msghdr packet{};
    packet.msg_iov = &part;
    packet.msg_iovlen = 1;
    packet.msg_control = control.data();
    packet.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(caller_.get(), &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    std::vector<Descriptor> fds = DescriptorsOf(&packet);
    if (size != static_cast<ssize_t>(sizeof(message)) || message.magic != kDoorMagic) {
      caller_.Close();
      closed_ = true;
      return false;
    }
    if (message.event == DoorEvent::kNotStarted) not_started_ = std::max(message.error, 0);
    if (message.event == DoorEvent::kEntered && !entry_) AddEntry(message, std::move(fds));
    return true;
  }

  static std::vector<Descriptor> DescriptorsOf(msghdr* packet) {
    std::vector<Descriptor> fds;
    for (cmsghdr* head = CMSG_FIRSTHDR(packet); head != nullptr; head = CMSG_NXTHDR(packet, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = 0; at + sizeof(int) <= head->cmsg_len - CMSG_LEN(0);
           at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(head) + at, sizeof(fd));
        fds.emplace_back(fd);
      }
    }
    return fds;
  }

  void AddEntry(const DoorMessage& message, std::vector<Descriptor> fds) {
    entry_.emplace().message = message;
    entry_->message.program[sizeof(message.program) - 1] = 0;
    ucred caller{};
    socklen_t size = sizeof(caller);
    if (::getsockopt(caller_.get(), SOL_SOCKET, SO_PEERCRED, &caller, &size) == 0) {
      entry_->pid = caller.pid;
    }
    fds.resize(3);
    entry_->root = std::move(fds[0]);
    entry_->notes = std::move(fds[1]);
    entry_->mounts = std::move(fds[2]);
  }

  Descriptor listener_;
  Descriptor caller_;
  bool closed_ = false;
  std::optional<Entry> entry_;
  int not_started_ = 0;
};

// The processes of the container: the first one and its descendants.
class Samples {
 public:
  explicit Samples(int pid)
      : pid_(pid), started_(ProcessStartTicks(pid)), tree_(pid, ""), begin_(Now(CLOCK_MONOTONIC)) {
    due_ = begin_ + kFirstSample;
    const Descriptor maps(::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!maps.valid() && (errno == EACCES || errno == EPERM)) {
      problem_ = fmt::format("the container's processes in /proc: {}", std::strerror(errno));
    }
  }

  nanoseconds due() const { return due_; }
  const std::string& problem() const { return problem_; }

  void TakeIfDue() {
    const nanoseconds now = Now(CLOCK_MONOTONIC);
    if (now < due_) return;
    const nanoseconds before = Now(CLOCK_THREAD_CPUTIME_ID);
    // A number may be somebody else's by now.
    if (started_ && ProcessStartTicks(pid_) == started_) {
      tree_.Refresh(/*search_environments=*/false);
      for (const int pid : tree_.LivingMembers()) {
        AddProcess(pid, FootprintVariables(), &footprint_);
      }
    }
    const nanoseconds cost = Now(CLOCK_THREAD_CPUTIME_ID) - before;
    const nanoseconds interval =
        std::clamp<nanoseconds>(kCostShare * cost, kShortestInterval, kLongestInterval);
    due_ = now + std::min<nanoseconds>(interval, std::max<nanoseconds>(now - begin_, kFirstSample));
  }

  // Without the program that the run began with.
  Footprint Take() {
    const std::string parts = std::string(kInsideParts) + "/";
    std::erase_if(footprint_.programs,
                  [&](const SeenProgram& one) { return one.executable.starts_with(parts); });
    std::erase_if(footprint_.mapped,
                  [&](const std::string& path) { return path.starts_with(parts + kEnterProgram); });
    return std::move(footprint_);
  }

 private:
  int pid_;
  std::optional<std::uint64_t> started_;
  ProcessTree tree_;
  nanoseconds begin_;
  nanoseconds due_;
  Footprint footprint_;
  std::string problem_;
};

// The container's root as that of the process, or of the thread that has its own.
Status EnterRoot(int root) {
  if (::fchdir(root) == 0 && ::chroot(".") == 0) return {};
  return IoErrorFromErrno("cannot make the container's root this process's own", errno);
}

// Root of a user namespace of its own may also do it. There is no other thread.
Status EnterRootAsUser(int root) {
  const Status entered = EnterRoot(root);
  return entered.ok() || ::unshare(CLONE_NEWUSER) != 0 ? entered : EnterRoot(root);
}

// Reads the lists of the image's packages, which are kept, while the run goes on: at its end they
// would be waited for.
class Reading {
 public:
  // What reads its configuration when it is first used must not find the image's.
  explicit Reading(const Entry& entry) {
    (void)Sha256HexOf("");
    const std::string program = entry.message.program;
    thread_ = std::thread([program, root = entry.root.get()] {
      if (::unshare(CLONE_FS) != 0 || !EnterRoot(root).ok()) return;
      Footprint footprint;
      footprint.programs.insert({.executable = program,
                                 .invoked_as = program,
                                 .working_directory = "/",
                                 .variables = {}});
      (void)CapturePackages(footprint);
    });
  }
  ~Reading() { thread_.join(); }

 private:
  std::thread thread_;
};

ImageSeen SeenIn(const Entry& entry, Samples* samples, const LookRequest& request,
                 WallTime started) {
  const DoorMessage& message = entry.message;
  if (!entry.root.valid() || !entry.notes.valid()) {
    return {.observation = NothingSeen("its first program could not hand over its folders")};
  }
  auto notes = HeldFolder::Open(fmt::format("/proc/self/fd/{}", entry.notes.get()));
  if (!notes.ok()) return {.observation = NothingSeen("the notes: " + notes.error().message)};
  const Lent lent{.preload = message.preload != 0,
                  .python = message.python != 0,
                  .kernels = message.kernels != 0,
                  .why_not_preload = std::string(InWords(message.why)),
                  .program = message.program,
                  .variables = request.variables};
  ObserveRequest asked = request.request;
  asked.declared.emplace_back(kInsideFolder);
  const fs::path parts = kInsideParts;
  Observer observer(std::move(*notes), std::move(asked),
                    {.preload = parts / "librharness-observe.so",
                     .python = parts / "python",
                     .kernels = parts / kKernelsLibrary},
                    lent);
  observer.ReadNotes();
  if (const Status entered = EnterRootAsUser(entry.root.get()); !entered.ok()) {
    return {.observation = NothingSeen(entered.error().ToString())};
  }
  Footprint footprint = samples->Take();
  PackageOwners owners;
  observer.Complete(&footprint);
  (void)CapturePackages(footprint, "/", &owners);
  ImageSeen seen{.observation = observer.Collect(footprint, owners, started)};
  if (!samples->problem().empty()) seen.observation.unseen.push_back(samples->problem());
  return seen;
}

// Until SIGTERM.
void Watch(int signals, Door* door, std::optional<Samples>* samples) {
  std::optional<Reading> reading;
  for (;;) {
    const nanoseconds wait =
        *samples ? std::max((*samples)->due() - Now(CLOCK_MONOTONIC), nanoseconds{0})
                 : nanoseconds(std::chrono::hours(1));
    const timespec limit{.tv_sec = static_cast<time_t>(wait / std::chrono::seconds(1)),
                         .tv_nsec = static_cast<long>((wait % std::chrono::seconds(1)).count())};
    std::array<pollfd, 2> fds = {pollfd{signals, POLLIN, 0}, door->Awaited()};
    ::ppoll(fds.data(), fds.size(), &limit, nullptr);
    if (fds[1].revents != 0 || fds[0].revents != 0) door->Receive();
    if (!*samples && door->entry() && door->entry()->pid > 0) samples->emplace(door->entry()->pid);
    if (!reading && door->entry() && door->entry()->root.valid()) reading.emplace(*door->entry());
    if (fds[0].revents != 0) break;
    if (*samples) (*samples)->TakeIfDue();
  }
  // A folder of the image that never answers must not block the report.
  ::alarm(kLongestReportSeconds);
}

Status Look(const fs::path& folder, int signals) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(folder / "request.json"));
  ASSIGN_OR_RETURN(const LookRequest request, ParseLookRequest(json));
  ASSIGN_OR_RETURN(Door door, Door::Open(folder));
  const WallTime started = SystemClock().Now();
  std::optional<Samples> samples;
  Watch(signals, &door, &samples);
  if (!samples) samples.emplace(0);
  ImageSeen seen =
      door.entry() ? SeenIn(*door.entry(), &*samples, request, started)
                   : ImageSeen{.observation = NothingSeen(
                                   "its first program did not report, so that nothing was lent")};
  seen.not_started = door.not_started();
  seen.has_entered = door.entry().has_value() || seen.not_started > 0;
  fmt::print("{}\n", ToJson(seen).Dump());
  return std::fflush(stdout) == 0 ? Status() : IoErrorFromErrno("cannot write", errno);
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rharness::Descriptor signals(::signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK));
  if (argc != 2 || !signals.valid()) {
    fmt::print(stderr, "usage: rharness-look FOLDER\n");
    return 2;
  }
  const rharness::Status looked = rharness::Look(argv[1], signals.get());
  if (looked.ok()) return 0;
  fmt::print(stderr, "{}\n", looked.error().ToString());
  return 1;
}
