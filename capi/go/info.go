package berth

// #include "berth.h"
import "C"

import "time"

// SessionState is where a session stands.
type SessionState int32

// States. StateUnknown: its engine does not answer.
const (
	StateUnknown  SessionState = 0
	StateStarting SessionState = 1
	StateRunning  SessionState = 2
	StateExited   SessionState = 3
)

func (s SessionState) String() string { return C.GoString(C.berth_session_state_name(C.int32_t(s))) }

// SessionInfo is what is known of a session.
type SessionInfo struct {
	Handle, Name, Backend, Dir string
	State                      SessionState
	Pid                        int
	Durable, Pty               bool
	Rows, Cols                 uint16
	Attached                   int   // viewers now
	OutputBytes                int64 // written by the program so far
	Created                    time.Time
	LastOutput                 time.Time // zero: none yet
	Exit                       Exit      // in StateExited
	Tree                       string    // how the tree is held: "cgroup", "subreaper", "pidns"
	Title                      string    // as set by the program
	LogPath                    string
	Tier                       string // how its policy is enforced; "" if it has none
	Violations                 int64  // that its policy has stopped so far
	Address                    string // where its engine is, if that is not this machine's default
	Labels                     map[string]string
}

func takeInfos(infos *C.berth_infos) []SessionInfo {
	defer C.berth_infos_free(infos)
	out := make([]SessionInfo, 0, int(C.berth_infos_count(infos)))
	for i := C.size_t(0); i < C.berth_infos_count(infos); i++ {
		out = append(out, readInfo(infos, i))
	}
	return out
}

func readInfo(infos *C.berth_infos, i C.size_t) SessionInfo {
	text := func(field C.int32_t) string {
		var size C.size_t
		data := C.berth_infos_text(infos, i, field, &size)
		return C.GoStringN(data, C.int(size))
	}
	number := func(field C.int32_t) int64 { return int64(C.berth_infos_number(infos, i, field)) }
	info := SessionInfo{
		Handle:      text(C.BERTH_INFO_HANDLE),
		Name:        text(C.BERTH_INFO_NAME),
		Backend:     text(C.BERTH_INFO_BACKEND),
		Dir:         text(C.BERTH_INFO_CWD),
		State:       SessionState(number(C.BERTH_INFO_STATE)),
		Pid:         int(number(C.BERTH_INFO_PID)),
		Durable:     number(C.BERTH_INFO_DURABLE) == 1,
		Pty:         number(C.BERTH_INFO_PTY) == 1,
		Rows:        uint16(number(C.BERTH_INFO_ROWS)),
		Cols:        uint16(number(C.BERTH_INFO_COLS)),
		Attached:    int(number(C.BERTH_INFO_ATTACHED)),
		OutputBytes: number(C.BERTH_INFO_OUTPUT_BYTES),
		Created:     time.Unix(0, number(C.BERTH_INFO_CREATED_UNIX_NS)),
		Tree:        text(C.BERTH_INFO_TREE),
		Title:       text(C.BERTH_INFO_TITLE),
		LogPath:     text(C.BERTH_INFO_LOG_PATH),
		Tier:        text(C.BERTH_INFO_TIER),
		Violations:  number(C.BERTH_INFO_VIOLATIONS),
		Address:     text(C.BERTH_INFO_ADDRESS),
		Labels:      map[string]string{},
	}
	if last := number(C.BERTH_INFO_LAST_OUTPUT_UNIX_NS); last >= 0 {
		info.LastOutput = time.Unix(0, last)
	}
	var exit C.berth_exit
	if info.State == StateExited && C.berth_infos_exit(&exit, infos, i, nil) == C.BERTH_OK {
		info.Exit = toExit(&exit)
	}
	var keys *C.berth_strings
	if C.berth_infos_label_keys(&keys, infos, i, nil) == C.BERTH_OK {
		for _, key := range takeStrings(keys) {
			data, size := view(key)
			var valueSize C.size_t
			value := C.berth_infos_label(infos, i, data, size, &valueSize)
			info.Labels[key] = C.GoStringN(value, C.int(valueSize))
		}
	}
	return info
}
