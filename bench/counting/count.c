/* A plugin of QEMU that says how many instructions a process executed. */

#include <inttypes.h>
#include <stdio.h>

/* Of qemu-plugin.h, which distributions do not package. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
extern void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(
    struct qemu_plugin_tb *block, int operation, void *counter, uint64_t amount);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern void qemu_plugin_register_atexit_cb(
    qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *), void *data);
extern void qemu_plugin_outs(const char *line);

int qemu_plugin_version = 1;

static uint64_t executed;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    qemu_plugin_register_vcpu_tb_exec_inline(
        block, QEMU_PLUGIN_INLINE_ADD_U64, &executed, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *data)
{
    char line[64];
    snprintf(line, sizeof line, "Collected : %" PRIu64 "\n", executed);
    qemu_plugin_outs(line);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
