"""The native harness: a model calls tools in a scratch folder until its report is written."""
