"""How much poisoned records can do: certificates, aggregation of partitions, attacks."""
