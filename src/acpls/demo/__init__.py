"""A small agent and a sample project, to see the product without an account or a model.

Invariant: imported by the command line alone, and imports nothing else of the product.
"""
