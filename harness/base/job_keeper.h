// Ends what this process started, if this process is killed.
//
// Role: under RunProcess. The keeper is a fork that does nothing but wait for this process's end,
// in a session of its own and without its descriptors. It is counted to how many jobs run; where
// some run at the end, it ends all of the session (KillMarked). A parent's death signal would reach
// the leader of a job alone.
#ifndef RHARNESS_HARNESS_BASE_JOB_KEEPER_H_
#define RHARNESS_HARNESS_BASE_JOB_KEEPER_H_

namespace rharness {

// While it lives, a job runs, if it is one of those that KillMarked finds. The first one starts the
// keeper; without one, as where there are too many processes, jobs may outlive a kill, and the
// debug log says so. Thread-safe.
class KeptJob {
 public:
  explicit KeptJob(bool marked);
  ~KeptJob();
  KeptJob(const KeptJob&) = delete;
  KeptJob& operator=(const KeptJob&) = delete;

 private:
  const bool marked_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JOB_KEEPER_H_
