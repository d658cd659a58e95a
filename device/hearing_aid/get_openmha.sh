#!/bin/bash
# Gets openMHA into a directory, from Debian's packages; nothing is installed into the system but
# mmdebstrap, which fetches them. openMHA is in Debian testing only, for amd64 and arm64.
set -euo pipefail
cd "$(dirname "$0")/../.."

place=${1:-build/openmha}
release=testing

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi; }

if [[ -e $place/complete ]]; then
    echo "openMHA is in $place"
    exit
fi
if [[ $(uname -s) != Linux ]] || ! command -v apt-get > /dev/null; then
    echo 'it takes Debian or a relative of it, whose mmdebstrap fetches the packages' >&2
    exit 2
fi
if ! command -v mmdebstrap > /dev/null; then
    as_root apt-get update --quiet --quiet
    as_root apt-get install --quiet --quiet --yes --no-install-recommends mmdebstrap
fi
# Where apt has this system's packages from; another may be named.
# shellcheck disable=SC2016 # apt fills $(SITE) in
mirror=${DEBIAN_MIRROR:-$(
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Component: main' | awk 'NR == 1'
)}
rm -rf "$place.part"
mkdir -p "$(dirname "$place")"
mmdebstrap --quiet --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' --include=openmha \
    "$release" "$place.part" "deb $mirror $release main"
rm -rf "${place:?}" "${place:?}.part"/{dev,proc,sys,tmp}
touch "$place.part/complete"
mv "$place.part" "$place"
echo "openMHA is in $place"
