/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SANITIZED is 1 in a build with a sanitizer, which opens files and reserves terabytes. */
#ifndef ZMEM_BASE_SANITIZED_H
#define ZMEM_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
