"""The suite: the contract as a catalogue of clauses, and the cases that check them."""
