#!/usr/bin/env bash
# Judges the wheel in build-wheel/dist by auditwheel, and walks through it: in a fresh virtual environment of this
# machine, and, as root, in a fresh Debian 11, whose C library and Python are older. That root is kept in
# build-wheel/bullseye.tar. Says what it leaves out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build-wheel
say() { printf 'wheel: %s\n' "$*"; }
die() { say "$*" >&2; exit 4; }
# shellcheck source=/dev/null
. "$root/probes/sysroot.sh"

wheels=("$build"/dist/rharness-*.whl)
[ -e "${wheels[0]}" ] || { echo "$0: no wheel in $build/dist; ./dev wheel makes it" >&2; exit 2; }
wheel=${wheels[0]}
work=$(mktemp -d)
cleanup() {
  umount "$work"/*/proc 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# The tag is what auditwheel says it may be: in the file's name, that is.
[ -x "$build/audit/bin/auditwheel" ] || python3 -m venv "$build/audit"
if "$build/audit/bin/pip" install --quiet --disable-pip-version-check auditwheel==6.8.2 2>"$work/log"; then
  "$build/audit/bin/auditwheel" show "$wheel" | tr '\n' ' ' >"$work/show"
  tag=$(sed -n 's/.*platform tag: "\([a-z0-9_]*\)".*/\1/p' "$work/show")
  [ -n "$tag" ] && [[ $wheel == *"$tag"* ]] || { cat "$work/show" >&2; die "auditwheel finds another tag than the wheel's name has"; }
  say "auditwheel agrees: $tag"
else
  say "left out: auditwheel, which pip cannot install here"
fi

# Of the system's packages the environment takes pytest alone.
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
for walk in walk.sh walk_wheel.sh; do
  env -i "PATH=$work/venv/bin:/usr/bin:/bin" HOME=/tmp TERM=dumb sh "$here/$walk"
done
"$work/venv/bin/pip" uninstall --quiet --yes rharness
left=$(find "$work/venv" -path '*rharness*' -type f ! -name '*.pyc')
[ -z "$left" ] || die "uninstalling left behind: $left"

[ "$(id -u)" = 0 ] || { say "left out: Debian 11, which needs root"; exit 0; }
if [ ! -s "$build/bullseye.tar" ]; then
  for mirror in $(debian_mirrors); do
    say "making a root of Debian 11 from $mirror"
    debootstrap --variant=minbase --include=python3-venv,python3-pytest bullseye "$work/bare" "$mirror" >"$work/log" 2>&1 && break
    rm -rf "$work/bare"
  done
  [ -d "$work/bare" ] || { tail -n 20 "$work/log" >&2; die "no root of Debian 11; DEBIAN_MIRROR names a mirror that has it"; }
  tar -C "$work/bare" -cf "$build/bullseye.tar" .
  rm -rf "$work/bare"
fi
mkdir "$work/bullseye"
tar -C "$work/bullseye" -xpf "$build/bullseye.tar"
mount -t proc proc "$work/bullseye/proc"
cp "$wheel" "$here/walk.sh" "$here/walk_wheel.sh" "$work/bullseye/tmp/"
chroot "$work/bullseye" sh -c 'python3 -m venv --system-site-packages /opt/venv && /opt/venv/bin/pip install --quiet --no-index /tmp/*.whl'
for walk in walk.sh walk_wheel.sh; do
  inside=(env -i PATH=/opt/venv/bin:/usr/bin:/bin HOME=/tmp TERM=dumb sh "/tmp/$walk")
  chroot "$work/bullseye" "${inside[@]}"
  chroot "$work/bullseye" setpriv --reuid=1000 --regid=1000 --clear-groups "${inside[@]}"
done
say "passed"
