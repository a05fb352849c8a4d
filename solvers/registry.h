/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h: every name that users may say, built or not, in one place. */
#ifndef YK_REGISTRY_H
#define YK_REGISTRY_H

#include <yoke_tools.h>

/* The item of that name (the part before ':' counts), or a failure: YOKE_UNKNOWN_NAME listing the
 * known ones, YOKE_NOT_BUILT or YOKE_UNUSABLE with the reason. implementation: the constant struct
 * behind it, where there is one; may be NULL. */
yoke_status yk_registry_find(yoke_list_kind kind, const char *name, yoke_list_item *item,
                             const void **implementation);

/* Why no GPU can be used by this build on this machine; "" if one can. */
const char *yk_gpu_reason(void);

#endif
