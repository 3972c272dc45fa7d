// The filter that an init lives in once its program runs.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_INIT_FILTER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_INIT_FILTER_H_

namespace berth::launcher {

// From here on: wait, sendmsg, exit; anything else kills. Needs no_new_privs. False with errno.
bool LoadInitFilter();

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_INIT_FILTER_H_
