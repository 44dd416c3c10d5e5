"""The labelled reports of MissionReport tasks, and their texts."""

import csv

from tests.support.report_tasks import FOLDER

TRIP, GUNNERY, EXERCISE, ROTATION, HIRING = "sb-war-02", "sb-war-08", "sb-aar-01", "sb-aar-04", "sb-psr-01"
PORT, DEPOT, BATTALION = "sb-sit-01", "sb-par-01", "sb-ins-01"
PIERS, CENTER = "sb-psr-02", "sb-par-02"


def report(task_id, name):
    return FOLDER / "controls" / task_id / f"{name}.docx"


def labels(task_id):
    with (FOLDER / "controls" / task_id / "labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
