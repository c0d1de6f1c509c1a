#!/usr/bin/env bash
# Puts the packages into fresh roots that have nothing of ours, and walks through them as root and as
# another user: the .deb by apt, the tarball unpacked. Needs root and debootstrap; says so and ends well
# where they are not there. The bare root is kept in build/package-root.tar.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../../build}

skip() { printf 'package-test: skipped: %s\n' "$*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, to make a root of its own"
command -v debootstrap >/dev/null || skip "needs debootstrap"
# shellcheck source=/dev/null
release=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-}")
[ -n "$release" ] || skip "/etc/os-release names no release"

deb=$(ls -t "$build"/rharness_*.deb 2>/dev/null | head -n 1)
tarball=$(ls -t "$build"/rharness-*-linux-*.tar.gz 2>/dev/null | head -n 1)
[ -n "$deb" ] && [ -n "$tarball" ] || { echo "package-test: expected packages in $build; ./dev package makes them" >&2; exit 2; }

# Where apt has this release from.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
  awk -v release="$release" '$2 == release { print $1; exit }')}
[ -n "$mirror" ] || skip "apt has no mirror of $release (DEBIAN_MIRROR names one)"

work=$(mktemp -d)
cleanup() {
  umount "$work"/*/proc 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

if [ ! -s "$build/package-root.tar" ]; then
  echo "package-test: making a bare root of $release from $mirror"
  debootstrap --variant=minbase "$release" "$work/bare" "$mirror" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 4; }
  tar -C "$work/bare" -cf "$build/package-root.tar" .
  rm -rf "$work/bare"
fi

# fresh NAME: a root of that name, with what apt needs to reach its mirror.
fresh() {
  mkdir "$work/$1"
  tar -C "$work/$1" -xpf "$build/package-root.tar"
  cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
  cp "$here/walk.sh" "$work/$1/walk.sh"
  mount -t proc proc "$work/$1/proc"
}

# walk ROOT PATH: as root, then as somebody else.
walk() {
  local environment=(env -i "PATH=$2" HOME=/tmp TERM=dumb)
  chroot "$work/$1" "${environment[@]}" sh /walk.sh
  chroot "$work/$1" setpriv --reuid=1000 --regid=1000 --clear-groups "${environment[@]}" sh /walk.sh
}

fresh deb
cp "$deb" "$work/deb/tmp/rharness.deb"
chroot "$work/deb" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
  --no-install-recommends /tmp/rharness.deb' >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 4; }
walk deb /usr/bin:/bin
# The root may leave pages out as it unpacks; the package has them.
held=$(dpkg-deb -c "$deb")
for file in share/man/man1/rharness-drill.1.gz share/bash-completion/completions/rharness \
  share/zsh/vendor-completions/_rharness share/fish/vendor_completions.d/rharness.fish; do
  [[ $held == *"/usr/$file"* ]] || { echo "package-test: the .deb has no $file" >&2; exit 1; }
done
chroot "$work/deb" sh -c 'apt-get remove -y -qq rharness' >"$work/log" 2>&1
[ ! -e "$work/deb/usr/bin/rharness" ] || { echo "package-test: removing left rharness behind" >&2; exit 1; }

fresh tarball
mkdir "$work/tarball/opt/rharness"
tar -C "$work/tarball/opt/rharness" --strip-components=1 -xzf "$tarball"
walk tarball /opt/rharness/bin:/usr/bin:/bin
echo "package-test: passed"
