package berth

// #include "berth.h"
import "C"

import "context"

// Env is the environment of a program, described: where it starts from and what is changed. Values are byte-exact, never
// expanded, and never in an argv, a file or a log. The zero value is BasicEnv().
type Env struct {
	base    C.int32_t
	set     bool
	listed  []string
	changes []change
}

type change struct {
	kind                  byte
	key, value, separator string
	other                 *Env
}

// CleanEnv has nothing of this program's environment.
func CleanEnv() Env { return Env{base: C.BERTH_ENV_CLEAN, set: true} }

// BasicEnv has what a shell cannot do without: PATH, HOME, USER, SHELL, LANG, TERM and the like.
func BasicEnv() Env { return Env{base: C.BERTH_ENV_BASIC, set: true} }

// InheritEnv has all of this program's environment.
func InheritEnv() Env { return Env{base: C.BERTH_ENV_INHERIT, set: true} }

// ListedEnv has the listed variables, where this program has them.
func ListedEnv(keys ...string) Env { return Env{listed: append([]string{}, keys...), set: true} }

func (e Env) with(c change) Env {
	e.changes = append(append([]change{}, e.changes...), c)
	return e
}

// Set sets a variable. A key that is not [A-Za-z_][A-Za-z0-9_]* fails the start that uses it.
func (e Env) Set(key, value string) Env { return e.with(change{kind: 's', key: key, value: value}) }

// Unset removes a variable.
func (e Env) Unset(key string) Env { return e.with(change{kind: 'u', key: key}) }

// Append adds behind what is there, with separator between; alone if there is nothing.
func (e Env) Append(key, value, separator string) Env {
	return e.with(change{kind: 'a', key: key, value: value, separator: separator})
}

// Prepend is the same before what is there.
func (e Env) Prepend(key, value, separator string) Env {
	return e.with(change{kind: 'p', key: key, value: value, separator: separator})
}

// Beneath puts the changes of other between what this one inherits and what it changes itself: what was set here stands.
func (e Env) Beneath(other Env) Env { return e.with(change{kind: 'b', other: &other}) }

// Resolve is "KEY=value" texts as a start would have them. InvalidArgument if a key or value is wrong.
func (e Env) Resolve() ([]string, error) {
	var entries *C.berth_strings
	var failed error
	err := e.use(func(raw *C.berth_env) {
		failed = call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_env_resolve(&entries, raw, e) })
	})
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	return takeStrings(entries), nil
}

// use has the environment as an object for the time of a call.
func (e Env) use(do func(*C.berth_env)) error {
	var env *C.berth_env
	base := e.base
	if !e.set {
		base = C.BERTH_ENV_BASIC
	}
	if e.listed != nil {
		err := withStrings(e.listed, func(keys *C.berth_strings) error {
			return call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_env_new_listed(&env, keys, e) })
		})
		if err != nil {
			return err
		}
	} else {
		err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_env_new(&env, base, e) })
		if err != nil {
			return err
		}
	}
	defer C.berth_env_free(env)
	for _, c := range e.changes {
		key, keySize := view(c.key)
		value, valueSize := view(c.value)
		separator, separatorSize := view(c.separator)
		// What is wrong with one is kept, and told by the start.
		switch c.kind {
		case 's':
			C.berth_env_set(env, key, keySize, value, valueSize)
		case 'u':
			C.berth_env_unset(env, key, keySize)
		case 'p':
			C.berth_env_prepend(env, key, keySize, value, valueSize, separator, separatorSize)
		case 'b':
			if err := c.other.use(func(other *C.berth_env) { C.berth_env_beneath(env, other) }); err != nil {
				return err
			}
		default:
			C.berth_env_append(env, key, keySize, value, valueSize, separator, separatorSize)
		}
	}
	do(env)
	return nil
}
