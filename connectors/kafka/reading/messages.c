#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "messages.h"

#define PARTITION_END (-191) /* RD_KAFKA_RESP_ERR__PARTITION_EOF */

typedef int64_t (*timestamp_function)(const kafka_message *, int *);
typedef int (*headers_function)(const kafka_message *, void **);
typedef int (*header_function)(const void *, size_t, const char **, const void **, size_t *);
typedef void (*destroy_function)(kafka_message *);

/* A pointer to a function as its own type: ISO C has no cast from one to an object. */
#define FUNCTION(type, name, pointer) \
    type name;                        \
    memcpy(&name, &(pointer), sizeof name)

/* The headers of a message; NULL where it has none. */
static void *headers_of(headers_function headers, const kafka_message *message)
{
    void *found = NULL;
    return headers(message, &found) == 0 ? found : NULL;
}

/* Adds what a message holds to sizes; returns its bytes. */
static int64_t add(const kafka_functions *functions, const kafka_message *message, kafka_sizes *sizes)
{
    FUNCTION(headers_function, headers, functions->headers);
    FUNCTION(header_function, header, functions->header);
    void *list = headers_of(headers, message);
    const char *name;
    const void *value;
    size_t size;
    int64_t names = 0, values = 0;
    for (size_t number = 0; list && header(list, number, &name, &value, &size) == 0; number++) {
        sizes->headers++;
        names += (int64_t)strlen(name);
        values += value ? (int64_t)size : 0;
    }
    sizes->keys += (int64_t)message->key_size;
    sizes->values += (int64_t)message->size;
    sizes->header_keys += names;
    sizes->header_values += values;
    return (int64_t)message->key_size + (int64_t)message->size + names + values;
}

int64_t kafka_keep(const kafka_functions *functions, kafka_message **messages, int64_t count, int64_t end,
                   kafka_seen *seen)
{
    int64_t kept = 0;
    kafka_sizes sizes = {0};
    FUNCTION(destroy_function, destroy, functions->destroy);
    for (int64_t place = 0; place < count; place++) {
        kafka_message *message = messages[place];
        if (message->err == 0)
            seen->next = message->offset + 1;
        else if (message->err == PARTITION_END)
            seen->next = message->offset;
        else if (seen->error == 0)
            seen->error = message->err;
        if (message->err != 0 || message->offset >= end) {
            destroy(message);
            continue;
        }
        seen->bytes += add(functions, message, &sizes);
        messages[kept++] = message;
    }
    return kept;
}

int64_t kafka_measure(const kafka_functions *functions, kafka_message *const *messages, int64_t count, int64_t most,
                      kafka_sizes *sizes)
{
    int64_t bytes = 0, place = 0;
    for (; place < count; place++) {
        kafka_sizes with = *sizes;
        bytes += add(functions, messages[place], &with);
        if (place > 0 && bytes > most)
            break;
        *sizes = with;
    }
    return place;
}

/* Puts one text at a place of a column whose bytes have been filled so far; returns how far they are then. */
static int64_t put(kafka_texts *texts, int64_t place, const void *from, size_t size, int64_t used)
{
    texts->offsets[place] = (int32_t)used;
    if (!from) {
        texts->nulls++;
        return used;
    }
    texts->valid[place >> 3] = (uint8_t)(texts->valid[place >> 3] | 1u << (place & 7));
    memcpy(texts->bytes + used, from, size);
    return used + (int64_t)size;
}

void kafka_copy(const kafka_functions *functions, kafka_message *const *messages, int64_t count,
                kafka_columns *columns)
{
    int64_t keys = 0, values = 0, header_keys = 0, header_values = 0, row = 0;
    FUNCTION(timestamp_function, timestamp, functions->timestamp);
    FUNCTION(headers_function, headers, functions->headers);
    FUNCTION(header_function, header, functions->header);
    for (int64_t place = 0; place < count; place++) {
        const kafka_message *message = messages[place];
        int kind;
        keys = put(&columns->keys, place, message->key, message->key_size, keys);
        values = put(&columns->values, place, message->payload, message->size, values);
        columns->offsets[place] = message->offset;
        columns->timestamps[place] = timestamp(message, &kind);
        columns->headers[place] = (int32_t)row;
        void *list = headers_of(headers, message);
        const char *name;
        const void *value;
        size_t size;
        for (size_t number = 0; list && header(list, number, &name, &value, &size) == 0; number++) {
            header_keys = put(&columns->header_keys, row, name, strlen(name), header_keys);
            header_values = put(&columns->header_values, row, value, size, header_values);
            row++;
        }
    }
    columns->keys.offsets[count] = (int32_t)keys;
    columns->values.offsets[count] = (int32_t)values;
    columns->headers[count] = (int32_t)row;
    columns->header_keys.offsets[row] = (int32_t)header_keys;
    columns->header_values.offsets[row] = (int32_t)header_values;
}

void kafka_destroy(const kafka_functions *functions, kafka_message *const *messages, int64_t count)
{
    FUNCTION(destroy_function, destroy, functions->destroy);
    for (int64_t place = 0; place < count; place++)
        destroy(messages[place]);
}
