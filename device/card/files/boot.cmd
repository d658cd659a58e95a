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
  # A Raspberry Pi: the PL011, which is Bluetooth's, is the operator's at GPIO 14 and 15. Those are the
  # mini UART's until then: its pins become the PL011's by their function (ALT0), and it loses them.
  setenv console ttyS1,115200
  fdt addr ${fdt_addr}
  fdt resize 4096
  fdt rm /soc/serial@7e201000/bluetooth
  fdt get value pins /soc/gpio@7e200000/uart1_gpio14 phandle
  fdt set /soc/gpio@7e200000/uart1_gpio14 brcm,function <4>
  fdt set /soc/serial@7e201000 pinctrl-0 <${pins}>
  fdt rm /soc/serial@7e215040 pinctrl-0
  if test "x${CONSOLE}" = "xusb"; then fdt set /soc/usb@7e980000 dr_mode peripheral; else fdt set /soc/usb@7e980000 dr_mode host; fi
fi
setenv bootargs "gp-pta.card=67707074 gp-pta.left=${left} gp-pta.order=${first} gp-pta.console=${CONSOLE} rauc.slot=${slot} console=${console} quiet panic=5 systemd.show_status=0"

# The last part of a slot: a sector that says how many follow, and an image of the kernel and the first
# system. Each has its check sum. They go where neither a kernel of 70 MB nor the device tree is.
setexpr ramdisk ${ramdisk_addr_r} + 0x2000000
setexpr image ${ramdisk_addr_r} + 0x4000000
setexpr packed ${ramdisk_addr_r} + 0x6000000
part start ${devtype} ${devnum} ${part} start
setexpr start ${start} + @START_SECTOR@
${devtype} read ${image} ${start} 1
env import -c ${image} 0x200 blocks
setexpr start ${start} + 1
${devtype} read ${image} ${start} ${blocks}
imxtract ${image} 0 ${packed} && unzip ${packed} ${kernel_addr_r} && imxtract ${image} 1 ${ramdisk} && booti ${kernel_addr_r} ${ramdisk}:${filesize} ${fdt_addr}
reset
