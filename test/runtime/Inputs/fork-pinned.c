/* Lets the kernel write into fixed buffers of io_uring, whose frames it pinned
 * before, while the program forks: in the heap, .bss and on the stack. Each
 * byte must arrive where the parent reads it, and the child must see the
 * contents at the time of the fork and may write.
 *
 *   fork-pinned ROUNDS [THREADS]
 *
 * Raw system calls: no liburing. Status 77: this kernel has no io_uring. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { bufferBytes = 64 << 10, places = 3, entries = 8 };

static unsigned char bss[24 << 20];
static int ring, file;
static char *submitted, *completed;
static struct io_uring_sqe *requests;
static struct io_uring_params parameters;

static void fail(const char *what) {
  perror(what);
  exit(errno == ENOSYS || errno == EPERM ? 77 : 1);
}

static void *mapRing(size_t bytes, off_t what) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, what);
  if (at == MAP_FAILED)
    fail("mmap");
  return at;
}

static void openRing(const struct iovec *buffers) {
  ring = syscall(SYS_io_uring_setup, entries, &parameters);
  if (ring < 0)
    fail("io_uring_setup");
  submitted = mapRing(parameters.sq_off.array + entries * sizeof(unsigned),
                      IORING_OFF_SQ_RING);
  completed = mapRing(parameters.cq_off.cqes +
                          parameters.cq_entries * sizeof(struct io_uring_cqe),
                      IORING_OFF_CQ_RING);
  requests = mapRing(entries * sizeof *requests, IORING_OFF_SQES);
  if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, buffers,
              places))
    fail("IORING_REGISTER_BUFFERS");
}

/* Reads the file into a fixed buffer. */
static void readFixed(const struct iovec *buffer, int index) {
  unsigned *tail = (unsigned *)(submitted + parameters.sq_off.tail);
  unsigned *array = (unsigned *)(submitted + parameters.sq_off.array);
  unsigned mask = *(unsigned *)(submitted + parameters.sq_off.ring_mask);
  unsigned at = *tail & mask;
  memset(&requests[at], 0, sizeof requests[at]);
  requests[at].opcode = IORING_OP_READ_FIXED;
  requests[at].fd = file;
  requests[at].addr = (unsigned long)buffer->iov_base;
  requests[at].len = buffer->iov_len;
  requests[at].buf_index = index;
  array[at] = at;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL,
              0) != 1)
    fail("io_uring_enter");
  unsigned *head = (unsigned *)(completed + parameters.cq_off.head);
  struct io_uring_cqe *results = (void *)(completed + parameters.cq_off.cqes);
  unsigned cqMask = *(unsigned *)(completed + parameters.cq_off.ring_mask);
  if (results[*head & cqMask].res != bufferBytes)
    fail("read");
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static int isAll(const struct iovec *buffer, unsigned char value) {
  const unsigned char *bytes = buffer->iov_base;
  for (size_t i = 0; i < buffer->iov_len; ++i)
    if (bytes[i] != value)
      return 0;
  return 1;
}

static void fillFile(unsigned char value) {
  static unsigned char bytes[bufferBytes];
  memset(bytes, value, sizeof bytes);
  if (pwrite(file, bytes, sizeof bytes, 0) != sizeof bytes)
    fail("pwrite");
}

static int inChild(const struct iovec *buffers, unsigned char value) {
  for (int i = 0; i < places; ++i) {
    if (!isAll(&buffers[i], value))
      return 3;
    memset(buffers[i].iov_base, 255, bufferBytes);
  }
  return 0;
}

/* Returns what is wrong. */
static const char *round_(const struct iovec *buffers, unsigned char value) {
  for (int i = 0; i < places; ++i)
    memset(buffers[i].iov_base, value, bufferBytes);
  pid_t child = fork();
  if (child < 0)
    return "fork";
  if (child == 0)
    _exit(inChild(buffers, value));
  for (int i = 0; i < places; ++i) /* the parent writes first */
    memset(buffers[i].iov_base, value + 1, bufferBytes);
  fillFile(value + 2);
  for (int i = 0; i < places; ++i)
    readFixed(&buffers[i], i);
  int status;
  if (waitpid(child, &status, 0) != child || status)
    return "the child";
  for (int i = 0; i < places; ++i)
    if (!isAll(&buffers[i], value + 2))
      return i == 0 ? "the heap" : i == 1 ? ".bss" : "the stack";
  return NULL;
}

static void *idle(void *stop) {
  while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
    usleep(1000);
  return NULL;
}

static const char *rounds(int count) {
  unsigned char stack[bufferBytes];
  struct iovec buffers[places] = {{malloc(bufferBytes), bufferBytes},
                                  {bss + (8 << 20), bufferBytes},
                                  {stack, bufferBytes}};
  for (int i = 0; i < places; ++i)
    memset(buffers[i].iov_base, 1, bufferBytes);
  openRing(buffers);
  const char *wrong = NULL;
  for (int i = 0; i < count && !wrong; ++i)
    wrong = round_(buffers, i % 250);
  return wrong;
}

int main(int count, char **values) {
  int stop = 0, threads = count > 2 ? atoi(values[2]) : 0;
  pthread_t others[8];
  memset(bss, 1, sizeof bss);
  file = memfd_create("input", MFD_CLOEXEC);
  if (file < 0)
    fail("memfd_create");
  for (int i = 0; i < threads && i < 8; ++i)
    pthread_create(&others[i], NULL, idle, &stop);
  const char *wrong = rounds(count > 1 ? atoi(values[1]) : 1);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < threads && i < 8; ++i)
    pthread_join(others[i], NULL);
  printf("%s\n", wrong ? wrong : "right");
  return wrong != NULL;
}
