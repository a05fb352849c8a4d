/* SPDX-License-Identifier: BSD-3-Clause */
/* xml_check.h: is a drawing well formed? For tests of what cgbench draws. */
#ifndef TESTS_XML_CHECK_H
#define TESTS_XML_CHECK_H

/* NULL if text is one element whose tags nest, whose attributes are quoted and named once in a tag,
 * and whose text holds no bare "<" or "&"; else where it is not, as the rest of the text. */
const char *xml_fault(const char *text);

#endif
