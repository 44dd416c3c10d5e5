"""The tools of an attempt, with what they work on."""

import asyncio
import json

from flows.pipeline.native.folder import Folder
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.tools import Tools
from tests.pipeline.native.helpers import a_task


class Kit:
    """Tools in a scratch folder, called one after the other."""

    def __init__(self, tmp_path, files, **given):
        self.root = tmp_path / "scratch"
        self.root.mkdir()
        task = a_task(tmp_path / "task", files)
        self.folder = Folder(self.root)
        self.folder.lay_out(tmp_path / "task", task.steps[0].attachments)
        settings = {"limit": task.length_limit, "page_chars": 20_000, "images": True} | given
        self.tools = Tools(self.folder, Renders(tmp_path / "renders"), **settings)

    def call(self, name, arguments=None, **fields):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or fields)
        return asyncio.run(self.tools.call(name, written, caller="key 1"))

    def says(self, name, arguments=None, **fields):
        answer = self.call(name, arguments, **fields)
        assert not answer.is_error, answer.text
        return answer.text

    def fails(self, name, arguments=None, **fields):
        answer = self.call(name, arguments, **fields)
        assert answer.is_error
        assert answer.text.startswith("Error: ")
        return answer.text.removeprefix("Error: ")
