/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c: names of what plugs in. "ratio:0.1" is the name "ratio" with an argument; what takes one
 * says so in its form, "ratio:R". */
#include "bench/names.h"

#include <stdio.h>
#include <string.h>

#include "bench/parse.h"
#include "bench/say.h"

static int find(yoke_list_kind kind, const char *text, yoke_list_item *item)
{
    size_t length = strcspn(text, ":");
    for (int k = 0; yoke_list(kind, k, item); k++) {
        size_t known = strcspn(item->name, ":");
        if (known == length && !memcmp(item->name, text, length)) return 1;
    }
    return 0;
}

static int say_unknown(const char *option, yoke_list_kind kind, const char *text)
{
    char known[1024] = "";
    size_t used = 0;
    yoke_list_item item;
    for (int k = 0; yoke_list(kind, k, &item) && used + 64 < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.60s", k ? ", " : "",
                                 item.form && *item.form ? item.form : item.name);
    return say_error(ENDS_BAD_INPUT, "%s: unknown name '%s'; known: %s", option, text, known);
}

int name_check(const char *option, yoke_list_kind kind, const char *text)
{
    yoke_list_item item;
    if (!strcmp(text, "auto") && kind != YOKE_LIST_PRECONDITIONERS && kind != YOKE_LIST_EFFORTS &&
        kind != YOKE_LIST_MACHINES)
        return 0;
    if (kind == YOKE_LIST_MACHINES && strpbrk(text, "/.")) return 0; /* the path of a profile */
    if (!find(kind, text, &item)) return say_unknown(option, kind, text);
    const char *argument = strchr(text, ':');
    int takes = item.form && strchr(item.form, ':');
    if (!takes && argument)
        return say_error(ENDS_BAD_INPUT, "%s: '%s' takes no argument, given '%s'", option,
                         item.name, text);
    double share = 0.0;
    if (takes && (!argument || !parse_number(argument + 1, &share) || share > 1.0))
        return say_error(ENDS_BAD_INPUT, "%s: '%s' is not of the form %s with a number from 0 to 1",
                         option, text, item.form);
    return 0;
}

const char *name_refusal(yoke_list_kind kind, const char *text)
{
    yoke_list_item item;
    if (!strcmp(text, "auto") || !find(kind, text, &item)) return NULL;
    if (item.built && item.usable) return NULL;
    if (item.reason && *item.reason) return item.reason;
    return item.built ? "not usable on this machine" : "not in this build";
}
