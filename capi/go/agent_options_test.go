package berth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// runAgent runs one to its end: its events, how it ended, and its log as it is on disk.
func runAgent(t *testing.T, agent Agent) ([]*AgentEvent, AgentResult, string) {
	t.Helper()
	runtime, state, ctx := place(t)
	agent.Driver, agent.Prompt, agent.StateDir = "claude", "x", state
	run, err := runtime.StartAgent(ctx, agent)
	must(t, err)
	defer run.Close()
	var events []*AgentEvent
	for {
		event, err := run.Next(ctx)
		must(t, err)
		if event == nil {
			break
		}
		events = append(events, event)
	}
	result, err := run.Result()
	must(t, err)
	log, err := os.ReadFile(filepath.Join(state, "agents", run.RunID()+".jsonl"))
	must(t, err)
	return events, result, string(log)
}

func TestPricesAreForAgentsThatDoNotTellWhatTheyCost(t *testing.T) {
	program := agentProgram(t, agentInit+`echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1","num_turns":1,"usage":{"input_tokens":1000000,"output_tokens":100000,"cache_creation_input_tokens":1000000,"cache_read_input_tokens":1000000}}'
`)
	_, result, _ := runAgent(t, Agent{Command: program, Prices: Prices{Input: 4, Output: 20, CacheCreation: 1, CacheRead: 0.5}})
	if result.Usage.CostUSD != 7.5 || !strings.Contains(result.JSON, "7.5") {
		t.Fatalf("%+v", result)
	}
}

func TestSecretsAreTakenOutOfTheLogAndNotOfTheEvents(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("abcdefgh", 8)
	program := agentProgram(t, agentInit+said("corp-123 and hunter22 and "+key)+agentResult)
	for _, keep := range []bool{false, true} {
		events, _, log := runAgent(t, Agent{Command: program, RedactPatterns: []string{"corp-[0-9]+"},
			RedactValues: []string{"hunter22"}, KeepKeys: keep})
		if strings.Contains(log, "corp-123") || strings.Contains(log, "hunter22") || strings.Contains(log, key) != keep {
			t.Fatal(log)
		}
		if !strings.Contains(events[1].Text, "corp-123") || !strings.Contains(events[1].JSON, "hunter22") {
			t.Fatal(events[1])
		}
	}
}

func TestALineThatIsTooLongIsCutAndToldSo(t *testing.T) {
	program := agentProgram(t, agentInit+"head -c 5000 /dev/zero | tr '\\0' x; echo\n"+agentResult)
	events, _, _ := runAgent(t, Agent{Command: program, MaxLine: 1000})
	if cut := events[1]; cut.Kind != AgentRaw || len(cut.Raw) != 1000 || cut.TruncatedBytes != 4000 {
		t.Fatalf("%+v", events[1])
	}
}

func TestAnAPILoopTriesAgainAsOftenAsItMay(t *testing.T) {
	runtime, state, ctx := place(t)
	for retries, expected := range map[int]int32{-1: 1, 2: 3} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			answer.WriteHeader(http.StatusServiceUnavailable)
		}))
		run, err := runtime.StartAgent(ctx, Agent{Driver: "openai-api", Prompt: "x", StateDir: state, APIURL: server.URL,
			APIModel: "m", APIKey: "k", HTTP: HTTP{Timeout: time.Minute, Retries: retries, FirstPause: time.Millisecond,
				LongestPause: time.Millisecond, MaxBody: 1 << 20}})
		must(t, err)
		result, err := run.Drive(ctx)
		if err != nil || result.Status != AgentFailed || asked.Load() != expected {
			t.Error(result, err, asked.Load())
		}
		run.Close()
		server.Close()
	}
}

func TestOptionsOfAnAgentThatAreWrongAreTold(t *testing.T) {
	runtime, state, ctx := place(t)
	for _, wrong := range []Agent{{Prices: Prices{Input: -1}}, {MaxLine: -1}, {RedactPatterns: []string{"("}}} {
		wrong.Driver, wrong.Prompt, wrong.Command, wrong.StateDir = "claude", "x", "true", state
		if run, err := runtime.StartAgent(ctx, wrong); !errors.Is(err, InvalidArgument) {
			t.Fatal(run, err)
		}
	}
}
