// SPDX-License-Identifier: Apache-2.0
// A program of MPI whose results are known: a ring that hands arrays on, sums over all ranks, words
// that all write into a window of rank 0. Each rank says what it found wrong; exit code 1.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int g_rank, g_ranks, g_wrong;

static void check(int good, const char* what, size_t bytes) {
  if (good) return;
  printf("rank %d: %s of %zu bytes is wrong\n", g_rank, what, bytes);
  g_wrong = 1;
}

// What rank `from` sends at this place.
static uint32_t word(int from, size_t at) { return (uint32_t)(from * 2654435761u + at * 40503u); }

static void ring(size_t words) {
  const int to = (g_rank + 1) % g_ranks, from = (g_rank + g_ranks - 1) % g_ranks;
  uint32_t* const sent = malloc(words * 4 + 4);
  uint32_t* const received = calloc(words + 1, 4);
  int good = 1;
  for (size_t i = 0; i < words; ++i) sent[i] = word(g_rank, i);
  MPI_Sendrecv(sent, (int)words, MPI_UINT32_T, to, 7, received, (int)words, MPI_UINT32_T, from, 7,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (size_t i = 0; i < words; ++i) good &= received[i] == word(from, i);
  check(good, "ring", words * 4);
  free(sent);
  free(received);
}

static void sum(size_t words) {
  double* const mine = malloc(words * 8 + 8);
  double* const all = calloc(words + 1, 8);
  int good = 1;
  for (size_t i = 0; i < words; ++i) mine[i] = (double)(g_rank + 1) * (double)(i + 1);
  MPI_Allreduce(mine, all, (int)words, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double ranks = g_ranks * (g_ranks + 1) / 2.0;
  for (size_t i = 0; i < words; ++i) good &= all[i] == ranks * (double)(i + 1);
  check(good, "sum", words * 8);
  free(mine);
  free(all);
}

static void window(void) {
  enum { kAdded = 5 };
  int64_t* words = NULL;
  MPI_Win win;
  const int64_t one = 1, value = g_rank + 100;
  MPI_Win_allocate((MPI_Aint)(g_ranks + 1) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
  for (int i = 0; i <= g_ranks; ++i) words[i] = 0;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT64_T, 0, 1 + g_rank, 1, MPI_INT64_T, win);
  for (int i = 0; i < kAdded; ++i)
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (g_rank == 0) {
    check(words[0] == kAdded * g_ranks, "sum in a window", 8);
    for (int i = 0; i < g_ranks; ++i) check(words[1 + i] == i + 100, "word put in a window", 8);
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {0, 1, 2, 100, 2048, 16384, 262144};
  const int with_window = argc > 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    ring(sizes[i]);
    sum(sizes[i] / 2);
  }
  if (with_window) window();
  int any_wrong = 0;
  MPI_Reduce(&g_wrong, &any_wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (g_rank == 0) printf("%d ranks: %s\n", g_ranks, any_wrong ? "wrong" : "as it should be");
  MPI_Finalize();
  return g_wrong;
}
