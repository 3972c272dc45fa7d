// NetworkMaker: an empty network namespace with its own loopback, made on another processor while
// the caller makes its mounts.
//
// It takes longer than all the other namespaces together, and nothing depends on it until the
// program runs. So a thread makes it, and the caller enters it when it is
// there. On a busy machine the thread may not have had a turn by then: in that case the caller
// makes it itself and the thread, which finds nothing to do, ends. No start waits for a turn of
// another.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_NETWORK_MAKER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_NETWORK_MAKER_H_

namespace berth::launcher {

class NetworkMaker {
 public:
  // By a process of one thread that is pid 1 of its pid namespace, with all capabilities in its
  // user namespace. Nothing is lost if there can be no thread.
  void Begin();
  // The caller is in the namespace from now on. 0 or an errno. Once.
  int Enter();

 private:
  enum State : int { kOpen, kTaken, kMade };
  static void Run(void* self);

  int state_ = kOpen;  // kOpen to kTaken by whoever makes it; kMade is told to a waiting caller
  int error_ = 0;
  int fd_ = -1;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_NETWORK_MAKER_H_
