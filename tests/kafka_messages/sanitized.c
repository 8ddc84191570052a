/* Copies messages from standard input as the bridge copies librdkafka's, each part in memory of its own that ends where
 * the part ends, into columns that are as large as kafka_measure has counted.
 *
 * To be compiled with messages.c and with sanitizers, which end the process at a read or write out of bounds, at a
 * message that is used after it was destroyed or never destroyed, and at undefined behaviour. In place of librdkafka's
 * functions there are those below. What comes and goes are 64-bit numbers in the machine's order, and bytes behind their
 * number, which is -1 for null; tests/kafka_messages/sanitizing.py writes and reads them. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

#define NO_HEADERS (-156)  /* RD_KAFKA_RESP_ERR__NOENT */
#define BAD_MESSAGE (-199) /* RD_KAFKA_RESP_ERR__BAD_MSG */
#define HEADERS_BROKEN (-2)

typedef struct {
    char *name;
    void *value;
    int64_t size;
} header;

typedef struct {
    kafka_message message;
    int64_t timestamp;
    int64_t count;
    header *headers;
} record;

static int64_t destroyed;

static int64_t timestamp_of(const kafka_message *message, int *kind)
{
    *kind = 1;
    return ((const record *)message->owned)->timestamp;
}

static int headers_of(const kafka_message *message, void **found)
{
    record *from = message->owned;
    if (from->count == HEADERS_BROKEN) {
        /* To be left alone. */
        *found = from;
        return BAD_MESSAGE;
    }
    if (from->count < 0)
        return NO_HEADERS;
    *found = from;
    return 0;
}

static int header_of(const void *list, size_t number, const char **name, const void **value, size_t *size)
{
    const record *from = list;
    if (number >= (size_t)from->count)
        return NO_HEADERS;
    *name = from->headers[number].name;
    *value = from->headers[number].value;
    *size = from->headers[number].value ? (size_t)from->headers[number].size : 0;
    return 0;
}

static void destroy(kafka_message *message)
{
    record *gone = message->owned;
    for (int64_t number = 0; number < gone->count; number++) {
        free(gone->headers[number].name);
        free(gone->headers[number].value);
    }
    free(gone->headers);
    free(message->key);
    free(message->payload);
    free(gone);
    destroyed++;
}

static void *room(size_t size)
{
    void *found = malloc(size);
    if (!found)
        exit(3);
    return found;
}

static void *zeros(size_t size)
{
    return memset(room(size), 0, size);
}

static void given(void *to, size_t size)
{
    if (fread(to, 1, size, stdin) != size)
        exit(2);
}

static int64_t number(void)
{
    int64_t found;
    given(&found, sizeof found);
    return found;
}

static void *text(int64_t *size)
{
    *size = number();
    if (*size < 0)
        return NULL;
    void *found = room((size_t)*size);
    given(found, (size_t)*size);
    return found;
}

static kafka_message *message_given(void)
{
    record *made = zeros(sizeof *made);
    int64_t size;
    made->message.owned = made;
    made->message.err = (int)number();
    made->message.offset = number();
    made->timestamp = number();
    made->message.key = text(&size);
    made->message.key_size = made->message.key ? (size_t)size : 0;
    made->message.payload = text(&size);
    made->message.size = made->message.payload ? (size_t)size : 0;
    made->count = number();
    made->headers = made->count < 0 ? NULL : room((size_t)made->count * sizeof(header));
    for (int64_t place = 0; place < made->count; place++) {
        char *name = text(&size);
        made->headers[place].name = room((size_t)size + 1);
        memcpy(made->headers[place].name, name, (size_t)size);
        made->headers[place].name[size] = 0;
        free(name);
        made->headers[place].value = text(&made->headers[place].size);
    }
    return &made->message;
}

static void put(const void *from, size_t size)
{
    if (fwrite(from, 1, size, stdout) != size)
        exit(4);
}

static void put_number(int64_t value)
{
    put(&value, sizeof value);
}

static kafka_texts texts(int64_t count, int64_t size)
{
    kafka_texts made = {zeros(((size_t)count + 7) / 8), room(((size_t)count + 1) * sizeof(int32_t)), room((size_t)size), 0};
    return made;
}

/* Puts a column out and gives its memory back. */
static void put_texts(kafka_texts *column, int64_t count, int64_t size)
{
    put_number(column->nulls);
    put(column->valid, ((size_t)count + 7) / 8);
    put(column->offsets, ((size_t)count + 1) * sizeof(int32_t));
    put(column->bytes, (size_t)size);
    free(column->valid);
    free(column->offsets);
    free(column->bytes);
}

static void put_columns(const kafka_functions *functions, kafka_message **messages, int64_t count,
                        const kafka_sizes *sizes)
{
    size_t rows = (size_t)count;
    kafka_columns columns = {
        texts(count, sizes->keys),
        texts(count, sizes->values),
        room(rows * sizeof(int64_t)),
        room(rows * sizeof(int64_t)),
        room((rows + 1) * sizeof(int32_t)),
        texts(sizes->headers, sizes->header_keys),
        texts(sizes->headers, sizes->header_values),
    };
    kafka_copy(functions, messages, count, &columns);
    put_texts(&columns.keys, count, sizes->keys);
    put_texts(&columns.values, count, sizes->values);
    put(columns.offsets, rows * sizeof(int64_t));
    put(columns.timestamps, rows * sizeof(int64_t));
    put(columns.headers, (rows + 1) * sizeof(int32_t));
    put_texts(&columns.header_keys, sizes->headers, sizes->header_keys);
    put_texts(&columns.header_values, sizes->headers, sizes->header_values);
    free(columns.offsets);
    free(columns.timestamps);
    free(columns.headers);
}

int main(void)
{
    int64_t (*timestamp)(const kafka_message *, int *) = timestamp_of;
    int (*headers)(const kafka_message *, void **) = headers_of;
    int (*one)(const void *, size_t, const char **, const void **, size_t *) = header_of;
    void (*end_of)(kafka_message *) = destroy;
    kafka_functions functions;
    memcpy(&functions.timestamp, &timestamp, sizeof timestamp);
    memcpy(&functions.headers, &headers, sizeof headers);
    memcpy(&functions.header, &one, sizeof one);
    memcpy(&functions.destroy, &end_of, sizeof end_of);
    for (int64_t ranges = number(); ranges > 0; ranges--) {
        int64_t end = number(), bytes = number(), all = number(), kept = 0, rows;
        kafka_seen seen = {0};
        kafka_message **messages = room((size_t)all * sizeof *messages);
        seen.next = number();
        destroyed = 0;
        for (int64_t takes = number(); takes > 0; takes--) {
            int64_t count = number();
            for (int64_t place = 0; place < count; place++)
                messages[kept + place] = message_given();
            kept += kafka_keep(&functions, messages + kept, count, end, &seen);
        }
        put_number(seen.next);
        put_number(seen.bytes);
        put_number(seen.error);
        put_number(destroyed);
        for (int64_t first = 0; first < kept; first += rows) {
            kafka_sizes sizes = {0};
            rows = kafka_measure(&functions, messages + first, kept - first, bytes, &sizes);
            put_number(rows);
            put_number(sizes.keys);
            put_number(sizes.values);
            put_number(sizes.headers);
            put_number(sizes.header_keys);
            put_number(sizes.header_values);
            put_columns(&functions, messages + first, rows, &sizes);
            kafka_destroy(&functions, messages + first, rows);
        }
        put_number(0);
        put_number(destroyed);
        free(messages);
    }
    return 0;
}
