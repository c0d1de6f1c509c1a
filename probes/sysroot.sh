# shellcheck shell=bash
# The headers and libraries of Debian 11's C library, for rharness-probe on older nodes. `./dev probe-portable`
# sources it, and has `say` and `die`.

# debian_mirrors: where Debian's packages may lie, the likeliest first. apt itself is asked, which knows
# every way to write a source. Whether a mirror has what is wanted shows when it is asked for it.
debian_mirrors() {
  if [ -n "${DEBIAN_MIRROR:-}" ]; then
    printf '%s\n' "$DEBIAN_MIRROR"
    return
  fi
  { apt-get update --print-uris 2>/dev/null || true; } |
    sed -n "s|^'\\(.*\\)/dists/[^']*/InRelease' .*|\\1|p" |
    awk 'tolower($0) !~ /ubuntu/ && !seen[$0]++ { print ($0 !~ /\/debian$/), $0 }' |
    sort -s -k 1,1n | cut -d ' ' -f 2-
}

# download_sysroot FOLDER MIRROR: the packages of the C library of Debian 11, of this architecture, into
# the folder, and what apt said into its log. apt takes only what Debian's keys have signed.
download_sysroot() {
  local apt=$1 mirror=$2
  rm -rf "$apt"
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,unpacked}
  printf 'deb [arch=%s signed-by=%s] %s bullseye main\n' "$(dpkg --print-architecture)" \
    /usr/share/keyrings/debian-archive-keyring.gpg "$mirror" >"$apt/sources.list"
  : >"$apt/status"
  local get=(apt-get -q -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State=$apt" -o "Dir::State::Lists=$apt/lists" -o "Dir::State::Status=$apt/status"
    -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none -o APT::Update::Error-Mode=any
    -o Acquire::AllowInsecureRepositories=false -o Acquire::AllowWeakRepositories=false
    -o APT::Get::AllowUnauthenticated=false)
  { "${get[@]}" update &&
    (cd "$apt" && "${get[@]}" download libc6 libc6-dev linux-libc-dev); } >"$apt/log" 2>&1
}

# fetch_sysroot FOLDER: the headers and libraries of that C library.
fetch_sysroot() {
  local folder=$1 apt=$PWD/build-portable/apt mirrors mirror fetched='' target file
  mapfile -t mirrors < <(debian_mirrors)
  for mirror in "${mirrors[@]}"; do
    say "fetching the C library of Debian 11 from $mirror"
    if download_sysroot "$apt" "$mirror"; then
      fetched=1
      break
    fi
    tail -n 4 "$apt/log" >&2
  done
  [ -n "$fetched" ] || die "no Debian 11 from ${mirrors[*]:-the sources of apt, which name no mirror of Debian}; \
name a mirror that has it, where URL/dists/bullseye is there: DEBIAN_MIRROR=URL ./dev probe-portable"
  for file in "$apt"/*.deb; do dpkg-deb -x "$file" "$apt/unpacked"; done
  # Absolute links would lead to this machine's libraries.
  find "$apt/unpacked" -type l -lname '/*' -print0 | while IFS= read -r -d '' file; do
    target=$(readlink "$file")
    ln -sfnr "$apt/unpacked$target" "$file"
  done
  rm -rf "$folder"
  mv "$apt/unpacked" "$folder"
  rm -rf "$apt"
}
