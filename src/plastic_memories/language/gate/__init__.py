"""A small trained model: does a clause say something lasting about its speaker, and what?"""
