package berth

// #include "berth.h"
import "C"

import (
	"context"
	"io"
	"runtime"
)

// AgentSubscription is one who looks on at a run that another drives. A slow one holds nobody up, and is told how many
// events it missed. It may outlive the AgentRun.
type AgentSubscription struct {
	*closing
	raw *C.berth_agent_subscription
}

// Subscribe gives the events of the run from sequence from on, those that have been included; 0 is from now on.
func (a *AgentRun) Subscribe(ctx context.Context, from int64) (*AgentSubscription, error) {
	var raw *C.berth_agent_subscription
	err := a.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_agent_run_subscribe(&raw, a.raw, C.int64_t(from), e)
	})
	if err != nil {
		return nil, err
	}
	s := &AgentSubscription{newClosing(), raw}
	runtime.SetFinalizer(s, func(s *AgentSubscription) { s.Close() })
	return s, nil
}

// Close ends the subscription; a Next that waits returns Cancelled. The run goes on.
func (s *AgentSubscription) Close() error {
	s.close(func() {
		runtime.SetFinalizer(s, nil)
		C.berth_agent_subscription_free(s.raw)
	})
	return nil
}

// Next waits for the next event, and tells how many came before it that this subscriber was too slow for. io.EOF once
// all were given and the run is finished. The run goes on only while someone calls its Next or Drive.
func (s *AgentSubscription) Next(ctx context.Context) (event *AgentEvent, missed int64, err error) {
	defer runtime.KeepAlive(s)
	for {
		var raw *C.berth_agent_event
		var lost C.int64_t
		err := s.call(ctx, func(e **C.berth_error) C.int32_t {
			return C.berth_agent_subscription_next(&raw, &lost, s.raw, e)
		})
		if err != nil {
			return nil, missed, err
		}
		missed += int64(lost)
		if raw != nil {
			return takeAgentEvent(raw), missed, nil
		}
		if C.berth_agent_subscription_ended(s.raw) == 1 {
			return nil, missed, io.EOF
		}
		err = s.wait(ctx, "berth subscription", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
			return C.berth_agent_subscription_fd(fd, s.raw, e)
		})
		if err != nil {
			return nil, missed, err
		}
	}
}

// Position is the sequence that comes next; -1 once it is closed.
func (s *AgentSubscription) Position() int64 {
	defer runtime.KeepAlive(s)
	return int64(C.berth_agent_subscription_position(s.raw))
}
