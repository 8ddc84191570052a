"""A table's life beside the stream: what people ask for, standing still, going on again, and beginning anew."""
