"""The native harness: a model calls tools in a scratch folder until its report is written."""

from flows.pipeline.native.contract import NATIVE_VERSION, Ask, Limits, Prompt, Trial
from flows.pipeline.native.loop import attempt
from flows.pipeline.native.renders import Layout, Renders

__all__ = ["NATIVE_VERSION", "Ask", "Layout", "Limits", "Prompt", "Renders", "Trial", "attempt"]
