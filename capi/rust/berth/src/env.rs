use crate::convert::{handle, pointer, Strings};
use crate::error::check;
use berth_sys as sys;

handle!(Handle, berth_env, berth_env_free);

/// The environment of a program, described: where it starts from and what is changed. Values are byte-exact, never
/// expanded, and never in an argv, a file or a log.
///
/// ```
/// let env = berth::Env::basic().set("PORT", "8080").append("PATH", "/opt/tool/bin", ":");
/// ```
#[derive(Clone, Debug)]
pub struct Env {
    base: Base,
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Base {
    Plain(i32),
    Listed(Vec<Vec<u8>>),
}

#[derive(Clone, Debug)]
enum Change {
    Set(Vec<u8>, Vec<u8>),
    Unset(Vec<u8>),
    Append(Vec<u8>, Vec<u8>, Vec<u8>),
    Prepend(Vec<u8>, Vec<u8>, Vec<u8>),
    Beneath(Env),
}

impl Env {
    fn of(base: Base) -> Env {
        Env { base, changes: Vec::new() }
    }

    /// Nothing of this program's environment.
    pub fn clean() -> Env {
        Env::of(Base::Plain(sys::BERTH_ENV_CLEAN))
    }

    /// What a shell cannot do without: PATH, HOME, USER, SHELL, LANG, TERM and the like. The default.
    pub fn basic() -> Env {
        Env::of(Base::Plain(sys::BERTH_ENV_BASIC))
    }

    /// All of this program's environment.
    pub fn inherit() -> Env {
        Env::of(Base::Plain(sys::BERTH_ENV_INHERIT))
    }

    /// The listed variables, where this program has them.
    pub fn listed<S: AsRef<[u8]>>(keys: impl IntoIterator<Item = S>) -> Env {
        Env::of(Base::Listed(keys.into_iter().map(|key| key.as_ref().to_vec()).collect()))
    }

    /// Sets a variable. A key that is not `[A-Za-z_][A-Za-z0-9_]*` fails the start that uses it.
    pub fn set(mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Env {
        self.changes.push(Change::Set(key.as_ref().to_vec(), value.as_ref().to_vec()));
        self
    }

    /// Removes a variable.
    pub fn unset(mut self, key: impl AsRef<[u8]>) -> Env {
        self.changes.push(Change::Unset(key.as_ref().to_vec()));
        self
    }

    /// Adds behind what is there, with `separator` between; alone if there is nothing.
    pub fn append(
        mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        separator: impl AsRef<[u8]>,
    ) -> Env {
        self.changes.push(Change::Append(
            key.as_ref().to_vec(),
            value.as_ref().to_vec(),
            separator.as_ref().to_vec(),
        ));
        self
    }

    /// The same before what is there.
    pub fn prepend(
        mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        separator: impl AsRef<[u8]>,
    ) -> Env {
        self.changes.push(Change::Prepend(
            key.as_ref().to_vec(),
            value.as_ref().to_vec(),
            separator.as_ref().to_vec(),
        ));
        self
    }

    /// Puts the changes of `other` between what this one inherits and what it changes itself: what was set here stands.
    ///
    /// ```
    /// # fn main() -> berth::Result<()> {
    /// let project = berth::Env::clean().set("LEVEL", "project").set("COLOUR", "no");
    /// let env = berth::Env::clean().set("LEVEL", "task").beneath(project);
    /// assert_eq!(env.resolve()?, ["LEVEL=task", "COLOUR=no"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn beneath(mut self, other: Env) -> Env {
        self.changes.push(Change::Beneath(other));
        self
    }

    /// "KEY=value" texts as a start would have them.
    pub fn resolve(&self) -> crate::Result<Vec<String>> {
        let mut entries = std::ptr::null_mut();
        self.with_raw(|env| check(|error| unsafe { sys::berth_env_resolve(&mut entries, env, error) }))??;
        Ok(Strings(entries).to_vec())
    }

    pub(crate) fn with_raw<T>(&self, use_it: impl FnOnce(*const sys::berth_env) -> T) -> crate::Result<T> {
        let env = self.to_raw()?;
        Ok(use_it(env.0))
    }

    fn to_raw(&self) -> crate::Result<Handle> {
        let mut raw = std::ptr::null_mut();
        match &self.base {
            Base::Plain(base) => check(|error| unsafe { sys::berth_env_new(&mut raw, *base, error) })?,
            Base::Listed(keys) => {
                let keys = Strings::new(keys)?;
                check(|error| unsafe { sys::berth_env_new_listed(&mut raw, keys.0, error) })?;
            }
        }
        let env = Handle(raw);
        for change in &self.changes {
            // What is wrong with one is kept, and told by the start.
            unsafe {
                match change {
                    Change::Set(k, v) => {
                        sys::berth_env_set(raw, pointer(k), k.len(), pointer(v), v.len())
                    }
                    Change::Unset(k) => sys::berth_env_unset(raw, pointer(k), k.len()),
                    Change::Prepend(k, v, s) => sys::berth_env_prepend(
                        raw,
                        pointer(k),
                        k.len(),
                        pointer(v),
                        v.len(),
                        pointer(s),
                        s.len(),
                    ),
                    Change::Append(k, v, s) => sys::berth_env_append(
                        raw,
                        pointer(k),
                        k.len(),
                        pointer(v),
                        v.len(),
                        pointer(s),
                        s.len(),
                    ),
                    Change::Beneath(other) => sys::berth_env_beneath(raw, other.to_raw()?.0),
                }
            };
        }
        Ok(env)
    }
}
