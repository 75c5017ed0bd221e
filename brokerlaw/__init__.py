"""brokerlaw: executable laws for the memory and acknowledgement state of message brokers."""
