#!/usr/bin/env bash
# Installs a wheel in an environment for each Python from 3.10 on that this machine has, on the PATH or under pyenv, and
# runs the package's tests there, with the newest JAX of each Python. Go is not on the PATH of the tests.
#
#	python/test.sh WHEEL CACHE # absolute paths
set -euo pipefail
cd "$(dirname "$0")/tests" # where no package hides the installed one
wheel=$1 cache=$2 tested=0 failed=0
pyenv="${PYENV_ROOT:-$HOME/.pyenv}/versions"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# try VERSION: makes the environment of a version and runs the tests in it. It returns 0 if all pass, 2 if it is skipped.
try() {
  local version=$1 python= candidate jax packages env left result=0
  for candidate in "$pyenv/$version".*/bin/python3 "python$version"; do
    if "$candidate" -c "import ensurepip, sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then python=$candidate; break; fi
  done
  [ -n "$python" ] || return 2
  case $version in 3.10) jax=jax==0.6.2 ;; 3.11) jax=jax==0.10.2 ;; *) jax=jax==0.12.0.1 ;; esac
  packages=(pytest pandas pyarrow "$jax")
  [ "$version" != 3.13 ] || packages+=(nbclient ipykernel matplotlib)
  env=$cache/python-$version
  if [ "$(cat "$env/packages" 2>/dev/null)" != "${packages[*]}" ]; then
    { "$python" -m venv --clear "$env" && "$env/bin/python" -m pip install -q --disable-pip-version-check --retries 1 "${packages[@]}"; } ||
      { echo "python: $version skipped: cannot install ${packages[*]}"; return 2; }
    echo "${packages[*]}" > "$env/packages"
  fi
  "$env/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index "$wheel" || return 1
  echo "python: $version with $jax"
  PATH=$env/bin:/usr/bin:/bin "$env/bin/python" -m pytest -q --no-header -p no:cacheprovider || result=1
  "$env/bin/python" -m pip uninstall -q -y hlocb
  left=$(find "$env" -name '*hlocb*')
  [ -z "$left" ] || { echo "python: $version: pip uninstall leaves $left"; result=1; }
  return $result
}

# Two versions run at once: a test waits much of its time for a program to start.
versions=(3.10 3.11 3.12 3.13 3.14)
jobs=()
for version in "${versions[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  try "$version" > "$logs/$version" 2>&1 &
  jobs+=($!)
done
for i in "${!versions[@]}"; do
  result=0
  wait "${jobs[i]}" || result=$?
  cat "$logs/${versions[i]}"
  [ "$result" = 2 ] || tested=$((tested + 1))
  [ "$result" != 1 ] || failed=1
done
[ "$tested" -gt 0 ] || echo "python: skipped: no Python from 3.10 on with pip"
exit $failed
