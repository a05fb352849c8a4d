/* SPDX-License-Identifier: BSD-3-Clause */
/* planner_plans.c: the configurations that the planner is judged on, and the plans of each. */
#include "bench/planner_regret.h"

/* From 30 000 to 16 million rows; sides of grids, so that iterations take from 5 us to 2 ms. */
static const judged on_a_gpu[] = {
    {"poisson3d7:32", 0, 0, 0},           {"poisson3d7:48", 0, 0, 0},
    {"poisson3d7:64", 0, 0, 0},           {"poisson3d7:72", 0, 0, 0},
    {"poisson3d7:90", 0, 0, 0},           {"poisson3d7:128", 0, 0, 0},
    {"poisson3d7:160", 0, 0, 0},          {"poisson3d7:256", 0, 0, 0},
    {"poisson3d27:32", 0, 0, 0},          {"poisson3d27:48", 0, 0, 0},
    {"poisson3d27:64", 0, 0, 0},          {"poisson3d27:80", 0, 0, 0},
    {"poisson3d27:128", 0, 0, 0},         {"poisson3d27:160", 0, 0, 0},
    {"poisson2d5:180", 0, 0, 0},          {"poisson2d5:400", 0, 0, 0},
    {"poisson2d5:1000", 0, 0, 0},         {"poisson2d5:2000", 0, 0, 0},
    {"elasticity3d:24", 0, 0, 0},         {"elasticity3d:32", 0, 0, 0},
    {"elasticity3d:48", 0, 0, 0},         {"elasticity3d:64", 0, 0, 0},
    {"jumps3d7:60:1e4:1", 0, 0, 0},       {"jumps3d7:150:1e4:1", 0, 0, 0},
    {"anisotropic3d7:100:0.01", 0, 0, 0}, {"graph:50000:12:1", 0, 0, 0},
    {"graph:500000:12:1", 0, 0, 0},       {"graph:1000000:16:1", 0, 0, 0},
    {"random_spd:40000:30:1", 0, 0, 0},   {"random_spd:300000:20:1", 0, 0, 0},
    {"poisson3d7:128", 0, 66, 0},         {"poisson3d7:128", 0, 12, 0},
    {"poisson3d7:128", 0, 4, 0},          {"poisson3d27:128", 0, 12, 0},
    {"poisson3d27:128", 0, 4, 0},         {"elasticity3d:48", 0, 12, 0},
    {"poisson3d7:160", 0, 0, 0.8},        {"poisson3d7:160", 0, 0, 0.4},
    {"poisson3d27:128", 0, 0, 0.8},       {"poisson3d27:128", 0, 0, 0.4},
    {"graph:500000:12:1", 0, 0, 0.6},     {"elasticity3d:64", 0, 0, 0.6},
};

static const judged on_the_cpu[] = {
    {"poisson3d7:32", 1, 0, 0},     {"poisson3d7:32", 0, 0, 0},     {"poisson3d7:64", 1, 0, 0},
    {"poisson3d7:64", 0, 0, 0},     {"poisson3d7:100", 0, 0, 0},    {"poisson3d27:32", 1, 0, 0},
    {"poisson3d27:32", 0, 0, 0},    {"poisson3d27:64", 0, 0, 0},    {"poisson2d5:180", 1, 0, 0},
    {"poisson2d5:180", 0, 0, 0},    {"poisson2d5:1000", 0, 0, 0},   {"elasticity3d:24", 1, 0, 0},
    {"elasticity3d:24", 0, 0, 0},   {"graph:100000:12:1", 1, 0, 0}, {"graph:100000:12:1", 0, 0, 0},
    {"jumps3d7:60:1e4:1", 0, 0, 0},
};

int judged_at(int k, int on_gpu, judged *config)
{
    int count = on_gpu ? (int)(sizeof on_a_gpu / sizeof *on_a_gpu)
                       : (int)(sizeof on_the_cpu / sizeof *on_the_cpu);
    if (k < 0 || k >= count) return 0;
    *config = on_gpu ? on_a_gpu[k] : on_the_cpu[k];
    return 1;
}

/* The CPU alone, by shapes and, where these are not given, by threads: no more than it has. */
static int of_cpu(int k, yoke_plan_options *planning)
{
    static const int threads[] = {0, 1, 2, 4, 8};
    int given = planning->threads > 0, counts = 1;
    yoke_machine machine;
    yoke_machine_describe(&machine);
    while (counts < 5 && threads[counts] <= machine.processors) counts++;
    if (k >= (given ? 2 : 2 * counts)) return 0;
    planning->partition = "cpu";
    planning->shape = k % 2 ? "folded" : "unfolded";
    if (!given) planning->threads = threads[k / 2];
    return 1;
}

static int of_gpu(int k, yoke_plan_options *planning)
{
    static const char *const formats[] = {"sell", "csr"}, *const shapes[] = {"unfolded", "folded"},
                             *const drivers[] = {"graph", "stream", "persistent"};
    if (k >= 12) return 0;
    planning->partition = "gpu";
    planning->driver = drivers[k / 4];
    planning->format = formats[k / 2 % 2];
    planning->shape = shapes[k % 2];
    return 1;
}

/* Shares of the CPU; model: what both are measured to move. */
static int of_both(int k, yoke_plan_options *planning)
{
    static const char *const partitions[] = {"model",      "ratio:0.01", "ratio:0.03",
                                             "ratio:0.06", "ratio:0.1",  "ratio:0.2",
                                             "ratio:0.3",  "ratio:0.45", "ratio:0.6"};
    enum { PARTITIONS = sizeof partitions / sizeof *partitions };
    if (k >= PARTITIONS + 1) return 0;
    planning->partition = partitions[k < PARTITIONS ? k : 0];
    planning->driver = "graph";
    planning->memory = k < PARTITIONS ? "mapped" : "explicit";
    return 1;
}

int forced_at(int k, int on_gpu, const judged *config, yoke_plan_options *planning)
{
    *planning = yoke_plan_defaults();
    planning->threads = config->threads;
    planning->gpu_sms = config->gpu_sms;
    if (!on_gpu) return of_cpu(k, planning);
    if (k < 12) return of_gpu(k, planning);
    if (k < 14) {
        planning->partition = "cpu";
        planning->shape = k == 13 ? "folded" : "unfolded";
        return 1;
    }
    return of_both(k - 14, planning);
}
