package berth

// #include "berth.h"
import "C"

import "time"

// AgentEventKind is what kind of thing an agent did.
type AgentEventKind int32

// Kinds. Later versions may have more.
const (
	AgentRaw        AgentEventKind = 0 // a line that means nothing to the driver, or of standard error
	AgentStarted    AgentEventKind = 1
	AgentText       AgentEventKind = 2
	AgentToolCall   AgentEventKind = 3
	AgentToolResult AgentEventKind = 4
	AgentUsage      AgentEventKind = 5
	AgentRateLimit  AgentEventKind = 6
	AgentWaiting    AgentEventKind = 7 // for a person: the text is what it asks
	AgentResulted   AgentEventKind = 8 // the end of its work
)

func (k AgentEventKind) String() string { return C.GoString(C.berth_agent_event_name(C.int32_t(k))) }

// Usage is what a run has used up.
type Usage struct {
	Input, Output, CacheCreation, CacheRead int64 // tokens
	CostUSD                                 float64
}

func toUsage(raw *C.berth_usage) Usage {
	return Usage{int64(raw.input), int64(raw.output), int64(raw.cache_creation), int64(raw.cache_read), float64(raw.cost_usd)}
}

// AgentEvent is one thing that an agent did, in the same words for every agent.
type AgentEvent struct {
	Kind                                                    AgentEventKind
	Sequence                                                int64 // 1, 2, 3, … within a run
	Time                                                    time.Time
	Text, Raw                                               string
	SessionID, Model, MessageID, ParentID, ToolID, ToolName string
	IsError, Partial, NewTurn                               bool
	Hard                                                    bool      // of a rate limit: it cannot go on before ResetsAt
	ResetsAt                                                time.Time // zero: not told
	HasUsage                                                bool
	Usage                                                   Usage // of the message so far, or of the run
	Turns                                                   int64
	FromStderr                                              bool
	TruncatedBytes                                          int64  // of a line that was too long
	JSON                                                    string // one line, as the log has it, but with nothing taken out
}

func takeAgentEvent(raw *C.berth_agent_event) *AgentEvent {
	defer C.berth_agent_event_free(raw)
	number := func(field C.int32_t) int64 { return int64(C.berth_agent_event_number(raw, field)) }
	words := func(field C.int32_t) string {
		return text(func(size *C.size_t) *C.char { return C.berth_agent_event_text(raw, field, size) })
	}
	event := &AgentEvent{
		Kind:       AgentEventKind(number(C.BERTH_AGENT_EVENT_KIND)),
		Sequence:   number(C.BERTH_AGENT_EVENT_SEQUENCE),
		Text:       words(C.BERTH_AGENT_EVENT_TEXT),
		Raw:        words(C.BERTH_AGENT_EVENT_RAW),
		SessionID:  words(C.BERTH_AGENT_EVENT_SESSION_ID),
		Model:      words(C.BERTH_AGENT_EVENT_MODEL),
		MessageID:  words(C.BERTH_AGENT_EVENT_MESSAGE_ID),
		ParentID:   words(C.BERTH_AGENT_EVENT_PARENT_ID),
		ToolID:     words(C.BERTH_AGENT_EVENT_TOOL_ID),
		ToolName:   words(C.BERTH_AGENT_EVENT_TOOL_NAME),
		IsError:    number(C.BERTH_AGENT_EVENT_IS_ERROR) == 1,
		Partial:    number(C.BERTH_AGENT_EVENT_PARTIAL) == 1,
		NewTurn:    number(C.BERTH_AGENT_EVENT_NEW_TURN) == 1,
		Hard:       number(C.BERTH_AGENT_EVENT_HARD) == 1,
		Turns:      number(C.BERTH_AGENT_EVENT_TURNS),
		FromStderr: number(C.BERTH_AGENT_EVENT_FROM_STDERR) == 1,
		HasUsage:   number(C.BERTH_AGENT_EVENT_HAS_USAGE) == 1,
		Time:       unixTime(number(C.BERTH_AGENT_EVENT_UNIX_NS)),
		ResetsAt:   unixTime(number(C.BERTH_AGENT_EVENT_RESETS_AT_UNIX_NS)),

		TruncatedBytes: number(C.BERTH_AGENT_EVENT_TRUNCATED_BYTES),
	}
	var usage C.berth_usage
	if C.berth_agent_event_usage(&usage, raw, nil) == C.BERTH_OK {
		event.Usage = toUsage(&usage)
	}
	var json *C.berth_string
	if C.berth_agent_event_json(&json, raw, nil) == C.BERTH_OK {
		event.JSON = takeString(json)
	}
	return event
}

// unixTime is the zero time for what is not known.
func unixTime(ns int64) time.Time {
	if ns < 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// AgentStatus is how a run stands.
type AgentStatus int32

// Statuses.
const (
	AgentIdle      AgentStatus = 0
	AgentRunning   AgentStatus = 1
	AgentCompleted AgentStatus = 2
	AgentFailed    AgentStatus = 3
)

func (s AgentStatus) String() string { return C.GoString(C.berth_agent_status_name(C.int32_t(s))) }

// AgentEnd is why a run ended; its words are those of String.
type AgentEnd int32

// Reasons. Later versions may have more.
const (
	AgentEndNone          AgentEnd = 0 // it runs
	AgentEndSuccess       AgentEnd = 1
	AgentEndError         AgentEnd = 2 // it told a result that is an error
	AgentEndNoResult      AgentEnd = 3
	AgentEndStopped       AgentEnd = 4
	AgentEndInactivity    AgentEnd = 5
	AgentEndWall          AgentEnd = 6
	AgentEndTurns         AgentEnd = 7
	AgentEndCost          AgentEnd = 8
	AgentEndWaiting       AgentEnd = 9
	AgentEndResumeRefused AgentEnd = 10
	AgentEndLost          AgentEnd = 11
)

func (e AgentEnd) String() string { return C.GoString(C.berth_agent_end_name(C.int32_t(e))) }

// AgentResult is how a run stands or ended.
type AgentResult struct {
	Status         AgentStatus
	Reason         AgentEnd
	Detail         string // of the reason, for people
	Text           string // the agent's last word
	SessionID      string // the agent's own, to resume by
	Resumed        bool
	ResumeRefused  bool // asked for and refused: this is a fresh one
	Turns          int64
	Usage, Tallied Usage  // as the agent told it at its end; every message once
	Exit           Exit   // of the process, once it has ended
	TornBytes      int64  // of a last line without an end
	LogError       string // why events are missing in the log; "": none are
	JSON           string // all of it
}

func takeAgentResult(raw *C.berth_agent_result) AgentResult {
	defer C.berth_agent_result_free(raw)
	number := func(field C.int32_t) int64 { return int64(C.berth_agent_result_number(raw, field)) }
	words := func(field C.int32_t) string {
		return text(func(size *C.size_t) *C.char { return C.berth_agent_result_text(raw, field, size) })
	}
	result := AgentResult{
		Status:        AgentStatus(number(C.BERTH_AGENT_RESULT_STATUS)),
		Reason:        AgentEnd(number(C.BERTH_AGENT_RESULT_REASON)),
		Detail:        words(C.BERTH_AGENT_RESULT_DETAIL),
		Text:          words(C.BERTH_AGENT_RESULT_TEXT),
		SessionID:     words(C.BERTH_AGENT_RESULT_SESSION_ID),
		Resumed:       number(C.BERTH_AGENT_RESULT_RESUMED) == 1,
		ResumeRefused: number(C.BERTH_AGENT_RESULT_RESUME_REFUSED) == 1,
		Turns:         number(C.BERTH_AGENT_RESULT_TURNS),
		TornBytes:     number(C.BERTH_AGENT_RESULT_TORN_BYTES),
		LogError:      words(C.BERTH_AGENT_RESULT_LOG_ERROR),
	}
	var usage, tallied C.berth_usage
	if C.berth_agent_result_usage(&usage, &tallied, raw, nil) == C.BERTH_OK {
		result.Usage, result.Tallied = toUsage(&usage), toUsage(&tallied)
	}
	var exit C.berth_exit
	if C.berth_agent_result_exit(&exit, raw, nil) == C.BERTH_OK {
		result.Exit = toExit(&exit)
	}
	var json *C.berth_string
	if C.berth_agent_result_json(&json, raw, nil) == C.BERTH_OK {
		result.JSON = takeString(json)
	}
	return result
}
