// Handles: what the pointers of the C ABI are. A handle is a number that is looked up, in the shape
// of a pointer that no machine can have as an address; so a stale or foreign one is found out
// without touching memory that is not ours.
//
//   berth_string* handle = Handles::Add<berth_string>(std::make_shared<StringObject>(…));
//   std::shared_ptr<StringObject> object = Handles::Find<StringObject>(handle);   // null: freed,
//   or never one
//
// Numbers are never used again. Each process has a table of its own: after fork() the parent's
// handles mean nothing in the child (whose copies of the parent's locks may be held for ever, and
// are not touched). The values stay clear of what Go's runtime takes for a bad pointer: not below
// 4096, not in its heap.
//
// Threads: any, at once. May throw std::bad_alloc, in Add only.
#ifndef BERTH_CAPI_HANDLES_H_
#define BERTH_CAPI_HANDLES_H_

#include <stdint.h>

#include <memory>
#include <utility>

namespace berth::capi {

// Which type a handle is of.
enum class Kind : uint8_t {
  kError = 1,
  kString,
  kStrings,
  kEnv,
  kSessionSpec,
  kProcessSpec,
  kSendOptions,
  kRuntime,
  kSession,
  kProcess,
  kInfos,
  kEvent,
  kPolicy,
  kPolicyBuilder,
  kViolations,
  kViolationFeed,
  kChanges,
  kEnvironment,
  kProcessPlace,
  kPortLease,
  kSweepOptions,
  kSweepReport,
  kAbilities,
  kImage,
  kAgentContext,
  kAgentEvent,
  kAgentResult,
  kAgentRun,
  kAgentSubscription,
  kAgentLog,
  kSweepWatch,
};

class Handles {
 public:
  // `owner`: the handle that this one ends with, or null.
  template <typename Handle, typename Object>
  static Handle* Add(std::shared_ptr<Object> object, const void* owner = nullptr) {
    return static_cast<Handle*>(AddAny(Object::kKind, std::move(object), owner));
  }

  template <typename Object>
  static std::shared_ptr<Object> Find(const void* handle) {
    return std::static_pointer_cast<Object>(FindAny(Object::kKind, handle));
  }

  // Takes it out of the table; the object goes with its last user. Nothing if there is none.
  template <typename Object>
  static void Remove(const void* handle) {
    RemoveAny(Object::kKind, handle);
  }

  // The same for all that `owner` owns.
  static void RemoveOwnedBy(const void* owner);

 private:
  static void* AddAny(Kind kind, std::shared_ptr<void> object, const void* owner);
  static std::shared_ptr<void> FindAny(Kind kind, const void* handle);
  static void RemoveAny(Kind kind, const void* handle);
};

}  // namespace berth::capi

#endif  // BERTH_CAPI_HANDLES_H_
