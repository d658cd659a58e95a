#!/bin/sh
# Installs the GP-PTA hearing-test device on a Raspberry Pi, or removes it; see README.md.
set -eu

usage='usage: install.sh --console gadget|uart [--image DIR] [--root DIR] [--replace-configuration]
       install.sh --uninstall [--root DIR]

  --console gadget         the operator plugs into the USB-C port of the Pi (ttyGS0)
  --console uart           the operator is at GPIO 14 and 15 (ttyAMA0); Bluetooth is switched off
  --image DIR              the firmware as "make image" made it for this machine, unpacked; without it
                           the firmware is that of this repository, and this machine makes its kernels
  --root DIR               put the files below DIR and change nothing else: no packages, no user
  --replace-configuration  write /etc/gp-pta anew; what was there is kept as NAME.~1~, NAME.~2~ ...
  --uninstall              remove everything but /etc/gp-pta and the recordings in /var/lib/gp-pta'

# Packages of requirements.lock that the device needs, and those that make its wheel.
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

install_files() {
    files_of "$1" | while read -r file; do
        source=$here/files/$1/$file
        install -D -m "$(mode_of "$source")" "$source" "$root/$file"
    done
}

remove_files() { files_of "$1" | while read -r file; do rm -f "$root/$file"; done; }

# No login prompt on the operator's port.
mask_getty() { ln -sfn /dev/null "$units/serial-getty@$1.service"; }

unmask_getty() {
    mask=$units/serial-getty@$1.service
    if [ "$(readlink "$mask" || true)" = /dev/null ]; then rm "$mask"; fi
}

remove_console() {
    for name in gadget uart; do remove_files $name; done
    for name in ttyGS0 ttyAMA0; do unmask_getty $name; done
    rmdir "$units/gp-pta-device.service.d" 2>/dev/null || true
    if [ -f "$boot/config.txt" ]; then
        sed -i '/^# gp-pta: begin$/,/^# gp-pta: end$/d' "$boot/config.txt"
    fi
}

# config.txt sets up the port; cmdline.txt must not send the kernel's messages to the operator.
set_up_boot() {
    if [ ! -f "$boot/config.txt" ]; then
        echo "$boot/config.txt is not there: no Raspberry Pi OS? Set up the port yourself."
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

# Print the lines of these packages in the lock, with their hashes.
locked() {
    awk -v wanted=" $* " '/^[a-z]/ { split($1, part, "=="); take = index(wanted, " " part[1] " ") }
        take' "$repository/requirements.lock"
}

pip() { # VERB OPTION ...: run pip in the environment that builds
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
    mkdir "$work/source" # build in a copy: root leaves no files in the user's checkout
    (cd "$repository" && cp -r pyproject.toml README.md LICENSE device firmware_py host_tools \
        "$work/source")
    (cd "$repository" && python3 -B -m device.image.commit "$work/source") # the copy has no .git
    pip wheel --no-build-isolation --wheel-dir "$work/wheels" "$work/source"
}

# Download and build all before changing anything: if this fails, the installed firmware still runs.
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

# Refuse an image that is damaged or for another machine, before anything is changed.
check_image() {
    (cd "$image" && sha256sum --check --quiet SHA256SUMS) ||
        refuse "--image is '$image', which is not as it was made"
    # By its own library: a Python that has Numba would do without.
    PYTHONDONTWRITEBYTECODE=1 GP_PTA_KERNELS="$image/firmware_py/inference/kernels.so" \
        python3 "$image/gp-pta-device" --version
}

# Put the image in place, with the command that a wheel would install.
install_image() {
    rm -rf "$root/opt/gp-pta/image"
    install -d "$root/opt/gp-pta/bin"
    cp -r "$image" "$root/opt/gp-pta/image"
    cat > "$root/opt/gp-pta/bin/gp-pta-device" << 'END'
#!/bin/sh
exec "${0%/*}/python" "${0%/*}/../image/gp-pta-device" "$@"
END
    chmod 755 "$root/opt/gp-pta/bin/gp-pta-device"
    # The firmware may not write there; without this Python would compile it at every start.
    [ "$root" ] || /opt/gp-pta/bin/python -m compileall -q /opt/gp-pta/image
}

# Make the system use the files.
take_effect() {
    systemd-sysusers /etc/sysusers.d/gp-pta.conf
    chgrp -R gp-pta /etc/gp-pta
    systemctl daemon-reload
    { udevadm control --reload && udevadm trigger --subsystem-match=tty; } ||
        echo 'udev will use the new rules after the next boot'
    echo 'Installed. Reboot now; then: systemctl status gp-pta-device, sudo gp-pta-check'
}

if [ "$uninstall" ]; then
    [ "$root" ] || systemctl disable --now gp-pta-device.service gp-pta-clock.service || true
    remove_console
    remove_files common
    rm -rf "$wanted" "$root/usr/local/share/doc/gp-pta" "$root/opt/gp-pta" "$root/var/cache/gp-pta"
    [ "$root" ] || systemctl daemon-reload
    echo "Removed. Kept: $root/etc/gp-pta, the recordings in $root/var/lib/gp-pta, the user gp-pta."
    exit
fi

[ -z "$image" ] || check_image
[ "$root" ] || install_firmware # first, for it fails without a network
[ -z "$image" ] || install_image
install -d "$units/multi-user.target.wants"
remove_console
install_files common
install_files "$console"
install -D -m 644 "$here/README.md" "$manual"
ln -sfn ../gp-pta-device.service "$wanted"
mask_getty "$tty"
set_up_boot
configure
[ "$root" ] || take_effect
