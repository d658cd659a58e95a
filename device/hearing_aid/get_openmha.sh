#!/bin/bash
# Gets openMHA into a directory, from Debian's packages; nothing is installed into the system but
# mmdebstrap, which fetches them. openMHA is in Debian testing only, for amd64 and arm64.
set -euo pipefail
cd "$(dirname "$0")/../.."

place=${1:-build/openmha}
release=testing
# Debian testing as it was on one day, by the SHA-256 of the list that Debian signed: that has those of all
# others, so every package is one version. The list has expired since, on purpose.
day=20261030T120000Z
list_sha256=caac9e4cd17a00bf368ac5535b66f567b6b3634db3803e728716d8ae3ff89be6

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
# Where apt has this system's packages from, if it is of that day; another may be named.
# shellcheck disable=SC2016 # apt fills $(SITE) in
mirror=${DEBIAN_MIRROR:-$(
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Component: main' | awk 'NR == 1'
)}
mkdir -p "$(dirname "$place")"
is_of_the_day() {
    /usr/lib/apt/apt-helper download-file "$1/dists/$release/InRelease" "$place.list" "SHA256:$list_sha256" \
        > /dev/null 2>&1
}
is_of_the_day "$mirror" || mirror=https://snapshot.debian.org/archive/debian/$day
rm -rf "$place.part" "$place.list"
# Nothing of it is run before the list was looked at.
# shellcheck disable=SC2016 # mmdebstrap has a shell for it
mmdebstrap --quiet --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' --include=openmha \
    --extract-hook='test "$(cat "$1"/var/lib/apt/lists/*_InRelease | sha256sum)" = "'"$list_sha256"'  -"' \
    "$release" "$place.part" "deb $mirror $release main"
rm -rf "${place:?}" "${place:?}.part"/{dev,proc,sys,tmp}
touch "$place.part/complete"
mv "$place.part" "$place"
echo "openMHA is in $place"
