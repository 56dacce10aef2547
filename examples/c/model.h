/* SPDX-License-Identifier: Apache-2.0 */
/* The network and the images of the C++ example (examples/train), for a program in C. */
#ifndef EXAMPLES_C_MODEL_H
#define EXAMPLES_C_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct model model;

/* Reads the images of a folder. Returns NULL, and says why on stderr, if that fails. The same seed gives the same
 * weights and the same order of the images. */
model* model_new(const char* folder, uint64_t seed);
void model_free(model* m);

size_t model_size(const model* m); /* of weights, and of gradients */
float* model_weights(model* m);
float* model_gradients(model* m);

size_t model_images(const model* m);
void model_shuffle(model* m); /* puts them into the order of the next epoch */

/* Adds the gradients of some images of that order. */
void model_learn(model* m, size_t first, size_t count);

/* How many of some test images are told rightly. */
size_t model_test_images(const model* m);
size_t model_test(model* m, size_t first, size_t count);

/* 64 bits that tell weights apart. */
uint64_t model_fingerprint(const model* m);

#ifdef __cplusplus
}
#endif

#endif
