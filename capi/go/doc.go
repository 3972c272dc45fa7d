// Package berth runs programs that must not be trusted or lost, such as coding agents, in sessions: named, durable places
// with a terminal or pipes, a log, limits and a record.
//
//	runtime, err := berth.NewRuntime("")
//	session, err := runtime.CreateSession(ctx, "fix-42", berth.Shell("claude"))
//	_, err = session.Send(ctx, "run the tests")
//	screen, err := session.Capture(40)
//	exit, err := session.Wait(ctx)
//	err = session.Destroy(5 * time.Second)
//
// Ownership: a Runtime owns what it spawned and its ephemeral sessions, which end with Close. A Session is a view: closing
// it ends nothing, and a durable one is opened again by its handle, from any process. A Process owns its whole tree: Close
// kills it and returns once it is gone. Finalizers free what was forgotten, as a safety net and no more.
//
// Goroutines: every method may be called from any goroutine, any number at once. berth starts no thread, handles no signal
// and does not fork this program. Waits (Wait, NextEvent, Next) park the goroutine in the runtime's poller and end with their
// context; other calls take a context for its deadline, and do not begin if it is done.
package berth
