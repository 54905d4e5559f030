"""What is tried: one module of cases per theme, and the tables of stimuli that they share."""
