"""A folder of documents as a person has them."""

from email.message import EmailMessage

import docx
import openpyxl
from reportlab.pdfgen.canvas import Canvas


def write_documents(folder):
    """Make the folder, with a document of each format, and what is none. Gives the folder."""
    folder.mkdir()
    word = docx.Document()
    word.add_paragraph("The bridge carries 12 tonnes.")
    word.save(folder / "01-order.docx")
    pdf = Canvas(str(folder / "02-report.pdf"))
    for page in (1, 2):
        pdf.drawString(72, 720, f"Page {page} of the report says that the river rises.")
        pdf.showPage()
    pdf.save()
    book = openpyxl.Workbook()
    book.active.title = "Stocks"
    book.active["A1"] = "flour"
    book.active["B1"] = 40
    book.save(folder / "03-stocks.xlsx")
    mail = EmailMessage()
    mail["Subject"] = "Ferry"
    mail.set_content("The ferry runs from noon.")
    (folder / "04-mail.eml").write_bytes(bytes(mail))
    (folder / "05-notes.txt").write_text("Größe: 40\n")
    (folder / "movie.mp4").write_bytes(b"\x00")
    (folder / ".hidden.txt").write_text("no")
    (folder / "link.txt").symlink_to(folder / "05-notes.txt")
    return folder
