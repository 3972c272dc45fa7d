// Names inside sessions/. Internal to runtime/record.
#ifndef BERTH_RUNTIME_RECORD_STORE_LAYOUT_H_
#define BERTH_RUNTIME_RECORD_STORE_LAYOUT_H_

namespace berth {

inline constexpr char kRecordFile[] = "record.json";
inline constexpr char kRecordTemporary[] = ".record.tmp";
inline constexpr char kLockFile[] = ".lock";
// Of a session whose record says that it runs, by its keeper: it was never let.
inline constexpr char kGivenUpFile[] = "given-up";
inline constexpr char kMaking[] =
    ".new.";  // + uid: not yet a session; its lock is held by the maker
inline constexpr char kRemoving[] = ".gone.";  // + uid: no longer a session

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_STORE_LAYOUT_H_
