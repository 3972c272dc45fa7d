// NixStore: a Nix of the test's own: store, state and settings below one folder, no network, no
// nixpkgs. Sets the process's environment so that nix finds it.
#ifndef BERTH_TESTS_NIX_NIX_STORE_H_
#define BERTH_TESTS_NIX_NIX_STORE_H_

#include <optional>
#include <string>

namespace berth {

class NixStore {
 public:
  // `folder` must exist.
  explicit NixStore(const std::string& folder);
  ~NixStore();

  // A flake whose default dev shell has the variables of `attributes` (Nix code). Returns its
  // folder.
  std::string MakeFlake(const std::string& name, const std::string& attributes) const;
  // How often `nix` has been run since the beginning: it is a script that counts, then runs nix.
  int Runs() const;
  void BreakNix() const;

 private:
  const std::string folder_;
  std::string path_, home_;
  std::optional<std::string> tmpdir_;
};

}  // namespace berth

#endif  // BERTH_TESTS_NIX_NIX_STORE_H_
