// Package codefly has the shape of codefly's runners: environments and processes in them, on berth.
package codefly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"berth.dev/berth"
)

const grace = 5 * time.Second

// EnvironmentVariable is one of a process.
type EnvironmentVariable struct{ Key, Value string }

// Proc is a process of an environment.
type Proc interface {
	Start(ctx context.Context) error
	Run(ctx context.Context) error
	Stop(ctx context.Context) error
	Wait(ctx context.Context) error
	IsRunning(ctx context.Context) (bool, error)
	WaitOn(name string)
	WithDir(local string)
	WithOutput(w io.Writer)
	WithEnvironmentVariables(ctx context.Context, envs ...*EnvironmentVariable)
	WithEnvironmentVariablesAppend(ctx context.Context, env *EnvironmentVariable, sep string)
	StdinPipe() (io.WriteCloser, error)
	StdoutPipe() (io.ReadCloser, error)
}

// Environment is codefly's RunnerEnvironment, native, in a container or in a Nix dev shell.
type Environment struct{ place *berth.Environment }

// New describes one; the options say which backend, folder, image, mounts and ports.
func New(runtime *berth.Runtime, name string, options ...berth.SessionOption) (*Environment, error) {
	place, err := runtime.NewEnvironment(name, options...)
	if err != nil {
		return nil, err
	}
	return &Environment{place}, nil
}

// Init sets the environment up.
func (v *Environment) Init(ctx context.Context) error { return v.place.Init(ctx) }

// Stop ends it; it can be started again.
func (v *Environment) Stop(ctx context.Context) error { return v.place.Stop(ctx, grace) }

// Shutdown ends it and removes all that it had.
func (v *Environment) Shutdown(ctx context.Context) error { return v.place.Shutdown(ctx, grace) }

// WithBinary is an error unless the program is visible in the environment.
func (v *Environment) WithBinary(ctx context.Context, bin string) error {
	return v.place.CheckBinary(ctx, bin)
}

// NewProcess describes a process, which is called name for the others to wait on.
func (v *Environment) NewProcess(name, bin string, args ...string) Proc {
	return &proc{place: v.place, command: berth.Command{Args: append([]string{bin}, args...), Name: name}}
}

// ExitError is the end of a process that failed.
type ExitError struct{ berth.Exit }

func (e *ExitError) Error() string { return e.Exit.String() }

// sharedWriter is for both streams, one piece at a time.
type sharedWriter struct {
	mutex sync.Mutex
	to    io.Writer // nil: nowhere
}

func (w *sharedWriter) Write(piece []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.to == nil {
		return len(piece), nil
	}
	return w.to.Write(piece)
}

type proc struct {
	place   *berth.Environment
	command berth.Command
	writer  sharedWriter
	stdin   *os.File // the side of the process
	stdout  *os.File
	mutex   sync.Mutex
	process *berth.Process
	copied  sync.WaitGroup
}

func (p *proc) WaitOn(name string)     { p.command.WaitOn = append(p.command.WaitOn, name) }
func (p *proc) WithDir(local string)   { p.command.Dir = local }
func (p *proc) WithOutput(w io.Writer) { p.writer.to = w }

func (p *proc) WithEnvironmentVariables(_ context.Context, envs ...*EnvironmentVariable) {
	for _, env := range envs {
		p.command.Env = p.command.Env.Set(env.Key, env.Value)
	}
}

func (p *proc) WithEnvironmentVariablesAppend(_ context.Context, env *EnvironmentVariable, sep string) {
	p.command.Env = p.command.Env.Append(env.Key, env.Value, sep)
}

// StdinPipe and StdoutPipe must be called before Start: the process gets the other side.
func (p *proc) StdinPipe() (io.WriteCloser, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.command.Stdin = read, berth.File(read)
	return write, nil
}

func (p *proc) StdoutPipe() (io.ReadCloser, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdout, p.command.Stdout = write, berth.File(write)
	return read, nil
}

func (p *proc) Start(ctx context.Context) error {
	process, err := p.place.Start(ctx, p.command)
	for _, side := range []*os.File{p.stdin, p.stdout} {
		if side != nil {
			side.Close()
		}
	}
	if err != nil {
		return err
	}
	if p.stdout == nil {
		p.forward(process.TakeStdout)
	}
	p.forward(process.TakeStderr)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.process = process
	return nil
}

// forward copies a stream to the writer until its end, so that the process never waits for a reader.
func (p *proc) forward(take func() (*os.File, error)) {
	file, err := take()
	if err != nil {
		return
	}
	p.copied.Add(1)
	go func() {
		defer p.copied.Done()
		defer file.Close()
		io.Copy(&p.writer, file)
	}()
}

func (p *proc) started() (*berth.Process, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.process == nil {
		return nil, fmt.Errorf("%s: not started", p.command.Args[0])
	}
	return p.process, nil
}

func (p *proc) Run(ctx context.Context) error {
	if err := p.Start(ctx); err != nil {
		return err
	}
	err := p.Wait(ctx)
	if ctx.Err() == nil {
		p.copied.Wait() // what it wrote is with the writer
	}
	return err
}

// Wait is nil for a clean exit and *ExitError for another end: any number of callers, any number of times.

func (p *proc) Wait(ctx context.Context) error {
	process, err := p.started()
	if err != nil {
		return err
	}
	exit, err := process.Wait(ctx)
	if err == nil && !exit.Success() {
		err = &ExitError{exit}
	}
	return err
}

func (p *proc) Stop(ctx context.Context) error {
	process, err := p.started()
	if err != nil {
		return err
	}
	_, err = process.Stop(ctx, grace)
	return err
}

func (p *proc) IsRunning(ctx context.Context) (bool, error) {
	process, err := p.started()
	if err != nil {
		return false, nil
	}
	now, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err = process.Wait(now)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}
