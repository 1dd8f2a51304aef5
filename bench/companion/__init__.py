"""CompanionBench: messy talk with a companion, and what it must know of the person later."""
