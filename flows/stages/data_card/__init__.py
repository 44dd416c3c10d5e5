"""What describes an export: README.md with Hugging Face's front matter, and croissant.json."""

from flows.stages.data_card.card import CardFacts, TableFile, croissant, data_card, licence_address
from flows.stages.data_card.columns import COLUMNS, TABLES

__all__ = ["COLUMNS", "TABLES", "CardFacts", "TableFile", "croissant", "data_card", "licence_address"]
