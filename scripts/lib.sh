# What the scripts of this folder share. Sourced, never run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

product_packages=(g++ cmake ninja-build pkg-config libboost-stacktrace-dev nlohmann-json3-dev libcli11-dev libdw-dev libelf-dev libdebuginfod-dev libiberty-dev zlib1g-dev)
test_packages=(catch2 ccache python3-venv python3-dev binutils dwz heaptrack libjemalloc2 libtcmalloc-minimal4)

say() { printf '\n==> %s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# The comment block at the head of the calling script is its help.
print_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# Asks apt, and so root or sudo, only for what is really missing.
install_packages() {
  local missing=() package as_root=()
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  ((${#missing[@]})) || return 0
  say "Installing ${missing[*]}"
  if ((EUID)); then
    command -v sudo >/dev/null || fail "Neither root nor sudo: ask for these packages to be installed: ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build_preset PRESET [TARGET…]: configures and builds, everything unless targets are named. A cache that was made for another folder is dropped, so the checkout may be moved.
build_preset() {
  local preset=$1 fresh=() targets=()
  shift
  (($#)) && targets=(--target "$@")
  if [[ -f $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    fresh=(--fresh)
  fi
  say "Building in $build"
  (cd "$root" && cmake "${fresh[@]}" --preset "$preset" --log-level=WARNING -Wno-dev &&
    cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}")
}

# make_once FOLDER KEY COMMAND…: runs COMMAND, which fills FOLDER, unless it has already succeeded with the same KEY.
# The folder's own path belongs to the key, because virtual environments do not survive a move.
make_once() {
  local folder=$1 key="$1 $2"
  shift 2
  [[ -f $folder/.made && $(<"$folder/.made") == "$key" ]] && return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  "$@" || { rm -rf "$folder"; return 1; }
  printf '%s' "$key" >"$folder/.made"
}
