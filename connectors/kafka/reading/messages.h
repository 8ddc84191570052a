/* Copies a batch of librdkafka's messages into Arrow's buffers, without an object per message.
 *
 * The messages come as librdkafka's rd_kafka_consume_batch gives them, and librdkafka's own functions as pointers: this
 * code is linked to no library. This header holds declarations only; cffi reads it too.
 */

/* rd_kafka_message_t, as rdkafka.h has it. */
typedef struct {
    int err;
    void *topic;
    int32_t partition;
    void *payload;
    size_t size;
    void *key;
    size_t key_size;
    int64_t offset;
    void *owned;
} kafka_message;

/* What is called of librdkafka: rd_kafka_message_timestamp, rd_kafka_message_headers, rd_kafka_header_get_all and
 * rd_kafka_message_destroy. */
typedef struct {
    void *timestamp;
    void *headers;
    void *header;
    void *destroy;
} kafka_functions;

/* What was seen of a range. */
typedef struct {
    int64_t next;      /* the offset behind the last one */
    int64_t bytes;     /* of the records that are kept: keys, values and headers */
    int32_t error;     /* of the first message that is an error other than the partition's end; else 0 */
} kafka_seen;

/* What some records hold together: bytes, and how many headers. */
typedef struct {
    int64_t keys;
    int64_t values;
    int64_t headers;
    int64_t header_keys;
    int64_t header_values;
} kafka_sizes;

/* A column of variable lengths: valid is an Arrow bitmap, all 0 before, and nulls the number of its zeros. */
typedef struct {
    uint8_t *valid;
    int32_t *offsets;
    uint8_t *bytes;
    int64_t nulls;
} kafka_texts;

typedef struct {
    kafka_texts keys;
    kafka_texts values;
    int64_t *offsets;
    int64_t *timestamps;   /* milliseconds since 1970, -1 where there is none */
    int32_t *headers;      /* where each message's headers begin; one more than there are messages */
    kafka_texts header_keys;
    kafka_texts header_values;
} kafka_columns;

/* Keeps the records before an offset, moves them to the front and adds them to what was seen; destroys all other
 * messages. Sets next also by the partition's end. Returns how many are kept. */
int64_t kafka_keep(const kafka_functions *functions, kafka_message **messages, int64_t count, int64_t end,
                   kafka_seen *seen);
/* How many of the first messages have at most so many bytes together, one at least, and what they hold. */
int64_t kafka_measure(const kafka_functions *functions, kafka_message *const *messages, int64_t count, int64_t most,
                      kafka_sizes *sizes);
/* Fills columns that have room for what kafka_measure has found in these messages. */
void kafka_copy(const kafka_functions *functions, kafka_message *const *messages, int64_t count,
                kafka_columns *columns);
void kafka_destroy(const kafka_functions *functions, kafka_message *const *messages, int64_t count);
