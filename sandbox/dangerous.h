// Tokens for what makes a sandbox weak on purpose. They are made here and nowhere else, so that
// every use is found by the name of this header, and a project can fence it by the visibility of
// its target:
//
//   Policy::Agent(workspace).Relax(dangerous::HostNetwork()).Build();
#ifndef BERTH_SANDBOX_DANGEROUS_H_
#define BERTH_SANDBOX_DANGEROUS_H_

namespace berth::dangerous {

// The host's network: all that listens on its loopback, and everything that it can reach.
class HostNetwork {
 public:
  explicit HostNetwork() = default;
};
// The host's processes are seen, and those of the same user can be signalled.
class HostPidNamespace {
 public:
  explicit HostPidNamespace() = default;
};
// Env::Inherit: whatever secrets the caller's variables hold.
class InheritedEnvironment {
 public:
  explicit InheritedEnvironment() = default;
};
// The Docker engine's socket, which is root on the host.
class RawDockerSocket {
 public:
  explicit RawDockerSocket() = default;
};
// Every system call of the kernel.
class SeccompOff {
 public:
  explicit SeccompOff() = default;
};
// Namespaces made inside, with all the kernel code that they open.
class NestedUserNamespaces {
 public:
  explicit NestedUserNamespaces() = default;
};
// Policy::FromText of text whose author may ask for any of these: an operator's own file.
class TrustedText {
 public:
  explicit TrustedText() = default;
};

}  // namespace berth::dangerous

#endif  // BERTH_SANDBOX_DANGEROUS_H_
