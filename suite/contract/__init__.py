"""What is demanded: the clauses, the tables of statuses, the laws, the claims, and the reference model."""
