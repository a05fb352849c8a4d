/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.h: numbers in the fixed columns of a Fortran format, "(1P,4E20.12)". */
#ifndef YK_FORTRAN_H
#define YK_FORTRAN_H

#include "matrices/stream.h"

typedef struct yk_fortran_format {
    int per_line, width;
    int digits; /* behind a decimal point that is not written */
    int scale;  /* kP: a number without an exponent is divided by 10^k */
    char kind;  /* 'I', 'E', 'D', 'F' or 'G' */
} yk_fortran_format;

/* The format in the parentheses at *text, which moves behind them. YOKE_FORMAT: another kind of
 * format than one repeated field; lines gives the place. */
yoke_status yk_fortran_format_read(const yk_lines *lines, const char **text,
                                   yk_fortran_format *format);

/* Takes field after field, line after line. */
typedef struct yk_fields {
    yk_lines *lines;
    yk_fortran_format format;
    const char *line; /* NULL: begin with the next line */
    int used;         /* fields of it */
} yk_fields;

yoke_status yk_fields_integer(yk_fields *fields, const char *what, int64_t *value);
yoke_status yk_fields_real(yk_fields *fields, const char *what, double *value);

#endif
