// Package bc has the shape of bc's runtime.Backend, sessions by name over tmux or Docker, on berth.
package bc

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"berth.dev/berth"
)

const grace = 5 * time.Second

// Session is an agent session regardless of backend.
type Session struct {
	Name, Created, Directory string
	Attached                 bool
}

// Backend abstracts session management for agents.
type Backend interface {
	HasSession(ctx context.Context, name string) bool
	CreateSession(ctx context.Context, name, dir string) error
	CreateSessionWithCommand(ctx context.Context, name, dir, command string) error
	CreateSessionWithEnv(ctx context.Context, name, dir, command string, env map[string]string) error
	KillSession(ctx context.Context, name string) error
	RenameSession(ctx context.Context, oldName, newName string) error
	SendKeys(ctx context.Context, name, keys string) error
	SendKeysWithSubmit(ctx context.Context, name, keys, submitKey string) error
	Capture(ctx context.Context, name string, lines int) (string, error)
	ListSessions(ctx context.Context) ([]Session, error)
	AttachCmd(ctx context.Context, name string) *exec.Cmd
	IsRunning(ctx context.Context) bool
	KillServer(ctx context.Context) error
	SetEnvironment(ctx context.Context, name, key, value string) error
	SessionName(name string) string
	PipePane(ctx context.Context, name, logPath string) error
}

// New is a Backend on berth: engine is "native", "tmux", "docker" or "nix"; prefix is in front of every session's name.
func New(runtime *berth.Runtime, engine, prefix string) Backend {
	return &backend{runtime, engine, prefix}
}

type backend struct {
	runtime        *berth.Runtime
	engine, prefix string
}

func (b *backend) SessionName(name string) string { return b.prefix + name }

func (b *backend) find(ctx context.Context, name string) (*berth.Session, error) {
	return b.runtime.Find(ctx, b.SessionName(name))
}

// on finds the session for one call.
func (b *backend) on(ctx context.Context, name string, do func(*berth.Session) error) error {
	session, err := b.find(ctx, name)
	if err != nil {
		return err
	}
	defer session.Close()
	return do(session)
}

// HasSession has no error to give, so a session whose engine does not answer counts as there: nothing is started twice.
func (b *backend) HasSession(ctx context.Context, name string) bool {
	has := false
	b.on(ctx, name, func(session *berth.Session) error {
		liveness, _, err := session.Liveness(ctx)
		has = err != nil || liveness != berth.Dead
		return err
	})
	return has
}

func (b *backend) CreateSession(ctx context.Context, name, dir string) error {
	return b.CreateSessionWithCommand(ctx, name, dir, "")
}

func (b *backend) CreateSessionWithCommand(ctx context.Context, name, dir, command string) error {
	return b.CreateSessionWithEnv(ctx, name, dir, command, nil)
}

func (b *backend) CreateSessionWithEnv(ctx context.Context, name, dir, command string, variables map[string]string) error {
	if command == "" {
		command = `exec "${SHELL:-/bin/sh}"`
	}
	env := berth.BasicEnv()
	for key, value := range variables {
		env = env.Set(key, value)
	}
	session, err := b.runtime.CreateSession(ctx, b.SessionName(name), berth.Backend(b.engine), berth.Shell(command),
		berth.Dir(dir), berth.WithEnv(env))
	if err != nil {
		return err
	}
	return session.Close()
}

func (b *backend) KillSession(ctx context.Context, name string) error {
	return b.on(ctx, name, func(session *berth.Session) error { return session.Destroy(ctx, grace) })
}

func (b *backend) RenameSession(ctx context.Context, oldName, newName string) error {
	return b.on(ctx, oldName, func(session *berth.Session) error { return session.Rename(ctx, b.SessionName(newName)) })
}

func (b *backend) SendKeys(ctx context.Context, name, keys string) error {
	return b.SendKeysWithSubmit(ctx, name, keys, "Enter")
}

func (b *backend) SendKeysWithSubmit(ctx context.Context, name, keys, submitKey string) error {
	options := berth.DefaultSend
	options.Submit = submitKey
	return b.on(ctx, name, func(session *berth.Session) error {
		_, err := session.SendWith(ctx, keys, options)
		return err
	})
}

func (b *backend) Capture(ctx context.Context, name string, lines int) (string, error) {
	screen := ""
	err := b.on(ctx, name, func(session *berth.Session) (err error) {
		screen, err = session.Capture(ctx, lines)
		return err
	})
	return screen, err
}

func (b *backend) ListSessions(ctx context.Context) ([]Session, error) {
	infos, err := b.runtime.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []Session
	for _, info := range infos {
		name, ours := strings.CutPrefix(info.Name, b.prefix)
		if ours && info.Backend == b.engine {
			all = append(all, Session{name, info.Created.Format(time.RFC3339), info.Dir, info.Attached > 0})
		}
	}
	return all, nil
}

// AttachCmd is nil if there is no such session.
func (b *backend) AttachCmd(ctx context.Context, name string) *exec.Cmd {
	var command *exec.Cmd
	b.on(ctx, name, func(session *berth.Session) error {
		argv, err := session.AttachCommand(ctx)
		if err == nil && len(argv) > 0 {
			command = exec.CommandContext(ctx, argv[0], argv[1:]...)
		}
		return err
	})
	return command
}

// IsRunning reports whether the engine can run a session now.
func (b *backend) IsRunning(ctx context.Context) bool {
	_, _, err := b.runtime.Choose(ctx, berth.Backend(b.engine))
	return err == nil
}

// KillServer kills all sessions of this backend, and reports the first that could not be killed.
func (b *backend) KillServer(ctx context.Context) error {
	sessions, err := b.ListSessions(ctx)
	for _, session := range sessions {
		if killed := b.KillSession(ctx, session.Name); err == nil {
			err = killed
		}
	}
	return err
}

func (b *backend) SetEnvironment(ctx context.Context, name, key, value string) error {
	return b.on(ctx, name, func(session *berth.Session) error { return session.SetEnv(ctx, key, value) })
}

func (b *backend) PipePane(ctx context.Context, name, logPath string) error {
	return b.on(ctx, name, func(session *berth.Session) error { return session.SetLog(ctx, logPath, 64<<20) })
}
