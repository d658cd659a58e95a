"""What is in a PDF, read back by a library that did not write it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from pypdf import PdfReader
from pypdf.generic import IndirectObject


@dataclass(frozen=True)
class ReadPdf:
    content: bytes

    @cached_property
    def _reader(self) -> PdfReader:
        return PdfReader(BytesIO(self.content))

    @property
    def root(self) -> Any:
        """Return its catalogue."""
        return self._reader.trailer["/Root"]

    @property
    def title(self) -> str:
        """Return the title that its metadata tell."""
        told = self._reader.metadata
        return (told.title or "") if told else ""

    @property
    def pages(self) -> int:
        return len(self._reader.pages)

    @cached_property
    def lines(self) -> list[str]:
        """Return its lines as they stand, page by page."""
        return "\n".join(page.extract_text() for page in self._reader.pages).splitlines()

    @cached_property
    def text(self) -> str:
        """Return its words, with one space between any two."""
        return " ".join(" ".join(self.lines).split())

    @cached_property
    def tags(self) -> Counter[str]:
        """Return how often each tag is in the tree of its structure."""
        return Counter(str(element["/S"]) for element in self._elements())

    @property
    def alternatives(self) -> list[str]:
        """Return what is said in the place of what is only seen."""
        return [str(each["/Alt"]) for each in self._elements() if "/Alt" in each]

    def _elements(self) -> Iterator[Any]:
        waiting: list[Any] = [self.root["/StructTreeRoot"]]
        while waiting:
            element = waiting.pop()
            if isinstance(element, IndirectObject):
                element = element.get_object()
            if isinstance(element, list):
                waiting += element
            elif isinstance(element, dict):
                if "/S" in element:
                    yield element
                if "/K" in element:
                    waiting.append(element["/K"])


def check_tagged(pdf: ReadPdf, language: str) -> None:
    """Check what makes a PDF one that can be read out: tags, language and title."""
    assert pdf.root["/MarkInfo"]["/Marked"]
    assert pdf.root["/Lang"] == language
    assert pdf.root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert pdf.title
    assert b"pdfuaid" in pdf.root["/Metadata"].get_data()
    assert pdf.tags["/Document"] == 1
    assert pdf.tags["/H1"] >= 1
    assert min(pdf.tags[tag] for tag in ("/Table", "/TH", "/TD", "/Figure")) >= 1
    assert len(pdf.alternatives) == pdf.tags["/Figure"]
