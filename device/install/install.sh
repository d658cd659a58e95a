#!/bin/sh
# Makes a Raspberry Pi the GP-PTA hearing-test device, or takes that away again; see README.md.
set -eu

usage='usage: install.sh --console gadget|uart [--image DIR] [--root DIR] [--replace-configuration]
       install.sh --uninstall [--root DIR]

  --console gadget         the operator plugs into the USB-C port of the Pi (ttyGS0)
  --console uart           the operator is at GPIO 14 and 15 (ttyAMA0); Bluetooth is switched off
  --image DIR              the firmware as "make image" made it for this machine, unpacked; without it
                           the firmware is that of this repository, and this machine makes its kernels
  --root DIR               lay the files down below DIR and touch nothing else: no packages, no user
  --replace-configuration  write /etc/gp-pta anew; what was there is kept as NAME.~1~, NAME.~2~ ...
  --uninstall              take everything away but /etc/gp-pta and the recordings in /var/lib/gp-pta'

# What requirements.lock has for the device, and for making its wheel.
device_packages='numpy pyserial'
build_packages='hatchling llvmlite numba numpy packaging pathspec pluggy tomlkit trove-classifiers ziglang'

here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
repository=$(CDPATH='' cd "$here/../.." && pwd)
console='' image='' root='' uninstall='' replace=''

refuse() {
    printf 'install.sh: %s\n\n%s\n' "$1" "$usage" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        --console | --image | --root)
            [ $# -ge 2 ] || refuse "$1 needs a value"
            case $1 in
                --console) console=$2 ;;
                --image) image=${2%/} ;;
                --root) root=${2%/} ;;
            esac
            shift
            ;;
        --replace-configuration) replace=yes ;;
        --uninstall) uninstall=yes ;;
        --help) printf '%s\n' "$usage" && exit ;;
        *) refuse "$1 is not a known option" ;;
    esac
    shift
done
case $console in
    gadget) tty=ttyGS0 ;;
    uart) tty=ttyAMA0 ;;
    '') [ "$uninstall" ] || refuse '--console is missing; allowed are gadget and uart' ;;
    *) refuse "--console is '$console'; allowed are gadget and uart" ;;
esac
[ -z "$root" ] || [ -d "$root" ] || refuse "--root is '$root', which is no directory"
[ -z "$image" ] || [ -f "$image/SHA256SUMS" ] ||
    refuse "--image is '$image', which is no directory with the files of an image"
[ "$root" ] || [ "$(id -u)" = 0 ] || refuse 'without --root it has to be run by root (sudo)'

units=$root/etc/systemd/system
wanted=$units/multi-user.target.wants/gp-pta-device.service
manual=$root/usr/local/share/doc/gp-pta/README.md
boot=$root/boot/firmware

files_of() { (cd "$here/files/$1" && find etc usr -type f 2>/dev/null); }

mode_of() { if [ -x "$1" ]; then echo 755; else echo 644; fi; }

lay_down() {
    files_of "$1" | while read -r file; do
        source=$here/files/$1/$file
        install -D -m "$(mode_of "$source")" "$source" "$root/$file"
    done
}

take_away() { files_of "$1" | while read -r file; do rm -f "$root/$file"; done; }

# What the operator's port must not be used for: a login.
mask_getty() { ln -sfn /dev/null "$units/serial-getty@$1.service"; }

unmask_getty() {
    mask=$units/serial-getty@$1.service
    if [ "$(readlink "$mask" || true)" = /dev/null ]; then rm "$mask"; fi
}

forget_console() {
    for name in gadget uart; do take_away $name; done
    for name in ttyGS0 ttyAMA0; do unmask_getty $name; done
    rmdir "$units/gp-pta-device.service.d" 2>/dev/null || true
    if [ -f "$boot/config.txt" ]; then
        sed -i '/^# gp-pta: begin$/,/^# gp-pta: end$/d' "$boot/config.txt"
    fi
}

# The bootloader's own settings are in config.txt; the kernel must not talk on the operator's line.
set_up_boot() {
    if [ ! -f "$boot/config.txt" ]; then
        echo "$boot/config.txt is not there: no Raspberry Pi OS? The port is yours to set up."
        return
    fi
    { echo '# gp-pta: begin' && echo '[all]' && cat "$here/files/$console/config.txt" &&
        echo '[all]' && echo '# gp-pta: end'; } >> "$boot/config.txt"
    if [ "$console" = uart ] && [ -f "$boot/cmdline.txt" ]; then
        sed -i -E 's/console=(serial0|ttyAMA0|ttyS0)(,[0-9]+)? ?//g' "$boot/cmdline.txt"
    fi
}

configure() {
    install -d -m 750 "$root/etc/gp-pta"
    for name in options gp-pta.toml; do
        target=$root/etc/gp-pta/$name
        if [ ! -e "$target" ]; then
            install -m 640 "$here/configuration/$name" "$target"
        elif [ "$replace" ]; then
            install --backup=numbered -m 640 "$here/configuration/$name" "$target"
        else
            echo "$target is left as it is"
        fi
    done
}

# The stanzas of these packages in the lock, hashes and all.
locked() {
    awk -v wanted=" $* " '/^[a-z]/ { split($1, part, "=="); take = index(wanted, " " part[1] " ") }
        take' "$repository/requirements.lock"
}

pip() { # VERB OPTION ... in the environment that builds
    verb=$1
    shift
    "$work/build/bin/python" -m pip "$verb" --quiet --disable-pip-version-check --no-deps "$@"
}

from_lock() { # VERB PACKAGE ...
    verb=$1
    shift
    locked "$@" > "$work/locked.txt"
    pip "$verb" --only-binary :all: --require-hashes -r "$work/locked.txt"
}

make_wheel() {
    # shellcheck disable=SC2086 # they are several
    from_lock install $build_packages
    mkdir "$work/source" # nothing is built in a directory that is somebody else's
    (cd "$repository" && cp -r pyproject.toml README.md LICENSE device firmware_py host_tools \
        "$work/source")
    pip wheel --no-build-isolation --wheel-dir "$work/wheels" "$work/source"
}

# Everything is there before anything is changed: what is installed goes on if this fails.
install_firmware() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work/build"
    [ "$image" ] || make_wheel
    # shellcheck disable=SC2086
    (mkdir -p "$work/wheels" && cd "$work/wheels" && from_lock download $device_packages)
    python3 -m venv --clear /opt/gp-pta
    /opt/gp-pta/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index \
        "$work"/wheels/*.whl
}

# An image that is not whole, or is for another machine, is found out here, and nothing is changed.
check_image() {
    (cd "$image" && sha256sum --check --quiet SHA256SUMS) ||
        refuse "--image is '$image', which is not as it was made"
    PYTHONDONTWRITEBYTECODE=1 python3 "$image/gp-pta-device" --version
}

# The command of the environment, as a wheel would bring it.
lay_down_image() {
    rm -rf "$root/opt/gp-pta/image"
    install -d "$root/opt/gp-pta/bin"
    cp -r "$image" "$root/opt/gp-pta/image"
    cat > "$root/opt/gp-pta/bin/gp-pta-device" << 'END'
#!/bin/sh
exec "${0%/*}/python" "${0%/*}/../image/gp-pta-device" "$@"
END
    chmod 755 "$root/opt/gp-pta/bin/gp-pta-device"
    # The firmware may not write there: without this it would be translated at every start.
    [ "$root" ] || /opt/gp-pta/bin/python -m compileall -q /opt/gp-pta/image
}

# On the machine itself, once the files are there.
take_effect() {
    systemd-sysusers /etc/sysusers.d/gp-pta.conf
    chgrp -R gp-pta /etc/gp-pta
    systemctl daemon-reload
    { udevadm control --reload && udevadm trigger --subsystem-match=tty; } ||
        echo 'udev takes the new rules up at the next boot'
    echo 'Installed. Reboot now; then: systemctl status gp-pta-device, sudo gp-pta-check'
}

if [ "$uninstall" ]; then
    [ "$root" ] || systemctl disable --now gp-pta-device.service gp-pta-clock.service || true
    forget_console
    take_away common
    rm -rf "$wanted" "$root/usr/local/share/doc/gp-pta" "$root/opt/gp-pta" "$root/var/cache/gp-pta"
    [ "$root" ] || systemctl daemon-reload
    echo "Taken away. Left: $root/etc/gp-pta, the recordings in $root/var/lib/gp-pta, the user gp-pta."
    exit
fi

[ -z "$image" ] || check_image
[ "$root" ] || install_firmware # first, for it fails without a network
[ -z "$image" ] || lay_down_image
install -d "$units/multi-user.target.wants"
forget_console
lay_down common
lay_down "$console"
install -D -m 644 "$here/README.md" "$manual"
ln -sfn ../gp-pta-device.service "$wanted"
mask_getty "$tty"
set_up_boot
configure
[ "$root" ] || take_effect
