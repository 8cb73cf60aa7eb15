#!/bin/sh
# A private Docker engine for the lab: its own folder, its own socket, a context of its own.
#   tools/lab.sh up      start it (installs Debian's packages when something is missing), build the lab image
#   tools/lab.sh down    stop it, remove the context and the folder
# It never touches another engine, and needs root on Debian; elsewhere it says how to name an existing context.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
folder=${PATROL_LAB_FOLDER:-$here/.lab}
context=${PATROL_LAB_CONTEXT:-lab}
packages="docker.io busybox-static iptables"
socket=$folder/docker.sock

say() { printf 'lab: %s\n' "$*"; }

endpoint_of_context() { docker context inspect "$context" --format '{{.Endpoints.docker.Host}}' 2>/dev/null || true; }

explain_existing_engine() {
    say "a private engine needs root on Debian or Ubuntu; this is neither."
    say "Any engine that you own will do. Give it a context and name that context:"
    say "    docker context create $context --docker host=unix:///var/run/docker.sock"
    say "    python tools/lab_image.py --context $context --busybox PATH    # or: docker -c $context pull alpine:3.20"
    say "    patrol-qualify live --docker-context $context ...              # tests: PATROL_TEST_DOCKER_CONTEXT=$context"
    exit 3
}

install_packages() {
    command -v dockerd >/dev/null && command -v docker >/dev/null && command -v iptables >/dev/null \
        && [ -x /bin/busybox ] && return
    command -v apt-get >/dev/null || explain_existing_engine
    say "installing $packages"
    # policy-rc.d keeps the package from starting an engine of its own beside ours.
    guard=/usr/sbin/policy-rc.d
    [ -e $guard ] || { printf '#!/bin/sh\nexit 101\n' >$guard; chmod +x $guard; trap 'rm -f /usr/sbin/policy-rc.d' EXIT; }
    apt-get -qq update
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $packages >/dev/null
}

answers() { docker -H "unix://$socket" version >/dev/null 2>&1; }

start_engine() {
    answers && { say "already running"; return; }
    mkdir -p "$folder"
    chmod 700 "$folder"
    # No default bridge and a subnet range of its own: two engines on one machine then leave each other alone.
    setsid dockerd --data-root "$folder/data" --exec-root "$folder/exec" -H "unix://$socket" \
        -p "$folder/docker.pid" --bridge=none --default-address-pool base=10.213.0.0/16,size=24 \
        >"$folder/log" 2>&1 </dev/null &
    tries=0
    until answers; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || { say "the engine did not start; its last words:"; tail -n 15 "$folder/log"; exit 3; }
        sleep 0.2
    done
    say "engine started in $folder"
}

make_context() {
    known=$(endpoint_of_context)
    [ "$known" = "unix://$socket" ] && return
    if [ -n "$known" ]; then
        say "a context named $context exists already and points to $known."
        say "Use it as it is, or choose another name: PATROL_LAB_CONTEXT=other make lab"
        exit 2
    fi
    docker context create "$context" --docker "host=unix://$socket" >/dev/null
}

up() {
    [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] || explain_existing_engine
    install_packages
    start_engine
    make_context
    "$here/.venv/bin/python" "$here/tools/lab_image.py" --context "$context"
    say "ready: context $context, image pulse-qual-lab:1"
    say "    export PULSE_QUALIFY_LAB_IMAGE=pulse-qual-lab:1"
}

down() {
    if [ -e "$folder/docker.pid" ]; then
        pid=$(cat "$folder/docker.pid")
        kill "$pid" 2>/dev/null || true
        tries=0
        while kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.2; done
    fi
    if [ "$(endpoint_of_context)" = "unix://$socket" ]; then
        docker context rm -f "$context" >/dev/null
    fi
    rm -rf "$folder"
    say "stopped and removed"
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) say "usage: tools/lab.sh up|down"; exit 2 ;;
esac
