#!/usr/bin/env bash
# fetch.sh DIRECTORY [PYTHON]: writes archives of public test files into a directory, each from one commit:
#
#   stablehlo.tar.xz  StableHLO's tests. print_identical.txt in it lists the files that jaxlib prints as they are.
#   shardy.tar.xz     the tests of Shardy's dialects.
#   bytecode.tar.xz   modules of StableHLO's tests, and programs of JAX, as jaxlib's bytecode and artifacts.
#   hlo.tar.xz        the HLO in XLA's tests, and what XLA makes of it.
#
# PYTHON has jaxlib, which writes the list, the bytecode and the HLO; without it they are left out. STABLEHLO_SOURCE,
# SHARDY_SOURCE and XLA_SOURCE name other repositories with these commits, such as directories.
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
  find "$work/$1/"*/ -type f ! -name '*.mlir' ! -name '*.bc' ! -name '*.hlo' ! -name '*_test.cc' -delete
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
# hlocb does not agree with MLIR about these files yet:
#   convolution                words for wrong dimension numbers and group counts; a second keyword is named first
#   dynamic_conv               the shape of the padding is checked before the precision
#   reduce                     the number of operands is checked first; ranks in regions are worded as shapes
#   scatter                    a region that returns a number that is no tensor is an error of its return
#   select_and_scatter         the same; the types are inferred first; ranks in regions are worded as shapes
#   1_11_0                     send has no empty source_target_pairs of rank 1
disagree stablehlo/stablehlo/tests/verify_{convolution,dynamic_conv,reduce,scatter,select_and_scatter}.mlir \
  stablehlo/stablehlo/tests/vhlo/vhlo_to_version_downgrade.1_11_0.mlir
if [ -n "$python" ]; then
  "$python" "$here/identical.py" "$work/stablehlo"
else
  echo "no jaxlib: stablehlo.tar.xz has no print_identical.txt, and there is no bytecode.tar.xz and hlo.tar.xz"
fi
pack stablehlo
if [ -n "$python" ]; then
  mkdir -p "$work/bytecode/GIVE"
  "$python" "$here/bytecode.py" "$work/stablehlo" "$work/bytecode/GIVE"
  cp "$work/stablehlo/LICENSE" "$work/bytecode"
  echo "bytecode: $(find "$work/bytecode" -name case.json | wc -l) modules"
  pack bytecode
fi
fetch shardy "${SHARDY_SOURCE:-https://github.com/openxla/shardy}" f25d2eae7a9aa5402be3c3a6267878b4d9418657 shardy/dialect
pack shardy
if [ -n "$python" ]; then
  fetch xla "${XLA_SOURCE:-https://github.com/openxla/xla}" be37698a8e3052c97b86146e84f28f30af0b81e3 xla
  mkdir -p "$work/hlo/give"
  "$python" "$here/hlo.py" "$work/xla" "$work/hlo/give"
  cp "$work/xla/LICENSE" "$work/hlo"
  pack hlo
fi
