package berth

// #include "berth.h"
import "C"

import (
	"context"
	"io"
	"runtime"
	"time"
)

// AgentRuns are the run ids of a state directory, "" for the default one, the latest last.
func AgentRuns(ctx context.Context, stateDir string) ([]string, error) {
	var runs *C.berth_strings
	data, size := view(stateDir)
	err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_log_list(&runs, data, size, e) })
	if err != nil {
		return nil, err
	}
	return takeStrings(runs), nil
}

// AgentLog is the log of a run, also of another process's: its events from the first one on, while they come.
type AgentLog struct {
	RunID, SessionName        string
	Agent, AgentName, StoryID string // "claude" and the like; the caller's own names
	Started                   time.Time

	*closing
	raw *C.berth_agent_log
}

// OpenAgentLog opens one by run id, or the latest run of a session's name.
func OpenAgentLog(ctx context.Context, stateDir, run string) (*AgentLog, error) {
	var raw *C.berth_agent_log
	dir, dirSize := view(stateDir)
	id, idSize := view(run)
	err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_log_open(&raw, dir, dirSize, id, idSize, e) })
	if err != nil {
		return nil, err
	}
	words := func(field C.int32_t) string {
		return text(func(size *C.size_t) *C.char { return C.berth_agent_log_text(raw, field, size) })
	}
	l := &AgentLog{
		RunID:       words(C.BERTH_AGENT_LOG_RUN_ID),
		SessionName: words(C.BERTH_AGENT_LOG_SESSION_NAME),
		Agent:       words(C.BERTH_AGENT_LOG_AGENT),
		AgentName:   words(C.BERTH_AGENT_LOG_AGENT_NAME),
		StoryID:     words(C.BERTH_AGENT_LOG_STORY_ID),
		Started:     unixTime(int64(C.berth_agent_log_number(raw, C.BERTH_AGENT_LOG_STARTED_UNIX_NS))),
		closing:     newClosing(),
		raw:         raw,
	}
	runtime.SetFinalizer(l, func(l *AgentLog) { l.Close() })
	return l, nil
}

// Close lets go of it; a Next that waits returns Cancelled. The run goes on.
func (l *AgentLog) Close() error {
	l.close(func() {
		runtime.SetFinalizer(l, nil)
		C.berth_agent_log_free(l.raw)
	})
	return nil
}

// next is nil at once if there is none.
func (l *AgentLog) next(ctx context.Context) (*AgentEvent, error) {
	defer runtime.KeepAlive(l)
	var raw *C.berth_agent_event
	err := l.call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_log_next(&raw, l.raw, e) })
	if err != nil || raw == nil {
		return nil, err
	}
	return takeAgentEvent(raw), nil
}

// Next waits for the next event. io.EOF once the run has ended, and that is told by End, or nobody writes to its log any
// more.
func (l *AgentLog) Next(ctx context.Context) (*AgentEvent, error) {
	defer runtime.KeepAlive(l)
	for {
		event, err := l.next(ctx)
		if event != nil || err != nil {
			return event, err
		}
		end, err := l.End()
		if err != nil {
			return nil, err
		}
		if end != nil {
			return nil, io.EOF
		}
		if l.Abandoned() {
			event, err := l.next(ctx) // what was written before that
			if event == nil && err == nil {
				err = io.EOF
			}
			return event, err
		}
		err = l.wait(ctx, "berth log", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
			return C.berth_agent_log_fd(fd, l.raw, e)
		})
		if err != nil {
			return nil, err
		}
	}
}

// End is how the run ended; nil until Next has come to that.
func (l *AgentLog) End() (*AgentResult, error) {
	defer runtime.KeepAlive(l)
	var raw *C.berth_agent_result
	err := l.call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_agent_log_end(&raw, l.raw, e) })
	if err != nil || raw == nil {
		return nil, err
	}
	result := takeAgentResult(raw)
	return &result, nil
}

// Abandoned reports whether nobody writes to it any more: the run has ended, or its process has.
func (l *AgentLog) Abandoned() bool {
	defer runtime.KeepAlive(l)
	return C.berth_agent_log_abandoned(l.raw) == 1
}

// Unreadable is how many lines were passed over by now.
func (l *AgentLog) Unreadable() int64 {
	defer runtime.KeepAlive(l)
	return int64(C.berth_agent_log_number(l.raw, C.BERTH_AGENT_LOG_UNREADABLE))
}

// AgentEvents reads the log of a run, as OpenAgentLog finds it: the events that there are, and how it ended (nil: not
// yet).
func AgentEvents(ctx context.Context, stateDir, run string) ([]*AgentEvent, *AgentResult, error) {
	log, err := OpenAgentLog(ctx, stateDir, run)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	var all []*AgentEvent
	for {
		event, err := log.next(ctx)
		if err != nil {
			return nil, nil, err
		}
		if event == nil {
			end, err := log.End()
			return all, end, err
		}
		all = append(all, event)
	}
}
