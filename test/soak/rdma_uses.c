/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Buffers in heap, .bss and stack, registered with an RDMA device, of which the
 * device reads and writes all bytes by the frames that it knows:
 *
 *   rdma_uses TURNS
 *
 * Each turn sends a new pattern from every region to every region (RDMA write),
 * reads it back (RDMA read), and checks each byte: right away, while a child of
 * fork() writes to its copy, after a page beside the buffers was protected, and
 * after that child has ended. Prints `right`, or what was wrong.
 */
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 48 * PAGE, REGIONS = 3 };

/* Link with -libverbs. Wants a device with an IPv4 address, as made by
 *   rdma link add rxe0 type rxe netdev dummy0 */

/* A page that is not registered, the two buffers, and a page again. */
struct Region {
  char before[PAGE];
  unsigned char from[BYTES], to[BYTES];
  char after[PAGE];
} __attribute__((aligned(PAGE)));

static const char *const names[] = {"heap", "bss", "stack"};
static struct Region bss;
static struct Region *regions[REGIONS];
static struct ibv_mr *keys[REGIONS][2];
static struct ibv_cq *queue;
static struct ibv_qp *ends[2];

static void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf("\n");
  exit(1);
}

static void registerAll(struct ibv_pd *domain) {
  int access =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  for (int i = 0; i < REGIONS; ++i) {
    keys[i][0] = ibv_reg_mr(domain, regions[i]->from, BYTES, access);
    keys[i][1] = ibv_reg_mr(domain, regions[i]->to, BYTES, access);
    if (!keys[i][0] || !keys[i][1])
      fail("%s: not registered: %m", names[i]);
  }
}

static void connectTo(struct ibv_qp *queue, uint32_t other,
                      union ibv_gid address, int index) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                             .port_num = 1,
                             .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
                                                IBV_ACCESS_REMOTE_READ};
  if (ibv_modify_qp(queue, &attr,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                        IBV_QP_ACCESS_FLAGS))
    fail("init: %m");
  attr = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_1024,
      .dest_qp_num = other,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12,
      .ah_attr = {
          .is_global = 1,
          .port_num = 1,
          .grh = {.dgid = address, .sgid_index = index, .hop_limit = 1}}};
  if (ibv_modify_qp(queue, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                        IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    fail("ready to receive: %m");
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                              .timeout = 14,
                              .retry_cnt = 7,
                              .rnr_retry = 7,
                              .max_rd_atomic = 1};
  if (ibv_modify_qp(queue, &attr,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC))
    fail("ready to send: %m");
}

static void openDevice(void) {
  int count;
  struct ibv_device **list = ibv_get_device_list(&count);
  if (!list || !count)
    fail("no device");
  struct ibv_context *device = ibv_open_device(list[0]);
  if (!device)
    fail("device: %m");
  struct ibv_pd *domain = ibv_alloc_pd(device);
  queue = ibv_create_cq(device, 16, NULL, NULL, 0);
  union ibv_gid address;
  int index = 1; /* of the IPv4 address */
  if (ibv_query_gid(device, 1, index, &address))
    fail("address: %m");
  for (int i = 0; i < 2; ++i) {
    struct ibv_qp_init_attr attr = {.send_cq = queue,
                                    .recv_cq = queue,
                                    .cap = {.max_send_wr = 8,
                                            .max_recv_wr = 8,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RC};
    ends[i] = ibv_create_qp(domain, &attr);
    if (!ends[i])
      fail("queue pair: %m");
  }
  connectTo(ends[0], ends[1]->qp_num, address, index);
  connectTo(ends[1], ends[0]->qp_num, address, index);
  registerAll(domain);
}

static void transfer(enum ibv_wr_opcode kind, struct ibv_mr *own,
                     struct ibv_mr *other) {
  struct ibv_sge part = {(uintptr_t)own->addr, BYTES, own->lkey};
  struct ibv_send_wr work = {.sg_list = &part,
                             .num_sge = 1,
                             .opcode = kind,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)other->addr, other->rkey}};
  struct ibv_send_wr *bad;
  if (ibv_post_send(ends[0], &work, &bad))
    fail("post: %m");
  struct ibv_wc done;
  int count;
  while (!(count = ibv_poll_cq(queue, 1, &done)))
    ;
  if (count < 0 || done.status != IBV_WC_SUCCESS)
    fail("transfer: %s", count < 0 ? "queue" : ibv_wc_status_str(done.status));
}

static void fill(unsigned char *buffer, unsigned seed) {
  for (int i = 0; i < BYTES; ++i)
    buffer[i] = (unsigned char)(seed * 37 + i * 11 + i / PAGE);
}

static void check(const char *when, int region, const unsigned char *buffer,
                  unsigned seed) {
  for (int i = 0; i < BYTES; ++i)
    if (buffer[i] != (unsigned char)(seed * 37 + i * 11 + i / PAGE))
      fail("%s: %s: byte %d is wrong", when, names[region], i);
}

/* Each region to each one and back. */
static void exchange(const char *when) {
  static unsigned seed;
  for (int i = 0; i < REGIONS; ++i)
    for (int j = 0; j < REGIONS; ++j) {
      fill(regions[i]->from, ++seed);
      memset(regions[j]->to, 0, BYTES);
      transfer(IBV_WR_RDMA_WRITE, keys[i][0], keys[j][1]);
      check(when, j, regions[j]->to, seed);
      fill(regions[j]->to, ++seed);
      memset(regions[i]->from, 0, BYTES);
      transfer(IBV_WR_RDMA_READ, keys[i][0], keys[j][1]);
      check(when, i, regions[i]->from, seed);
    }
}

static pid_t forkWriter(int go[2]) {
  pid_t child = fork();
  if (child)
    return child;
  char byte;
  close(go[1]);
  for (int i = 0; i < REGIONS; ++i) {
    memset(regions[i]->before, 77, PAGE);
    memset(regions[i]->after, 78, PAGE);
  }
  while (read(go[0], &byte, 1) > 0)
    ;
  _exit(regions[0]->before[1] == 77 ? 0 : 1);
}

static void turn(void) {
  exchange("before the fork");
  int go[2];
  if (pipe(go))
    fail("pipe: %m");
  pid_t child = forkWriter(go);
  if (child < 0)
    fail("fork: %m");
  exchange("beside the child");
  for (int i = 0; i < REGIONS; ++i) {
    int refused = mprotect(regions[i]->before, PAGE, PROT_READ) ||
                  mprotect(regions[i]->before, PAGE, PROT_READ | PROT_WRITE);
    static int told;
    if (refused && !told++)
      printf("mprotect: %m\n");
  }
  exchange("after mprotect");
  close(go[0]);
  close(go[1]);
  int status;
  if (waitpid(child, &status, 0) != child || status)
    fail("child: status %x", status);
  exchange("after the child");
}

int main(int count, char **values) {
  struct Region stack;
  setvbuf(stdout, NULL, _IONBF, 0);
  memset(&stack, 1, sizeof stack);
  memset(&bss, 1, sizeof bss);
  char *block = malloc(3 << 20);
  regions[0] =
      (struct Region *)(((uintptr_t)block + PAGE - 1) & -(uintptr_t)PAGE);
  memset(regions[0], 1, sizeof bss);
  regions[1] = &bss;
  regions[2] = &stack;
  openDevice();
  for (int i = atoi(values[count - 1]); i > 0; --i)
    turn();
  printf("right\n");
  return 0;
}
