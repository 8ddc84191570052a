/* Runs the kernel over datums from standard input, each in memory of its own that ends where it ends, then all that can
 * be read together.
 *
 * To be compiled with the kernel and with sanitizers, which end the process at a read or write out of bounds and at
 * undefined behaviour. Numbers are little-endian. Schemas follow one another until the input ends: the numbers of nodes,
 * children and cells, both arrays of an avro_program, the number of datums, and each as its length and its bytes. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static void *room(size_t size)
{
    void *found = calloc(size ? size : 1, 1);
    if (!found)
        exit(3);
    return found;
}

static void *given(size_t size)
{
    void *found = room(size);
    if (size && fread(found, 1, size, stdin) != size)
        exit(4);
    return found;
}

static uint32_t count_of(void)
{
    uint32_t found;
    if (fread(&found, 1, sizeof found, stdin) != sizeof found)
        exit(5);
    return found;
}

static int is_somewhere(int32_t type)
{
    return type == AVRO_BYTES || type == AVRO_STRING || type == AVRO_FIXED || type >= AVRO_RECORD;
}

/* Scans and, where all can be read, gathers each cell. Returns how many cannot; their status is in status. */
static int64_t look(const avro_program *program, uint32_t nodes, uint32_t cells, const avro_datums *datums,
                    uint8_t *status)
{
    size_t count = (size_t)datums->count;
    avro_cells found = {room(cells * count), room(cells * count * sizeof(uint64_t)), room(cells * sizeof(int64_t)),
                        status};
    int64_t elsewhere = avro_scan(datums, program, &found);
    for (uint32_t node = 0; !elsewhere && node < nodes; node++) {
        int32_t cell = program->nodes[node].cell;
        if (cell < 0 || !is_somewhere(program->nodes[node].type))
            continue;
        int32_t *offsets = room((count + 1) * sizeof(int32_t));
        uint8_t *out = room((size_t)found.sizes[cell]);
        avro_gather(datums, &found, cell, offsets, out);
        if (offsets[count] != found.sizes[cell])
            exit(6);
        if (!memchr(found.there + (size_t)cell * count, 0, count))
            avro_same(datums, &found, cell);
        free(offsets);
        free(out);
    }
    free(found.there);
    free(found.values);
    free(found.sizes);
    return elsewhere;
}

int main(void)
{
    int64_t all = 0, read = 0;
    uint32_t nodes;
    while (fread(&nodes, 1, sizeof nodes, stdin) == sizeof nodes) {
        uint32_t children = count_of(), cells = count_of();
        avro_node *described = given(nodes * sizeof(avro_node));
        int32_t *child = given(children * sizeof(int32_t));
        avro_program program = {described, child};
        uint32_t count = count_of();
        uint8_t *together = NULL;
        int64_t *starts = room((count + 1) * sizeof(int64_t)), good = 0;
        for (uint32_t place = 0; place < count; place++) {
            uint32_t size = count_of();
            uint8_t *content = given(size), status = 0;
            /* The memory of nothing is one byte long, which nobody may read. */
            content = realloc(content, size ? size : 1);
            int64_t start = 0, end = size;
            avro_datums one = {content, end, &start, &end, 1};
            if (!look(&program, nodes, cells, &one, &status)) {
                starts[good + 1] = starts[good] + end;
                together = realloc(together, (size_t)starts[good + 1] + 1);
                memcpy(together + starts[good], content, size);
                good++;
            }
            free(content);
        }
        if (good) {
            together = realloc(together, starts[good] ? (size_t)starts[good] : 1);
            uint8_t *status = room((size_t)good);
            avro_datums many = {together, starts[good], starts, starts + 1, good};
            int64_t *backwards = room((size_t)good * 2 * sizeof(int64_t));
            for (int64_t place = 0; place < good; place++) {
                backwards[place] = starts[good - 1 - place];
                backwards[good + place] = starts[good - place];
            }
            avro_datums turned = {together, starts[good], backwards, backwards + good, good};
            if (look(&program, nodes, cells, &many, status) || look(&program, nodes, cells, &turned, status))
                exit(7);
            free(backwards);
            free(status);
        }
        all += count;
        read += good;
        free(described), free(child), free(starts), free(together);
    }
    printf("%lld datums, %lld read\n", (long long)all, (long long)read);
    return 0;
}
