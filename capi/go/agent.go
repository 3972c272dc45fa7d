package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Agent is what to run, where, on which prompt, and how far.
type Agent struct {
	Driver  string // "claude", "codex", "gemini"; or an API loop: "openai-api", "gemini-api"
	Prompt  string
	Command string   // "" is the driver's program
	Args    []string // after the driver's
	// The agent's own session to go on with; if that is refused, a fresh one is started, once, on ColdPrompt ("": Prompt).
	Resume, ColdPrompt string
	StoryID, Name      string // the caller's own names, for the log and the agent's environment
	SessionName        string // "": one is made up
	Place              []SessionOption
	MCPPort            uint16 // of an MCP server on loopback; 0 is none
	// What it may use up; 0 is no limit.
	MaxTurns   int
	MaxCostUSD float64
	MaxTime    time.Duration
	Inactivity time.Duration // 0: 10 min; negative: no limit
	StopGrace  time.Duration // between TERM and KILL; 0: 5 s
	// For a process that goes on after its result; 0: 10 s.
	ResultGrace      time.Duration
	LongestRateLimit time.Duration // a reset further away is taken for this; 0: 8 days
	Prices           Prices        // for agents that do not tell what they cost
	StateDir         string        // of the log; as the runtime's
	// Besides the values of variables named like secrets, these are taken out of the log: what RE2 patterns match, and
	// secrets themselves. KeepKeys leaves the well-known forms of keys in it.
	RedactPatterns, RedactValues []string
	KeepKeys                     bool
	MaxLine                      int64 // a longer line is cut there, and its event says so; 0: 256 MiB
	// What is kept for subscribers; 0: 1024 events and 16 MiB.
	KeptEvents, KeptBytes int64
	// Of API loops, which need a thread: that these are set allows one.
	APIURL, APIModel, APIKey, APISystem string
	HTTP                                HTTP
	StopWhenWaiting                     bool // waiting for a person is the end
}

// Prices are US dollars per million tokens.
type Prices struct {
	Input, Output, CacheCreation, CacheRead float64
}

// HTTP is how API loops ask. 0 is the default of each.
type HTTP struct {
	Timeout                  time.Duration // of one attempt
	Retries                  int           // negative: none
	FirstPause, LongestPause time.Duration // before they try again
	MaxBody                  int64         // bytes of an answer
}

func (a Agent) context() (*C.berth_agent_context, error) {
	var raw *C.berth_agent_context
	data, size := view(a.Driver)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_agent_context_new(&raw, data, size, e)
	})
	if err != nil {
		return nil, err
	}
	for field, value := range map[C.int32_t]string{
		C.BERTH_AGENT_PROMPT: a.Prompt, C.BERTH_AGENT_COMMAND: a.Command, C.BERTH_AGENT_RESUME: a.Resume,
		C.BERTH_AGENT_COLD_PROMPT: a.ColdPrompt, C.BERTH_AGENT_STORY_ID: a.StoryID, C.BERTH_AGENT_NAME: a.Name,
		C.BERTH_AGENT_API_URL: a.APIURL, C.BERTH_AGENT_API_MODEL: a.APIModel, C.BERTH_AGENT_API_KEY: a.APIKey,
		C.BERTH_AGENT_API_SYSTEM: a.APISystem, C.BERTH_AGENT_STATE_DIR: a.StateDir,
	} {
		data, size := view(value)
		C.berth_agent_context_set_text(raw, field, data, size)
	}
	for _, arg := range a.Args {
		data, size := view(arg)
		C.berth_agent_context_add_arg(raw, data, size)
	}
	C.berth_agent_context_set_mcp_port(raw, C.uint16_t(a.MCPPort))
	wall := C.int64_t(-1)
	if a.MaxTime > 0 {
		wall = C.int64_t(millis(a.MaxTime))
	}
	C.berth_agent_context_set_budget(raw, C.int64_t(a.MaxTurns), C.double(a.MaxCostUSD), wall)
	if a.Inactivity < 0 {
		C.berth_agent_context_set_time(raw, C.BERTH_AGENT_INACTIVITY, -1)
	}
	for which, d := range map[C.int32_t]time.Duration{
		C.BERTH_AGENT_INACTIVITY: a.Inactivity, C.BERTH_AGENT_RESULT_GRACE: a.ResultGrace,
		C.BERTH_AGENT_STOP_GRACE: a.StopGrace, C.BERTH_AGENT_LONGEST_RATE_LIMIT: a.LongestRateLimit,
		C.BERTH_AGENT_HTTP_TIMEOUT: a.HTTP.Timeout, C.BERTH_AGENT_HTTP_FIRST_PAUSE: a.HTTP.FirstPause,
		C.BERTH_AGENT_HTTP_LONGEST_PAUSE: a.HTTP.LongestPause,
	} {
		if d > 0 {
			C.berth_agent_context_set_time(raw, which, C.int64_t(millis(d)))
		}
	}
	for which, size := range map[C.int32_t]int64{
		C.BERTH_AGENT_MAX_LINE: a.MaxLine, C.BERTH_AGENT_MAX_EVENTS: a.KeptEvents, C.BERTH_AGENT_MAX_BYTES: a.KeptBytes,
		C.BERTH_AGENT_HTTP_RETRIES: int64(max(a.HTTP.Retries, 0)), C.BERTH_AGENT_HTTP_MAX_BODY: a.HTTP.MaxBody,
	} {
		if size != 0 || which == C.BERTH_AGENT_HTTP_RETRIES && a.HTTP.Retries < 0 {
			C.berth_agent_context_set_size(raw, which, C.int64_t(size))
		}
	}
	if p := a.Prices; p != (Prices{}) {
		C.berth_agent_context_set_prices(raw, C.double(p.Input), C.double(p.Output), C.double(p.CacheCreation),
			C.double(p.CacheRead))
	}
	flags := C.uint32_t(0)
	if a.APIURL != "" {
		flags |= C.BERTH_AGENT_MAY_START_THREAD
	}
	if a.StopWhenWaiting {
		flags |= C.BERTH_AGENT_STOP_WHEN_WAITING
	}
	if a.KeepKeys {
		flags |= C.BERTH_AGENT_NO_REDACTION
	}
	C.berth_agent_context_set_flags(raw, flags)
	err = withStrings(a.RedactPatterns, func(patterns *C.berth_strings) error {
		return withStrings(a.RedactValues, func(values *C.berth_strings) error {
			C.berth_agent_context_set_redactions(raw, patterns, values)
			return nil
		})
	})
	if err != nil {
		C.berth_agent_context_free(raw)
		return nil, err
	}
	place, err := newSessionSpec(a.SessionName, a.Place)
	if err != nil {
		C.berth_agent_context_free(raw)
		return nil, err
	}
	C.berth_agent_context_set_place(raw, place)
	C.berth_session_spec_free(place)
	return raw, nil
}

// AgentRun is an agent that runs. The run goes on inside Next and Drive.
type AgentRun struct {
	raw   *C.berth_agent_run
	owner *Runtime // kept alive
	once  sync.Once
}

// StartAgent starts one. Close ends it.
func (r *Runtime) StartAgent(ctx context.Context, agent Agent) (*AgentRun, error) {
	context, err := agent.context()
	if err != nil {
		return nil, err
	}
	defer C.berth_agent_context_free(context)
	var raw *C.berth_agent_run
	err = r.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_start(&raw, r.raw, context, e) })
	if err != nil {
		return nil, err
	}
	a := &AgentRun{raw: raw, owner: r}
	runtime.SetFinalizer(a, func(a *AgentRun) { a.Close() })
	return a, nil
}

// Close ends the agent.
func (a *AgentRun) Close() error {
	a.once.Do(func() {
		runtime.SetFinalizer(a, nil)
		C.berth_agent_run_free(a.raw)
	})
	return nil
}

func (a *AgentRun) do(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	defer runtime.KeepAlive(a)
	return call(ctx, f)
}

// Next waits for the next event; nil once the run is finished.
func (a *AgentRun) Next(ctx context.Context) (*AgentEvent, error) {
	for {
		var raw *C.berth_agent_event
		err := a.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_run_next(&raw, a.raw, 0, e) })
		if err != nil {
			return nil, err
		}
		if raw != nil {
			return takeAgentEvent(raw), nil
		}
		if a.Finished() {
			return nil, nil
		}
		var fd C.int32_t
		err = a.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_agent_run_fd(&fd, a.raw, e) })
		if err != nil {
			return nil, err
		}
		if err := readable(ctx, int(fd), "berth agent"); err != nil {
			return nil, err
		}
	}
}

// Drive runs it to its end without looking at the events.
func (a *AgentRun) Drive(ctx context.Context) (AgentResult, error) {
	for {
		event, err := a.Next(ctx)
		if err != nil {
			return AgentResult{}, err
		}
		if event == nil {
			return a.Result()
		}
	}
}

// Finished reports whether all events were given and no process is left.
func (a *AgentRun) Finished() bool {
	defer runtime.KeepAlive(a)
	return C.berth_agent_run_finished(a.raw) == 1
}

// Result is as far as it is known now.
func (a *AgentRun) Result() (AgentResult, error) {
	var raw *C.berth_agent_result
	err := a.do(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_agent_run_result(&raw, a.raw, e) })
	if err != nil {
		return AgentResult{}, err
	}
	return takeAgentResult(raw), nil
}

// Stop ends it: what is left to do is done by Next and Drive.
func (a *AgentRun) Stop() error {
	return a.do(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_agent_run_stop(a.raw, e) })
}

// RunID is of its event log.
func (a *AgentRun) RunID() string {
	defer runtime.KeepAlive(a)
	return text(func(size *C.size_t) *C.char { return C.berth_agent_run_id(a.raw, size) })
}

// SessionName is of the session that it runs in.
func (a *AgentRun) SessionName() string {
	defer runtime.KeepAlive(a)
	return text(func(size *C.size_t) *C.char { return C.berth_agent_run_session_name(a.raw, size) })
}
