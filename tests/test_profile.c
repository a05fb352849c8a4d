/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: curves, and the text they are kept as. */
#include <criterion/criterion.h>
#include <math.h>

#include "lib/profile.h"

static yk_curve two_points(void)
{
    yk_curve curve = {.points = 0};
    yk_curve_add(&curve, 1.0, 10.0, YK_MEASURED, "here");
    yk_curve_add(&curve, 16.0, 50.0, YK_MEASURED, "here");
    return curve;
}

Test(profile, reads_a_curve_between_its_points_over_the_logarithm)
{
    yk_curve curve = two_points();
    cr_assert_float_eq(yk_curve_at(&curve, 4.0), 30.0, 1e-12);
    cr_assert_float_eq(yk_curve_at(&curve, 2.0), 20.0, 1e-12);
    cr_assert_eq(yk_curve_at(&curve, 16.0), 50.0);
}

Test(profile, is_flat_beyond_a_curves_ends)
{
    yk_curve curve = two_points();
    cr_assert_eq(yk_curve_at(&curve, 0.25), 10.0);
    cr_assert_eq(yk_curve_at(&curve, 1e9), 50.0);
}

Test(profile, knows_nothing_of_an_empty_curve_or_a_place_that_is_none)
{
    yk_curve curve = {.points = 0}, good = two_points();
    cr_assert(isnan(yk_curve_at(&curve, 1.0)));
    cr_assert(isnan(yk_curve_at(&good, 0.0)));
    cr_assert(isnan(yk_curve_at(&good, NAN)));
}

Test(profile, begins_with_every_figure_unknown)
{
    yk_profile profile;
    yk_profile_clear(&profile);
    cr_assert(isnan(profile.gpu_launch.value));
    cr_assert_not(yk_known(&profile.peer_flag));
    cr_assert_eq(yk_figure_or(&profile.cpu_threads, 3.0), 3.0);
    cr_assert_eq(profile.copy_time.points, 0);
}

Test(profile, leaves_out_points_that_a_curve_has_no_room_for)
{
    yk_curve curve = {.points = 0};
    for (int k = 1; k <= 2 * YK_CURVE_POINTS; k++) yk_curve_add(&curve, k, k, YK_ASSUMED, "");
    yk_curve_add(&curve, 100.0, NAN, YK_ASSUMED, "");
    cr_assert_eq(curve.points, YK_CURVE_POINTS);
    cr_assert_eq(yk_curve_at(&curve, 1e3), YK_CURVE_POINTS);
}
