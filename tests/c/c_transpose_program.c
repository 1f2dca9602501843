/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that transposes an array, in place and into another one, and checks each number. The exit code is 1 if
 * anything is wrong. */
#include "c_check.h"

enum { NX = 14, NY = 9, NZ = 5 };

static double number(int64_t x, int64_t y, int64_t z) {
    return (double)((x * NY + y) * NZ + z);
}

static sluice_array_shape const shape = {{NX, NY, NZ}, sizeof(double)};

static void fill_planes(double* array, sluice_array_layout const* layout) {
    int64_t begin[3], end[3], x, y, z;
    OK(sluice_part_of(shape.extents, layout, rank, begin, end));
    for (x = begin[0]; x < end[0]; ++x)
        for (y = begin[1]; y < end[1]; ++y)
            for (z = begin[2]; z < end[2]; ++z)
                *array++ = number(x, y, z);
}

/* Lines of y, stored as y, x, z. */
static int wrong_lines(double const* array, sluice_array_layout const* layout) {
    int64_t begin[3], end[3], x, y, z;
    int wrong = 0;
    OK(sluice_part_of(shape.extents, layout, rank, begin, end));
    for (y = begin[1]; y < end[1]; ++y)
        for (x = begin[0]; x < end[0]; ++x)
            for (z = begin[2]; z < end[2]; ++z)
                wrong += *array++ != number(x, y, z);
    return wrong;
}

int main(int argc, char** argv) {
    static double array[NX * NY * NZ], other[NX * NY * NZ];
    static int const order[3] = {1, 0, 2};
    sluice_array_layout planes, lines;
    sluice_transpose_plan* plan = NULL;
    sluice_report* report = NULL;
    sluice_options* options = NULL;
    sluice_context* context = begin(&argc, &argv);
    OK(sluice_report_create(&report));
    OK(sluice_slabs(0, size, NULL, &planes));
    OK(sluice_slabs(1, size, order, &lines));
    fill_planes(array, &planes);
    OK(sluice_transpose(context, &shape, &planes, &lines, array, other, SLUICE_WIRE_TYPE_AS_STORED, NULL, report));
    EXPECT(wrong_lines(other, &lines) == 0);
    EXPECT(figure(report, "in_place") == 0);
    EXPECT(figure(report, "staging") > 0);
    OK(sluice_options_create(&options));
    OK(sluice_options_set(options, "staging", "64KiB"));
    OK(sluice_transpose(context, &shape, &planes, &lines, array, array, SLUICE_WIRE_TYPE_FLOAT_FOR_DOUBLE, options,
                        report));
    EXPECT(wrong_lines(array, &lines) == 0);
    EXPECT(figure(report, "in_place") == 1);
    EXPECT(figure(report, "staging") <= 65536);
    OK(sluice_transpose_plan_create(context, &shape, &planes, &lines, SLUICE_WIRE_TYPE_AS_STORED, options, &plan));
    fill_planes(array, &planes);
    OK(sluice_transpose_plan_apply(plan, array, array, NULL));
    EXPECT(wrong_lines(array, &lines) == 0);
    REFUSED(sluice_transpose_plan_apply(plan, NULL, NULL, NULL), "null");
    OK(sluice_transpose_plan_free(&plan));
    EXPECT(plan == NULL);
    OK(sluice_options_set(options, "strategy", "token"));
    REFUSED(sluice_transpose(context, &shape, &planes, &lines, array, array, 0, options, NULL), "strategy");
    REFUSED(sluice_transpose(context, &shape, &planes, &lines, array, array, 7, NULL, NULL), "wire type 7");
    REFUSED(sluice_transpose(context, NULL, &planes, &lines, array, array, 0, NULL, NULL), "shape");
    REFUSED(sluice_slabs(3, size, NULL, &planes), "axis 3");
    OK(sluice_pencils(2, 1, size, order, &lines));
    EXPECT(lines.grid[0] == 1 && lines.grid[1] == size && lines.grid[2] == 1);
    OK(sluice_options_free(&options));
    OK(sluice_report_free(&report));
    return end(context);
}
