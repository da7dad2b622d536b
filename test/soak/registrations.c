// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Acts like the cache of memory registrations of a network card that UCX would
// use: loaded by LD_PRELOAD into an MPI program over UCX, pins the memory of
// each large message and keeps it pinned until UCX reports that the memory
// goes. A later message from there that finds its memory registered must find
// the same frames at its addresses. A registration whose frames are others when
// it is removed or when the program ends was missed.
//
// Writes its counts to REGISTRATIONS.<process id> when the process ends; a
// program that calls registrations_mark() gets those of each part of it in a
// line.

#define _GNU_SOURCE
#include "pinned_memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>

enum { minBytes = 4 << 10 };

typedef struct {
  unsigned long registered, hits, invalidated, stale, refused, events, missed;
} Counts;

static Counts counts, lastCounts;

static void onUnmap(ucm_event_type_t type, ucm_event_t *event, void *unused) {
  uintptr_t start = (uintptr_t)event->vm_unmapped.address;
  uintptr_t end = start + event->vm_unmapped.size;
  (void)type, (void)unused;
  if (ring < 0)
    return;
  take();
  ++counts.events;
  counts.invalidated += markGone(start, end);
  release();
}

static void checkHit(const Registration *at) {
  ++counts.hits;
  if (isStale(at)) {
    ++counts.stale;
    if (getenv("REGISTRATIONS_SHOW"))
      fprintf(stderr, "registrations: stale: %#lx to %#lx\n", (long)at->start,
              (long)at->end);
  }
}

static void countMissed(const Registration *at) {
  counts.missed += at->start && !at->isGone && isStale(at);
}

static void use(const void *buffer, size_t bytes) {
  if (ring < 0 || bytes < minBytes || bytes > maxBytes - 2 * pageBytes)
    return;
  uintptr_t start = (uintptr_t)buffer / pageBytes * pageBytes;
  uintptr_t end =
      ((uintptr_t)buffer + bytes + pageBytes - 1) / pageBytes * pageBytes;
  int isFound = 0;
  take();
  for (int i = 0; i < slots; ++i) {
    if (cache[i].start && cache[i].isGone)
      drop(i);
    if (cache[i].start && cache[i].start <= start && cache[i].end >= end) {
      isFound = 1;
      checkHit(&cache[i]);
    }
  }
  if (!isFound) {
    countMissed(&cache[nextSlot % slots]);
    ++*(addRegistration(start, end) ? &counts.registered : &counts.refused);
  }
  release();
}

// The names under which a program reports its parts.
void registrations_mark(const char *part);
void registrations_mark(const char *part) {
  Counts now = counts;
  printf("%s: %lu registered, %lu reused, %lu reported gone, %lu stale\n", part,
         now.registered - lastCounts.registered, now.hits - lastCounts.hits,
         now.invalidated - lastCounts.invalidated,
         now.stale - lastCounts.stale);
  lastCounts = now;
}

// UCX's calls for messages, in both MPI libraries.
static size_t sizeOf(size_t count, ucp_datatype_t type) {
  int isPlain = (type & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG;
  return isPlain ? count * (type >> UCP_DATATYPE_SHIFT) : 0;
}
static size_t sizeBy(size_t count, const ucp_request_param_t *param) {
  int hasType = param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE;
  return sizeOf(count, hasType ? param->datatype : ucp_dt_make_contig(1));
}
static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param) {
  use(buffer, sizeBy(count, param));
  return ((__typeof__(&ucp_tag_send_nbx))next(__func__))(ep, buffer, count, tag,
                                                         param);
}
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t *param) {
  use(buffer, sizeBy(count, param));
  return ((__typeof__(&ucp_tag_recv_nbx))next(__func__))(worker, buffer, count,
                                                         tag, mask, param);
}
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t type, ucp_tag_t tag,
                                 ucp_send_callback_t call) {
  use(buffer, sizeOf(count, type));
  return ((__typeof__(&ucp_tag_send_nb))next(__func__))(ep, buffer, count, type,
                                                        tag, call);
}
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer,
                                 size_t count, ucp_datatype_t type,
                                 ucp_tag_t tag, ucp_tag_t mask,
                                 ucp_tag_recv_callback_t call) {
  use(buffer, sizeOf(count, type));
  return ((__typeof__(&ucp_tag_recv_nb))next(__func__))(worker, buffer, count,
                                                        type, tag, mask, call);
}

static void inChild(void) { ring = -1; } // the pins are the parent's

__attribute__((constructor)) static void begin(void) {
  if (!getenv("REGISTRATIONS") ||
      (!getenv("PMI_RANK") && !getenv("OMPI_COMM_WORLD_RANK")))
    return; // a launcher
  openRing();
  pthread_atfork(NULL, NULL, inChild);
  if (ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 1000, onUnmap, NULL) !=
      UCS_OK)
    abort();
}

__attribute__((destructor)) static void end(void) {
  char path[4096];
  if (ring < 0)
    return;
  for (int i = 0; i < slots; ++i)
    countMissed(&cache[i]);
  snprintf(path, sizeof path, "%s.%d", getenv("REGISTRATIONS"), getpid());
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "%lu %lu %lu %lu %lu %lu %lu\n", counts.registered, counts.hits,
          counts.invalidated, counts.stale, counts.refused, counts.events,
          counts.missed);
  fclose(out);
}
