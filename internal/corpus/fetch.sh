#!/usr/bin/env bash
# fetch.sh DIRECTORY [PYTHON]: writes archives of public test files into a directory, each from one commit:
#
#   stablehlo.tar.xz  StableHLO's tests. print_identical.txt in it lists the files that jaxlib prints as they are; PYTHON,
#                     which has jaxlib, writes the list.
#   shardy.tar.xz     the tests of Shardy's dialects.
#
# STABLEHLO_SOURCE and SHARDY_SOURCE name other repositories with these commits, such as directories.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) python=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch NAME SOURCE COMMIT DIRECTORY...: the license and the modules in directories of a commit, in $work/NAME.
fetch() {
  mkdir "$work/$1"
  local repository=$2 directory
  if [ ! -d "$repository" ]; then
    repository=$work/$1.git
    git init -q --bare "$repository"
    git -C "$repository" fetch -q --depth 1 "$2" "$3"
  fi
  git -C "$repository" show "$3:LICENSE" > "$work/$1/LICENSE"
  for directory in "${@:4}"; do
    git -C "$repository" archive --prefix="$directory/" "$3:$directory" | tar -x -C "$work/$1"
  done
  find "$work/$1/"*/ -type f ! -name '*.mlir' ! -name '*.bc' -delete
  echo "$1: $(find "$work/$1" -type f | wc -l) files of commit $3"
}

# disagree FILE...: leaves out files.
disagree() {
  (cd "$work" && rm "$@")
  printf 'left out: %s\n' "$@"
}

# pack NAME: writes $work/NAME as an archive, which is the same for the same files.
pack() {
  tar -cJf "$out/$1.tar.xz.new" --sort=name --mtime='2000-01-01 00:00Z' --owner=0 --group=0 --numeric-owner -C "$work/$1" .
  mv "$out/$1.tar.xz.new" "$out/$1.tar.xz"
}

fetch stablehlo "${STABLEHLO_SOURCE:-https://github.com/openxla/stablehlo}" 3c9301c116f97fbaf696959a0ede32712aec587b \
  stablehlo/tests stablehlo/testdata
# hlocb does not agree with these files yet: it accepts some of their mistakes or words them differently.
disagree stablehlo/stablehlo/tests/verify_{async_ops,convolution,dynamic_conv,reduce,replica_groups_mesh_axes,scatter,select_and_scatter}.mlir \
  stablehlo/stablehlo/tests/vhlo/vhlo_to_version_downgrade.1_11_0.mlir
if [ -n "$python" ]; then
  "$python" "$here/identical.py" "$work/stablehlo"
else
  echo "no jaxlib: stablehlo.tar.xz has no print_identical.txt"
fi
pack stablehlo
fetch shardy "${SHARDY_SOURCE:-https://github.com/openxla/shardy}" f25d2eae7a9aa5402be3c3a6267878b4d9418657 shardy/dialect
disagree shardy/shardy/dialect/sdy/transforms/export/test/executable/sdy_{all_gather,all_reduce,all_to_all,reduce_scatter}.mlir
pack shardy
