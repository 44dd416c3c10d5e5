"""What every layer may use and nothing else owns: errors, digests, whole files, words for numbers."""
