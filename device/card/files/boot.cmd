# U-Boot: which of the two systems starts. One sector of the card (64) says it, with a check sum, written in
# one go: a power cut leaves the old or the new. Every start takes one away, and a good system is given
# nine again when it is ready. An update begins with three, and is given nine when it has passed its
# trial. A system with nothing left is passed over; when none has any left, all begin anew.
${devtype} dev ${devnum}
setenv BOOT_ORDER "A B"
setenv BOOT_A_LEFT 9
setenv BOOT_B_LEFT 0
setenv CONSOLE uart
if ${devtype} read ${ramdisk_addr_r} 0x40 1; then env import -c ${ramdisk_addr_r} 0x200 BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT CONSOLE; fi
setenv slot
setenv first
for name in ${BOOT_ORDER}; do if test "x${first}" = "x"; then setenv first ${name}; fi; done
for name in ${BOOT_ORDER}; do
  if test "x${slot}" != "x"; then true
  elif test "x${name}" = "xA" && test ${BOOT_A_LEFT} -gt 0; then setexpr BOOT_A_LEFT ${BOOT_A_LEFT} - 1; setenv slot A; setenv part 2; setenv left ${BOOT_A_LEFT}
  elif test "x${name}" = "xB" && test ${BOOT_B_LEFT} -gt 0; then setexpr BOOT_B_LEFT ${BOOT_B_LEFT} - 1; setenv slot B; setenv part 3; setenv left ${BOOT_B_LEFT}
  fi
done
if test "x${slot}" = "x"; then setenv BOOT_A_LEFT 3; setenv BOOT_B_LEFT 3; fi
env export -c -s 0x200 ${ramdisk_addr_r} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT CONSOLE
${devtype} write ${ramdisk_addr_r} 0x40 1
if test "x${slot}" = "x"; then reset; fi

setenv console hvc0
if test "${devtype}" = "mmc"; then
  # A Raspberry Pi: the operator's line is the PL011 at GPIO 14 and 15, not Bluetooth's.
  setenv console ttyS1,115200
  fdt addr ${fdt_addr}
  fdt resize 4096
  fdt rm /soc/serial@7e201000/bluetooth
  fdt get value pins /soc/gpio@7e200000/uart0_gpio14 phandle && fdt set /soc/serial@7e201000 pinctrl-0 <${pins}>
  if test "x${CONSOLE}" = "xusb"; then fdt set /soc/usb@7e980000 dr_mode peripheral; else fdt set /soc/usb@7e980000 dr_mode host; fi
fi
setenv bootargs "gp-pta.card=67707074 gp-pta.left=${left} gp-pta.order=${first} gp-pta.console=${CONSOLE} rauc.slot=${slot} console=${console} quiet panic=5 systemd.show_status=0"

# The last part of a slot is a FIT: the kernel and the first system, each with its SHA-256.
part start ${devtype} ${devnum} ${part} start
setexpr start ${start} + @FIT_SECTOR@
setexpr fit ${ramdisk_addr_r} + 0x2000000
setexpr packed ${ramdisk_addr_r} + 0x4000000
${devtype} read ${fit} ${start} 1
fdt addr ${fit}
fdt header get bytes totalsize
setexpr blocks ${bytes} / 0x200
setexpr blocks ${blocks} + 1
${devtype} read ${fit} ${start} ${blocks}
imxtract ${fit} kernel ${packed} && unzip ${packed} ${kernel_addr_r} && imxtract ${fit} ramdisk ${ramdisk_addr_r} && booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr}
reset
