"""The subcommands.

A command is a function that returns the exit code. It takes `project` (the folder that holds `conf/`),
`overrides` (Hydra's, such as the benchmark), `screen` (its output) and its own arguments, whose names and
meaning are those of `arguments.py`.
"""

COMMANDS = {
    "new": "make a benchmark of your own, or a scenario of it from a folder of documents",
    "rubric": "write a scenario's rubric as a spreadsheet, CSV or JSON, and read it back",
    "run": "one condition, or a sweep (-m): generate, truncate, judge, score, aggregate",
    "plan": "estimate the calls, tokens, price and detectable difference of a run, without any call",
    "grade": "briefs written elsewhere (.md .txt .docx .pdf): one file, or a folder of them",
    "compare": "two conditions: their paired difference, and the items on which they differ",
    "export": "write a benchmark as a folder to publish, or its results for other programs or a model card",
    "import": "take logs of Inspect: of our tasks and exports as results, of others as briefs to grade",
    "report": "write leaderboards and site from stored verdicts, by any scoring weights, without any call",
    "list": "the options of an axis, such as models and judges, or the graded conditions",
    "packets": "build packets from documents; report every unreadable document",
    "validate": "check scenarios, rubrics, evidence, controls and every option of conf/",
    "agreement": "judges against labels (LABELS: files of experts'), one another and themselves; or with "
    "the words sheet FOLDER, workbooks for experts to fill in",
    "harbor": "exchange with Harbor: export scenarios as tasks, import jobs as results",
    "track": "bring a benchmark's DVC stages up to date, and put its results under DVC",
    "remove": "delete the results of a condition, after showing what that removes",
    "store": "copy FROM TO: copy paid replies between folders of results and shared stores",
    "ui": "serve the MLflow UI of this project, and say how to open Prefect's",
    "completion": "print the completion script of a shell",
}
ACTIONS = {
    "rubric": {
        "export": "write a rubric: one row an item; .xlsx, .csv, .json or .jsonl by the file's suffix",
        "import": "replace a rubric by a file of that form, or by one of HealthBench, PRBench or "
        "MissionReport",
    },
    "store": {"copy": "copy what TO lacks: paid replies, reports, page counts; it can be repeated"},
    "harbor": {
        "import": "import a job's attempts as briefs, verdicts and scores",
        "summarize": "show a job's rewards and missed criteria",
        "export": "export scenarios as Harbor tasks",
        "run": "run scenarios with the installed harbor command",
        "verify": "grade one report and write its reward (called by the verifier of an exported task)",
    },
}
FUNCTIONS = {
    "new": "commands.own.new:new",
    "rubric export": "commands.own.rubric:export_rubric",
    "rubric import": "commands.own.rubric:import_rubric",
    "run": "commands.run:run",
    "plan": "commands.planning.plan:plan",
    "grade": "commands.run:run",
    "compare": "commands.compare:compare",
    "export": "commands.export:export",
    "import": "commands.run:import_logs",
    "report": "commands.report:report",
    "list": "commands.listing:show_list",
    "packets": "commands.validate:packets",
    "validate": "commands.validate:validate",
    "agreement": "commands.agreement:agreement",
    "harbor import": "harbor.jobs.imported:import_job",
    "harbor summarize": "harbor.jobs.summary:summarize",
    "harbor export": "harbor.export:export",
    "harbor run": "harbor.run:run_harbor",
    "harbor verify": "harbor.verify:verify",
    "track": "commands.own.track:track",
    "remove": "commands.remove:remove",
    "store copy": "commands.store:copy",
    "ui": "commands.ui:open_pages",
    "version": "commands.own.track:track",
    "completion": "commands.listing:show_completion",
}
"""What runs each command, in `flows.pipeline`, imported when it is called: with `screen`, `project`,
`overrides`, and the command's own arguments by name."""
