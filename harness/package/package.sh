#!/usr/bin/env bash
# Makes build/rharness_VERSION_ARCHITECTURE.deb and build/rharness-VERSION-linux-ARCHITECTURE.tar.gz of what
# is built. The .deb declares the libraries that it needs; the tarball brings them along in lib/, beside the
# C library that every system has, with their licences.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build}
[ -x "$build/bin/rharness-more" ] || { echo "$0: $build/bin/rharness-more is not there; ./dev build builds it" >&2; exit 2; }

version=$("$build/bin/rharness" --version)
architecture=$(dpkg --print-architecture)
# The same pages and archives whenever they are made.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 946684800)}
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# install_into FOLDER: all components, without symbols.
install_into() {
  cmake --install "$build" --prefix "$1" --strip >"$work/install.log" 2>&1 ||
    { tail -n 20 "$work/install.log" >&2; exit 4; }
}

# needs PROGRAM...: the libraries that they load, but for glibc's; a path a line.
needs() {
  local glibc='^(linux-vdso|ld-linux[-a-z0-9_]*|lib(c|m|dl|rt|pthread|resolv|nsl|util|mvec|anl))\.so'
  local name path
  ldd "$@" | while read -r name _ path _; do
    [[ $name =~ $glibc ]] || [[ $path != /* ]] || printf '%s\n' "$path"
  done | sort -u
}

# owner LIBRARY: the package that it is of. Where /lib is a link to /usr/lib, dpkg may know it by either.
owner() {
  local path
  path=$(readlink -f "$1")
  { dpkg-query -S "$path" 2>/dev/null || dpkg-query -S "${path#/usr}"; } | head -n 1 | cut -d : -f 1
}

make_deb() {
  local stage=$work/deb installed_kib depends postgresql hwloc curl tokens programs
  install_into "$stage/usr"
  # Here the system's libraries are where the loader looks first.
  printf 'file(RPATH_REMOVE FILE "%s")\n' "$stage"/usr/bin/rharness{,-more} >"$work/rpath.cmake"
  cmake -P "$work/rpath.cmake" >/dev/null
  mkdir -p "$stage/usr/share/zsh/vendor-completions"
  mv "$stage"/usr/share/zsh/site-functions/* "$stage/usr/share/zsh/vendor-completions/"
  rmdir "$stage/usr/share/zsh/site-functions"
  gzip -9n "$stage"/usr/share/man/man1/*.1 "$stage"/usr/share/man/man7/*.7
  rm "$stage/usr/share/doc/rharness/LICENSE"
  printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' \
    'Upstream-Name: rharness' '' 'Files: *' 'Copyright: the authors of rharness' 'License: Apache-2.0' \
    ' On Debian systems the text is /usr/share/common-licenses/Apache-2.0.' \
    >"$stage/usr/share/doc/rharness/copyright"

  mkdir -p "$work/shlibs/debian" "$stage/DEBIAN"
  printf 'Source: rharness\n\nPackage: rharness\nArchitecture: any\n' >"$work/shlibs/debian/control"
  programs=("$stage"/usr/bin/*)
  depends=$(cd "$work/shlibs" && dpkg-shlibdeps -O "${programs[@]/#/-e}" 2>"$work/shlibs.log") ||
    { cat "$work/shlibs.log" >&2; exit 4; }
  # Loaded when a history needs it (harness/history/libpq.h), so that nothing else says so.
  postgresql=$(dpkg-query -W -f '${Depends}' libsoci-dev | grep -o 'libsoci-postgresql[0-9.]*')
  # Loaded where a machine has it (harness/records/manifest/topology.h).
  hwloc=$(dpkg-query -W -f '${Depends}' libhwloc-dev | grep -o 'libhwloc[0-9]*')
  # Loaded when a server is asked (harness/net/libcurl.h).
  curl=$(dpkg-query -W -f '${Depends}' libcurl4-openssl-dev | grep -o 'libcurl[0-9]*' | head -n 1)
  # Loaded when a key lies on a token (harness/trust/attestation/p11_kit.h).
  tokens=$(dpkg-query -W -f '${Depends}' libp11-kit-dev | grep -o 'libp11-kit[0-9]*' | head -n 1)
  # Loaded when pages are served (harness/insight/serve/microhttpd.h).
  microhttpd=$(dpkg-query -W -f '${Depends}' libmicrohttpd-dev | grep -o 'libmicrohttpd[0-9]*')
  installed_kib=$(du -sk --apparent-size "$stage/usr" | cut -f 1)
  cat >"$stage/DEBIAN/control" <<EOT
Package: rharness
Version: $version
Architecture: $architecture
Maintainer: The authors of rharness <rharness@localhost>
Installed-Size: $installed_kib
Depends: ${depends#shlibs:Depends=}
Recommends: git, $postgresql, $hwloc, $curl, $microhttpd
Suggests: podman | docker.io, $tokens
Section: science
Priority: optional
Description: reruns recorded training runs and says whether they reproduce
 rharness takes the records of historical training runs, reruns them on what
 they were recorded on, compares what comes out, and says in one word a run
 whether it reproduced, with the reasons.
EOT
  (cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
  dpkg-deb --root-owner-group --build "$stage" "$build/rharness_${version}_$architecture.deb" >/dev/null
}

make_tarball() {
  local name=rharness-$version-linux-$architecture library package stage
  stage=$work/$name
  install_into "$stage"
  mkdir -p "$stage/lib" "$stage/share/doc/rharness/licenses"
  # As built: the loader finds there what the installed copy would look for beside itself.
  while IFS= read -r library; do
    cp -L "$library" "$stage/lib/"
    package=$(owner "$library")
    cp "/usr/share/doc/$package/copyright" "$stage/share/doc/rharness/licenses/$package"
  done < <(needs "$build/bin/rharness-more")
  chmod 644 "$stage"/lib/*
  cp "$root/LICENSE" "$stage/"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - "$name" | gzip -9n >"$build/$name.tar.gz"
}

make_deb
make_tarball
for file in "$build/rharness_${version}_$architecture.deb" "$build/rharness-$version-linux-$architecture.tar.gz"; do
  printf '%s: %s KiB\n' "$file" "$(($(stat -c %s "$file") >> 10))"
done
