"""The files that `staffbench new` writes around a benchmark."""

BENCHMARK = """\
# A benchmark of your own: staffbench run benchmark={name}
name: {name}
protocol: ma_bench
data: {data}
controls: null   # in each scenario's folder
scenarios: null   # all

# How items are classed: null for the steps, tiers and severities of MA-Bench. To have your own, write:
#   dimensions:
#     steps: [situation, open_tasks]
#     tiers: [stated, inferred]          # numbered from 1 in the rubric
#     severities: [vital, useful]        # classes of requirements
#     wrong_moves: [harmful]             # classes of wrong moves
#     optional: [tier, rationale]        # fields that an item may lack
# and their weights in conf/scoring/{name}.yaml, as conf/scoring/severity.yaml has them for MA-Bench.
dimensions: null
"""

TASKS = """\
# @package _global_
# A benchmark of your own, of Word reports: staffbench run benchmark={name}
defaults:
  - override /harness: native
  - override /word_cap: none
  - override /prompt: report_v1
  - override /judge_prompt: report_v1
  - override /scoring: points

benchmark:
  name: {name}
  protocol: mission_report
  data: {data}/tasks
  controls: null   # or a folder of labelled reports, as data/mission_report/controls is in the repository
  scenarios: null   # all
  dimensions: null   # criteria have points of their own
seeds: 3            # attempts
"""

README = """\
# {name}

A benchmark of staffbench. Each folder is a scenario: `scenario.yaml` (assignment, list of documents),
`documents/`, `rubric.yaml` (the items) and, if you write them, `controls/` (labelled briefs that show how
far a judge can be trusted).

    staffbench new {name}/my_scenario --documents FOLDER   # add a scenario
    staffbench rubric export {name}/my_scenario -o rubric.xlsx
    staffbench rubric import {name}/my_scenario rubric.xlsx
    staffbench validate benchmark={name}
    staffbench run benchmark={name}
    staffbench report benchmark={name}

The scenario `example` is there to be looked at and deleted. `dvc.yaml` and `params.yaml` are the DVC
pipeline; `staffbench track benchmark={name}` writes them again.
"""

TASKS_README = """\
# {name}

A benchmark of staffbench. Each folder in `tasks/` is a task of Harbor that ends in a Word report:

| path | what it is |
|---|---|
| `instruction.md`, `steps/answer/` | the assignment and its files, the form among them |
| `tests/golden/report.docx` | the expert's report; `solution/solve.sh` carries it for Harbor's oracle |
| `tests/fixtures/rubric.json` | criteria with points; below 0 for a penalty |
| `tests/fixtures/config.json` | the assignment, the length limit, and guidance for the judge |
| `task.toml`, `environment/`, `tests/test.sh` | what Harbor runs it with |

    staffbench validate benchmark={name}
    staffbench run benchmark={name}
    staffbench harbor export FOLDER benchmark={name} --install WHEEL

The task `example` is there to be looked at, copied and deleted. `dvc.yaml` and `params.yaml` are the DVC
pipeline; `staffbench track benchmark={name}` writes them again.
"""

IGNORED = """\
/.prefect/
/mlruns/
/dvc_plots/
# What runs leave. DVC versions it, and git the small files of DVC.
/data/packets/**/*.parquet
/results/**
!/results/**/
!/results/**/*.dvc
!/results/**/.gitignore
/results/.cache/
"""
