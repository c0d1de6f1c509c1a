#!/usr/bin/env bash
# A real Kubernetes for tests, on this machine alone and as root: a control plane and nodes of release 1.20,
# which is what Debian 12 has the source of. Everything listens on 127.0.0.1.
#
#   kubernetes_cluster.sh build CACHE           its four programs into CACHE/bin: once, about 13 CPU minutes
#   kubernetes_cluster.sh up CACHE PLACE NODE.. starts it all below PLACE; PLACE/kubeconfig leads to it
#   kubernetes_cluster.sh serve PLACE SERVICE   starts one that was ended: etcd, apiserver, controllers,
#                                               scheduler, containerd-NODE, kubelet-NODE
#   kubernetes_cluster.sh end PLACE SERVICE     ends one, by SIGKILL
#   kubernetes_cluster.sh lose PLACE NODE       a node that loses its power: its programs and all that it ran
#   kubernetes_cluster.sh down PLACE            ends everything, and unmounts what nodes mounted
#
# Pods need hostNetwork (there is a loopback network and no other), no service account token, and images that
# are there: "localhost/base:1", which has busybox and nothing else.
set -euo pipefail

say() { printf 'kubernetes_cluster.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# until_ok SECONDS WHAT COMMAND...
until_ok() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  while ! "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || die "$what did not come up; its log is below $place/log"
    sleep 0.3
  done
}

# --- building ---------------------------------------------------------------------------------------------

# private_apt ARGUMENT...: apt-get with sources of its own, so that this machine's are left as they are.
private_apt() {
  apt-get -q -o "Dir::Etc::SourceList=$cache/apt/sources" -o Dir::Etc::SourceParts=- \
    -o "Dir::State=$cache/apt" -o "Dir::State::Lists=$cache/apt/lists" \
    -o "Dir::State::Status=$cache/apt/status" -o "Dir::Cache=$cache/apt/cache" "$@"
}

fetch_source() { # into $1
  local mirror
  mirror=$({ apt-get update --print-uris 2>/dev/null || true; } |
    sed -n "s|^'\\(.*\\)/dists/bookworm/InRelease' .*|\\1|p" | head -n 1)
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial"
  : >"$cache/apt/status"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm main\n' \
    "${mirror:-http://deb.debian.org/debian}" >"$cache/apt/sources"
  private_apt update >/dev/null
  (cd "$cache/apt" && private_apt source --download-only kubernetes >/dev/null)
  mkdir -p "$1"
  tar xzf "$cache"/apt/kubernetes_*.orig.tar.gz --strip-components=1 -C "$1"
}

# Upstream generates this file from the types' comments; the source package has it not.
generate_openapi() {
  local machinery=k8s.io/apimachinery/pkg packages
  go build -o "$cache/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  packages=$(grep -rlE --include=doc.go '^// \+k8s:openapi-gen=true' staging/src/k8s.io vendor/k8s.io pkg |
    grep -vE '/testdata/|sample-apiserver|apiextensions-apiserver/examples|kube-openapi/test' |
    sed -E 's#/doc\.go$##; s#^(staging/src|vendor)/##; s#^pkg/#k8s.io/kubernetes/pkg/#' | sort -u | paste -sd ,)
  "$cache/openapi-gen" -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi \
    --output-base "$GOPATH/src" --go-header-file hack/boilerplate/boilerplate.generatego.txt \
    -r "$cache/openapi-violations" \
    -i "$packages,$machinery/apis/meta/v1,$machinery/runtime,$machinery/version,$machinery/api/resource,$machinery/util/intstr"
}

build() {
  cache=$(realpath -m "$1")
  local source=$cache/go/src/k8s.io/kubernetes program flags=-s
  mkdir -p "$cache/bin"
  [ -e "$source/cmd/kubelet" ] || fetch_source "$source"
  export GO111MODULE=off GOPROXY=off GOFLAGS='' GOPATH=$cache/go GOCACHE=$cache/compiled
  cd "$source"
  [ -e pkg/generated/openapi/zz_generated.openapi.go ] || generate_openapi
  for program in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X k8s.io/kubernetes/vendor/$program.gitVersion=v1.20.2"
    flags+=" -X k8s.io/kubernetes/vendor/$program.gitMajor=1 -X k8s.io/kubernetes/vendor/$program.gitMinor=20"
  done
  for program in kube-apiserver kube-controller-manager kube-scheduler kubelet; do
    [ ! -x "$cache/bin/$program" ] || continue
    say "building $program"
    go build -ldflags "$flags -w" -o "$cache/bin/$program.new" "./cmd/$program"
    mv "$cache/bin/$program.new" "$cache/bin/$program"
  done
}

# --- services ---------------------------------------------------------------------------------------------

# launch SERVICE COMMAND...: in a session of its own, so that no Ctrl-C meant for a test reaches it.
launch() {
  local service=$1
  shift
  setsid "$@" >>"$place/log/$service" 2>&1 </dev/null &
  echo $! >"$place/pid/$service"
  # Who started this script may end its process group with it.
  while [ "$(awk '{print $6}' "/proc/$!/stat" 2>/dev/null || echo $!)" != $! ]; do sleep 0.05; done
}

serve() {
  local service=$1 bin node etcd='' peer='' api='' controllers='' scheduler=''
  bin=$(cat "$place/cache")/bin
  node=${service#*-}
  # shellcheck disable=SC1091
  . "$place/ports"
  case $service in
    etcd)
      launch etcd etcd --data-dir "$place/etcd" --listen-client-urls "http://127.0.0.1:$etcd" \
        --advertise-client-urls "http://127.0.0.1:$etcd" --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" ;;
    apiserver)
      # It asks kubelets for logs by the names of their nodes, which are this machine.
      # shellcheck disable=SC2016
      launch apiserver unshare --mount sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$place/hosts" \
        "$bin/kube-apiserver" --bind-address=127.0.0.1 --secure-port="$api" --cert-dir="$place/pki" \
        --etcd-servers="http://127.0.0.1:$etcd" --service-cluster-ip-range=10.96.0.0/16 \
        --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$place/account.key" \
        --service-account-signing-key-file="$place/account.key" --token-auth-file="$place/tokens" \
        --authorization-mode=AlwaysAllow --disable-admission-plugins=ServiceAccount ;;
    controllers)
      launch controllers "$bin/kube-controller-manager" --kubeconfig="$place/kubeconfig" --leader-elect=false \
        --bind-address=127.0.0.1 --secure-port="$controllers" --port=0 --cert-dir="$place/pki" \
        --service-account-private-key-file="$place/account.key" --node-monitor-grace-period=20s ;;
    scheduler)
      launch scheduler "$bin/kube-scheduler" --kubeconfig="$place/kubeconfig" --leader-elect=false \
        --bind-address=127.0.0.1 --secure-port="$scheduler" --port=0 --cert-dir="$place/pki" ;;
    containerd-*) launch "$service" containerd -c "$place/$node/containerd.toml" ;;
    kubelet-*)
      launch "$service" "$bin/kubelet" --kubeconfig="$place/kubeconfig" --config="$place/$node/kubelet.yaml" \
        --root-dir="$place/$node/kubelet" --cert-dir="$place/$node/pki" --hostname-override="$node" \
        --container-runtime=remote --container-runtime-endpoint="unix://$place/$node/containerd.sock" ;;
    *) die "no service is called $service" ;;
  esac
}

end() {
  local pid
  [ -e "$place/pid/$1" ] || return 0
  pid=$(cat "$place/pid/$1")
  rm -f "$place/pid/$1"
  kill -9 "$pid" 2>/dev/null || return 0
  while [ -e "/proc/$pid" ] && [ "$(awk '{print $3}' "/proc/$pid/stat" 2>/dev/null || echo Z)" != Z ]; do sleep 0.05; done
}

# end_tree PID: what descends from it, then itself.
end_tree() {
  local child
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null || true); do end_tree "$child"; done
  kill -9 "$1" 2>/dev/null || true
}

# The containers of a node outlive its containerd: each has a shim, which names the socket.
end_containers() {
  local entry
  for entry in /proc/[0-9]*; do
    if tr '\0' ' ' 2>/dev/null <"$entry/cmdline" | grep -q -- "containerd-shim.* $place/$1/containerd.sock"; then
      end_tree "${entry#/proc/}"
    fi
  done
}

lose() {
  end "kubelet-$1"
  end "containerd-$1"
  end_containers "$1"
}

# --- the whole --------------------------------------------------------------------------------------------

prepare() { # CACHE
  local api=''
  mkdir -p "$place"/{log,pid,pki,network}
  realpath "$1" >"$place/cache"
  # Ports that nobody listens on, chosen by the kernel.
  python3 - >"$place/ports" <<'EOT'
import socket
names = ["etcd", "peer", "api", "controllers", "scheduler"]
held = [socket.socket() for _ in names]
for name, one in zip(names, held):
    one.bind(("127.0.0.1", 0))
    print(f"{name}={one.getsockname()[1]}")
EOT
  # shellcheck disable=SC1091
  . "$place/ports"
  openssl genrsa -out "$place/account.key" 2048 2>/dev/null
  echo 'test-token,tester,tester,system:masters' >"$place/tokens"
  cat >"$place/kubeconfig" <<EOT
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: tester}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true}}]
users: [{name: tester, user: {token: test-token}}]
EOT
  echo '{"cniVersion": "0.4.0", "name": "loopback", "plugins": [{"type": "loopback"}]}' >"$place/network/loopback.conflist"
}

# The one image: busybox under the names that shells and sleeps have. Nodes import it from an archive.
make_image() {
  local container
  [ ! -e "$1" ] || return 0
  mkdir -p "$place/image/bin"
  cp /bin/busybox "$place/image/bin/busybox"
  for name in sh sleep; do ln -sf busybox "$place/image/bin/$name"; done
  container=$(buildah from scratch)
  buildah copy -q "$container" "$place/image" / >/dev/null
  buildah config --entrypoint '["/bin/sleep", "1000000"]' "$container"
  buildah commit -q --format oci "$container" localhost/base:1 >/dev/null
  buildah rm "$container" >/dev/null
  buildah push -q localhost/base:1 "docker-archive:$1.new:localhost/base:1"
  mv "$1.new" "$1"
}

start_node() { # NODE: each has a containerd of its own, since a kubelet ends what it does not know
  local node=$1
  mkdir -p "$place/$node"
  cat >"$place/$node/containerd.toml" <<EOT
version = 2
root = "$place/$node/containerd"
state = "$place/$node/containerd-state"
[grpc]
  address = "$place/$node/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/base:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$place/network"
EOT
  # Where cgroups are as they come, a kubelet of this age can manage none: what a pod may use is not enforced.
  cat >"$place/$node/kubelet.yaml" <<EOT
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: $(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
healthzPort: 0
readOnlyPort: 0
failSwapOn: false
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 1Mi, nodefs.available: 1%, imagefs.available: 1%}
EOT
  serve "containerd-$node"
  until_ok 30 "containerd of $node" ctr -a "$place/$node/containerd.sock" version
  ctr -a "$place/$node/containerd.sock" -n k8s.io images import "$(cat "$place/cache")/base.tar" >/dev/null
  serve "kubelet-$node"
}

ready() { [ "$(kubectl --kubeconfig "$place/kubeconfig" get nodes --no-headers 2>/dev/null | grep -c ' Ready ')" = "$1" ]; }

up() { # CACHE NODE...
  local node scheduler=''
  prepare "$1"
  make_image "$(cat "$place/cache")/base.tar"
  shift
  printf '127.0.0.1 %s\n' localhost "$@" >"$place/hosts"
  serve etcd
  serve apiserver
  until_ok 300 "the API server" kubectl --kubeconfig "$place/kubeconfig" get --raw /readyz
  serve controllers
  serve scheduler
  # shellcheck disable=SC1091
  . "$place/ports"
  until_ok 120 "the scheduler" curl --silent --fail --insecure "https://127.0.0.1:$scheduler/healthz"
  for node in "$@"; do start_node "$node"; done
  until_ok 300 "the nodes" ready $#
}

down() {
  local file node
  for file in "$place"/pid/kubelet-* "$place"/pid/*; do
    [ ! -e "$file" ] || end "${file##*/}"
  done
  for node in "$place"/*/containerd.toml; do
    [ ! -e "$node" ] || end_containers "$(basename "$(dirname "$node")")"
  done
  sleep 0.3
  awk -v below="$place/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r |
    while IFS= read -r mount; do umount -l "$mount" || true; done
}

command=${1:-} place=$(realpath -m "${2:-.}")
case $command in
  build) build "${2:?a folder to keep the programs in}" ;;
  up)
    place=$(realpath -m "${3:?a folder}")
    cache=${2:?the folder with the programs}
    shift 3
    up "$cache" "$@" ;;
  serve|end|lose) "$command" "${3:?a name}" ;;
  down) down ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
esac
