/* Uses mpg_alloc_onnode, mpg_interleave, mpg_free_pages, mpg_where and mpg_move
 * on all nodes, and checks each page through direct system calls. Prints what
 * it found and `right`, or what is wrong, with status 1.
 *   numa-uses [MIB]   MIB of memory each time; 16 if not given */

#define _GNU_SOURCE
#include "touch.h"
#include <sys/wait.h>

enum { maxNodes = 64 };
static size_t bytes = 16 << 20;

static int wrong(const char *what) {
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

static int hasNode(int node) {
  enum { allowed = 4 };
  unsigned long mask[16] = {0};
  if (syscall(SYS_get_mempolicy, NULL, mask, 1024, 0, allowed))
    return node == 0;
  return (int)(mask[node / 64] >> node % 64 & 1);
}

static size_t largeBytes(const char *start) {
  char line[256];
  unsigned long low, high, kib = 0;
  int inside = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
      inside = (uintptr_t)start >= low && (uintptr_t)start < high;
    else if (inside && sscanf(line, "KernelPageSize: %lu kB", &kib) == 1)
      break;
  }
  if (file)
    fclose(file);
  return kib << 10;
}

static void isZero(const char *start) {
  for (size_t i = 0; i < bytes; ++i)
    if (start[i])
      wrong("new memory is not zero");
}

static size_t computeSum(const size_t *out) {
  size_t sum = 0;
  for (int node = 0; node < maxNodes; ++node)
    sum += out[node];
  return sum;
}

static void allocates(int node) {
  size_t out[maxNodes];
  errno = 77;
  char *memory = mpg_alloc_onnode(bytes, node);
  if (!memory || errno != 77)
    wrong("mpg_alloc_onnode");
  if ((uintptr_t)memory % (2 << 20))
    wrong("alignment");
  size_t all = presentPages(memory, bytes);
  if (all != bytes / (size_t)getpagesize())
    wrong("not all of it is present");
  for (size_t at = 0; at < bytes; at += (size_t)getpagesize())
    if (nodeOfPage((uintptr_t)memory + at) != node)
      wrong("a page is on another node");
  if (mpg_where(memory, bytes, out, maxNodes) != bytes || out[node] != bytes ||
      computeSum(out) != bytes)
    wrong("mpg_where");
  printf("node %d: %zu MiB on pages of %zu KiB\n", node, bytes >> 20,
         largeBytes(memory) >> 10);
  isZero(memory);
  memset(memory, 1, bytes);
  mpg_free_pages(memory, bytes);
  if (mpg_where(memory, bytes, out, maxNodes) != (size_t)-1 || errno != EFAULT)
    wrong("mpg_free_pages");
}

static void interleaves(void) {
  size_t out[maxNodes];
  char *memory = mpg_interleave(bytes);
  if (!memory || mpg_where(memory, bytes, out, maxNodes) != bytes)
    wrong("mpg_interleave");
  for (int node = 0; node < maxNodes; ++node) {
    if (hasNode(node))
      printf("interleaved on node %d: %zu MiB\n", node, out[node] >> 20);
    if (!hasNode(node) && out[node])
      wrong("a page is on a node that may not be used");
  }
  isZero(memory);
  mpg_free_pages(memory, bytes);
}

/* To every node and back, by large and by normal pages; contents stay. Half of
 * it is not there. */
static void moves(int from) {
  struct mpg_moved moved;
  size_t half = bytes / 2;
  char *memory = mpg_alloc_onnode(half, from);
  if (!memory)
    wrong("no memory to move");
  memset(memory, 5, half);
  for (int node = maxNodes - 1; node >= 0; --node) {
    if (!hasNode(node))
      continue;
    uint64_t there = nodeOfPage((uintptr_t)memory) == node ? half : 0;
    if (mpg_move(memory, half, node, &moved) || moved.thereBytes != there ||
        moved.movedBytes != half - there || moved.leftBytes || moved.reason ||
        moved.absentBytes || moved.laterBytes || moved.node != node)
      wrong("mpg_move");
    for (size_t at = 0; at < half; at += (size_t)getpagesize())
      if (nodeOfPage((uintptr_t)memory + at) != node || memory[at] != 5)
        wrong("a page did not come along");
  }
  if (mpg_move(memory, half, MPG_NODE_HERE, NULL))
    wrong("to the node of this thread");
  mpg_free_pages(memory, half);
}

static void refusesToMove(void) {
  struct mpg_moved moved;
  const int none[] = {-3, maxNodes - 1, 1023, 1024, 1 << 30, -(1 << 30)};
  size_t page = (size_t)getpagesize();
  char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i)
    if (mpg_move(memory, page, none[i], &moved) != -EINVAL)
      wrong("moved to a node that does not exist");
  if (mpg_move(memory, 3 * page, MPG_NODE_HERE, &moved) ||
      moved.absentBytes != 3 * page || moved.movedBytes)
    wrong("moved what is not there");
  if (mpg_move(memory, 0, MPG_NODE_HERE, &moved) || moved.absentBytes)
    wrong("moved nothing");
  memory[0] = 1;
  munmap(memory + page, page);
  if (mpg_move(memory, 3 * page, MPG_NODE_HERE, &moved) != -EFAULT ||
      mpg_move(memory, SIZE_MAX, MPG_NODE_HERE, &moved) != -EFAULT)
    wrong("moved a hole");
  int several = 0;
  for (int node = 0; node < maxNodes; ++node)
    several += hasNode(node);
  /* One node leaves nothing to move. */
  if (several == 1 &&
      (mpg_move(memory, page, MPG_NEXT_TOUCH, &moved) ||
       moved.thereBytes != page || moved.laterBytes ||
       mpg_move(memory, 3 * page, MPG_NEXT_TOUCH, &moved) != -EFAULT))
    wrong("next touch on one node");
  munmap(memory, 3 * page);
}

/* mpg_move in a thread of the library; a handle is valid once. */
static void startsMoves(void) {
  struct mpg_moved moved;
  size_t page = (size_t)getpagesize();
  int64_t handles[MPG_MOST_MOVES];
  char *memory = mpg_alloc_onnode(bytes, 0);
  if (!memory)
    wrong("no memory to move");
  memset(memory, 5, bytes);
  for (int i = 0; i < MPG_MOST_MOVES; ++i)
    if ((handles[i] = mpg_move_start(memory, bytes, 0)) <= 0)
      wrong("mpg_move_start");
  if (mpg_move_start(memory, bytes, 0) != -EAGAIN)
    wrong("one more than may be started");
  for (int i = MPG_MOST_MOVES - 1; i >= 0; --i)
    if (mpg_move_wait(handles[i], &moved) || moved.thereBytes != bytes ||
        moved.movedBytes || moved.leftBytes || moved.reason || moved.node)
      wrong("mpg_move_wait");
  if (mpg_move_wait(handles[0], &moved) != -EINVAL || moved.thereBytes)
    wrong("waited twice");
  int64_t later = mpg_move_start(memory, bytes, MPG_NODE_HERE);
  const int64_t none[] = {handles[0], 0, -1, -EAGAIN, INT64_MIN, INT64_MAX, 1};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i)
    if (mpg_move_wait(none[i], NULL) != -EINVAL)
      wrong("waited for nothing");
  if (later <= 0 || mpg_move_wait(later, NULL))
    wrong("to the node of this thread, started");
  if (mpg_move_start(memory, page, 1 << 30) != -EINVAL ||
      mpg_move_start(memory, page, -3) != -EINVAL)
    wrong("started to a node that does not exist");
  for (size_t i = 0; i < bytes; ++i)
    if (memory[i] != 5)
      wrong("contents of what was moved by a thread");
  /* Unmapped before it moves, or on the way: that may be seen late or never. */
  later = mpg_move_start(memory, bytes, 0);
  mpg_free_pages(memory, bytes);
  int error = mpg_move_wait(later, &moved);
  uint64_t known = moved.thereBytes + moved.absentBytes;
  if (error ? error != -EFAULT || known : known != bytes)
    wrong("unmapped while it moves");
  later = mpg_move_start(memory, bytes, 0);
  if (later <= 0 || mpg_move_wait(later, &moved) != -EFAULT)
    wrong("unmapped before it moves");
}

/* The child of a fork has no thread of the library until it starts one. */
static void startsMovesAndForks(void) {
  struct mpg_moved moved;
  int status;
  char *memory = mpg_alloc_onnode(bytes, 0);
  if (!memory)
    wrong("no memory to move");
  memset(memory, 5, bytes);
  int64_t ended = mpg_move_start(memory, bytes, 0);
  int64_t on = mpg_move_start(memory, bytes, 0);
  pid_t child = fork();
  if (child == 0) {
    int first = mpg_move_wait(ended, NULL), second = mpg_move_wait(on, &moved);
    int isRight = (first == 0 || first == -ESRCH) &&
                  (second == 0 || (second == -ESRCH && !moved.thereBytes)) &&
                  mpg_move_wait(on, NULL) == -EINVAL;
    int64_t own = mpg_move_start(memory, bytes, 0);
    _exit(!isRight || mpg_move_wait(own, &moved) || moved.thereBytes != bytes);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status)
    wrong("moves in the child of a fork");
  if (mpg_move_wait(ended, NULL) || mpg_move_wait(on, NULL))
    wrong("moves in the parent of a fork");
  mpg_free_pages(memory, bytes);
}

static void refuses(void) {
  const int none[] = {-1, maxNodes - 1, 1023, 1024, 1 << 30, -(1 << 30)};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i) {
    errno = 0;
    if (mpg_alloc_onnode(bytes, none[i]) || errno != EINVAL)
      wrong("a node that does not exist");
  }
  errno = 0;
  if (mpg_alloc_onnode(0, 0) || errno != EINVAL)
    wrong("no bytes on a node");
  errno = 0;
  if (mpg_interleave(0) || errno != EINVAL)
    wrong("no bytes interleaved");
  for (int shift = 46; shift < 64; ++shift) {
    errno = 0;
    if (mpg_alloc_onnode((size_t)1 << shift, 0) || errno != ENOMEM)
      wrong("far too many bytes");
  }
  errno = 0;
  if (mpg_interleave(SIZE_MAX) || errno != ENOMEM)
    wrong("all bytes there are");
  mpg_free_pages(NULL, bytes);
}

/* Pages that are there, that are not, that were only read, and holes. */
/* mpg_where until it finds \p expected bytes: a page that the kernel is moving
 * at the moment lies nowhere. */
static size_t lies(const void *p, size_t size, size_t *out, size_t expected) {
  int nodes = out ? maxNodes : 0;
  size_t found = mpg_where(p, size, out, nodes);
  for (int tries = 0; found != expected && tries < 100; ++tries) {
    usleep(1000);
    found = mpg_where(p, size, out, nodes);
  }
  return found;
}

static void tells(void) {
  size_t page = (size_t)getpagesize(), out[maxNodes], size = 600 * page;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, size, MADV_NOHUGEPAGE);
  if (mpg_where(memory, size, out, maxNodes) != 0)
    wrong("untouched memory lies somewhere");
  volatile char *bytesRead = memory;
  for (size_t i = 0; i < 300; ++i)
    (void)bytesRead[i * page];
  if (mpg_where(memory, size, out, maxNodes) != 0)
    wrong("the page of zeros is counted");
  for (size_t i = 300; i < 600; ++i)
    memory[i * page] = 1;
  if (lies(memory, size, out, 300 * page) != 300 * page ||
      computeSum(out) != 300 * page)
    wrong("half of it");
  /* From the middle of a page to the middle of another. */
  if (lies(memory + 400 * page + 5, 2 * page, out, 2 * page) != 2 * page ||
      lies(memory + 599 * page + 5, 7, out, 7) != 7 ||
      lies(memory + 299 * page + 5, page, out, 5) != 5)
    wrong("parts of pages");
  if (mpg_where(memory, 0, out, maxNodes) != 0 || computeSum(out) != 0 ||
      lies(memory, size, NULL, 300 * page) != 300 * page)
    wrong("nothing asked for");
  munmap(memory + 500 * page, page);
  errno = 0;
  if (mpg_where(memory, size, out, maxNodes) != (size_t)-1 || errno != EFAULT)
    wrong("a hole");
  errno = 0;
  if (mpg_where((void *)16, SIZE_MAX - 8, out, maxNodes) != (size_t)-1 ||
      errno != EFAULT)
    wrong("all of the address space");
  /* Code, read-only data, the stack. */
  if (mpg_where((void *)(uintptr_t)tells, 1, out, maxNodes) != 1 ||
      mpg_where(out, sizeof out, out, maxNodes) != sizeof out)
    wrong("code and stack");
  munmap(memory, size);
}

int main(int argc, char **argv) {
  if (argc > 1)
    bytes = strtoul(argv[1], NULL, 0) << 20;
  for (int node = 0; node < maxNodes; ++node)
    if (hasNode(node))
      allocates(node);
  interleaves();
  for (int node = 0; node < maxNodes; ++node)
    if (hasNode(node))
      moves(node);
  refusesToMove();
  startsMoves();
  startsMovesAndForks();
  refuses();
  tells();
  puts("right");
  return 0;
}
