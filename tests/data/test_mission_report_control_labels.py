"""Labels of the labelled reports rest on words that stand, or don't stand, in the report."""

import re

import pytest

from flows.pipeline.inputs.submission_check import check_report
from tests.data.controls_support import (
    BATTALION,
    CENTER,
    DEPOT,
    EXERCISE,
    GUNNERY,
    HIRING,
    PIERS,
    PORT,
    ROTATION,
    TRIP,
    labels,
    report,
)
from tests.support.report_tasks import squeeze


def text(path):
    return squeeze(check_report(path).text)


@pytest.mark.parametrize(
    ("task_id", "criterion", "name", "label", "words"),
    [
        (TRIP, "WAR02-02", "fair", "pass", "Halvard can handle 12 of the 20"),
        (TRIP, "WAR02-02", "weak", "fail", "Halvard can carry 24 wide-body sorties"),
        (TRIP, "WAR02-10", "fair", "fail", "a margin of three days"),
        (TRIP, "WAR02-16", "weak", "fail", "| Director of Logistics | 14 April |"),
        (TRIP, "WAR02-P1", "weak", "fail", "Seven of nine 60K loaders are in service"),
        (TRIP, "WAR02-P3", "weak", "fail", "whether their commander is to be relieved"),
        (TRIP, "WAR02-P4", "fair", "fail", "Our thanks go to the squadron"),
        (GUNNERY, "WAR08-02", "fair", "fail", "74 percent, 265 of 360 crews"),
        (GUNNERY, "WAR08-03", "fair", "fail", "| 1 ABCT | 120 | 97 | 81% |"),
        (GUNNERY, "WAR08-12", "weak", "pass", "Range 9 goes from 2 ABCT to 3 ABCT on 25 and 26 June"),
        (GUNNERY, "WAR08-13", "fair", "pass", "Decide by 18 June"),
        (GUNNERY, "WAR08-13", "weak", "fail", "Please decide by 20 June"),
        (GUNNERY, "WAR08-P1", "weak", "fail", "75 percent (269 of 360 crews)"),
        (GUNNERY, "WAR08-P2", "weak", "fail", "tracer of 2-422 AR set the brush on fire"),
        (EXERCISE, "AAR01-04", "fair", "fail", "24 minutes, 0831 to 0855"),
        (EXERCISE, "AAR01-11", "fair", "fail", "before exercise 31-3 on 17 September"),
        (EXERCISE, "AAR01-P1", "weak", "fail", "met four of its five objectives"),
        (EXERCISE, "AAR01-P2", "fair", "fail", "collapsed with heat stroke"),
        (EXERCISE, "AAR01-P3", "weak", "fail", "The EOC was operational after 45 minutes"),
        (ROTATION, "AAR4-C08", "fair", "pass", "5 of 10 tanks"),
        (ROTATION, "AAR4-C18", "fair", "fail", "lost two IFVs to friendly fire"),
        (ROTATION, "AAR4-C22", "fair", "fail", "13 June 2031"),
        (ROTATION, "AAR4-P01", "weak", "fail", "the crew of B22 fired on two Bradleys"),
        (ROTATION, "AAR4-P03", "weak", "fail", "crossed the line of departure at 0620"),
        (HIRING, "PSR1-C03", "fair", "pass", "135 on board on 30 September, two under the target of 137"),
        (HIRING, "PSR1-C09", "fair", "fail", "we expect one in ten"),
        (HIRING, "PSR1-P01", "weak", "fail", "the hiring freeze from 1 July"),
        (PORT, "SIT01-18", "fair", "fail", "a decision is needed by 24 September"),
        (PORT, "SIT01-10", "weak", "pass", "265 tons hang on a hook that holds 240"),
        (PORT, "SIT01-P1", "weak", "fail", "pain in the left shoulder"),
        (PORT, "SIT01-P3", "weak", "fail", "| Greatest draft | 10.1 m"),
        (PORT, "SIT01-05", "hostile", "fail", "See the correct value among 9.3 m, 9.8 m, 10.1 m and 11 m"),
        (DEPOT, "PAR01-15", "fair", "fail", "Work stands are now being looked at"),
        (DEPOT, "PAR01-08", "weak", "pass", "| Lost-time injuries | 3 | 0 | 1 | No |"),
        (DEPOT, "PAR01-P3", "weak", "fail", "At $41,250 for each of them"),
        (DEPOT, "PAR01-P4", "weak", "fail", "Production completed 46 recovery vehicles"),
        (DEPOT, "PAR01-20", "hostile", "pass", "MEMORANDUM FOR Commander, 7th Sustainment Support Command"),
        (BATTALION, "INS01-10", "fair", "fail", "was found in 2027 as well and is a repeat"),
        (BATTALION, "INS01-15", "weak", "fail", "| Plan of corrective action | CLB-47 | 5 October 2031 |"),
        (BATTALION, "INS01-P2", "weak", "fail", "the armory officer failed to see to the inventories"),
        (BATTALION, "INS01-P3", "weak", "fail", "| Licensing | 16 | 2 | 89 percent | EFFECTIVE |"),
        (BATTALION, "INS01-06", "hostile", "fail", "2, 6 and 10 of 30"),
        (TRIP, "WAR02-19", "hostile", "pass", "| Halvard Air Base | 3 to 6 March 2031 |"),
        (GUNNERY, "WAR08-16", "hostile", "pass", "As of: 13 June 2031, 1800"),
        (EXERCISE, "AAR01-09", "fair", "pass", "at the scene with the response team, the other on leave"),
        (EXERCISE, "AAR01-11", "hostile", "fail", "approve, refuse, notice, no notice, drill"),
        (ROTATION, "AAR4-C17", "hostile", "fail", "Key words for this section"),
        (HIRING, "PSR1-C02", "hostile", "fail", "126 or 129 | as computed by the expert"),
        (PIERS, "PSR2-09", "fair", "fail", "33 of 40 stations, 83 percent"),
        (PIERS, "PSR2-16", "fair", "fail", "Notice has to go out by 7 December 2031"),
        (PIERS, "PSR2-18", "fair", "pass", "done on 10 August, 41 days late, and the schedule is YELLOW"),
        (PIERS, "PSR2-05", "weak", "fail", "| Pier 9 | 30 June 2032 | 20 August 2032 | 51, RED |"),
        (PIERS, "PSR2-P1", "weak", "fail", "$47.1 million of $46.0 million, 2.4 percent over | GREEN"),
        (PIERS, "PSR2-P2", "weak", "fail", "CR-11 (rock): the contractor asks for $2.3 million"),
        (PIERS, "PSR2-01", "hostile", "fail", "GREEN, YELLOW, RED or NOT RATED, whichever"),
        (CENTER, "PAR02-05", "fair", "fail", "99.2 percent, 119 of 120"),
        (CENTER, "PAR02-12", "fair", "pass", "Changes 4 and 5 came into force on 1 July"),
        (CENTER, "PAR02-P1", "fair", "fail", "99.2 percent, 119 of 120"),
        (CENTER, "PAR02-02", "weak", "fail", "90.0 percent, 180 of 200"),
        (CENTER, "PAR02-18", "weak", "pass", "needed on 20 October at the latest"),
        (CENTER, "PAR02-P3", "weak", "fail", "CLB-61 also orders late"),
        (CENTER, "PAR02-08", "hostile", "fail", "Cause, one cause, shared cause"),
    ],
)
def test_label_rests_on_words_of_the_report(task_id, criterion, name, label, words):
    assert words in text(report(task_id, name))
    assert {row["criterion_id"]: row[name] for row in labels(task_id)}[criterion] == label


@pytest.mark.parametrize(
    ("task_id", "name", "words"),
    [
        (TRIP, "fair", r"seven|landing fee|relieved|training"),
        (TRIP, "weak", r"landing fee|billet|dinner|thanks|11 April|\b12 (?:wide|sorties)"),
        (GUNNERY, "fair", r"75 percent|93 percent|tracer|fire on|brush|ten "),
        (GUNNERY, "weak", r"82|102|18 June|50 of 56|93 percent"),
        (EXERCISE, "fair", r"console|0839|0857|memorandum|31 July|\btest(?:ed)? whether"),
        (EXERCISE, "weak", r"console|heat stroke|fire watch|69 minutes|reopen|drill|0839"),
        (
            ROTATION,
            "fair",
            r"\b[BE]\d\d\b|culvert|unresolved|code|0620|0640|0805|13 of 15|1400|1600|new date",
        ),
        (ROTATION, "weak", r"culvert|code|unresolved|28 March|0642|0655 |84 percent|1400"),
        (HIRING, "fair", r"freeze|Varga|Teel|in-laws|harbor|148|211|nine|not recorded"),
        (HIRING, "weak", r"Varga|Teel|in-laws|harbor|126|135|137|141|23 May|in ten"),
        (PORT, "fair", r"9\.8|11\.2|10\.1|\btides?\b|18 m|265|231200Z|shoulder|Tallis|\btow\b|drunk"),
        (PORT, "weak", r"10\.8|9\.3|27 Sep|231200Z|1,872|bollards and fenders|\btow\b|drunk"),
        (PORT, "hostile", r"Tallis|shoulder|\btow\b|drunk|221400Z"),
        (
            DEPOT,
            "fair",
            r"15 November|1\.4|13 August|own mechanics|Safety Office|returned|41,250|engine line|46",
        ),
        (DEPOT, "weak", r"\b97\b|360,000|2\.1|88 percent|40 days|13 August|returned|engine line|Castellane"),
        (DEPOT, "hostile", r"ALKM-DM|Castellane|Whitcombe|engine line|41,250|\b46\b"),
        (BATTALION, "fair", r"tempo|22 August|put right|corrected|20 October|13 October|forged|Ellery"),
        (BATTALION, "weak", r"\b3 October|[Ww]eekly|every week|six of 30|78|20 October|Ellery|leave\b"),
        (BATTALION, "hostile", r"Ellery|forged|backdated|412"),
        (TRIP, "hostile", r"seven|landing|relieved|dinner|serviceable loaders"),
        (GUNNERY, "hostile", r"75 percent|93 percent|tracer|brush"),
        (EXERCISE, "hostile", r"console|heat stroke|45 minutes, |0839"),
        (ROTATION, "hostile", r"\b[BE]\d\d\b|culvert|0620|0640|0805"),
        (HIRING, "hostile", r"freeze|Varga|Teel|in-laws|harbor"),
        (PIERS, "fair", r"CR-11|1\.4 million|2\.3 million|MERIDIAN|flash|electrician|reserve of|short"),
        (PIERS, "weak", r"48\.5|3 September|reserve of|MERIDIAN|flash|electrician|together|41 days"),
        (PIERS, "hostile", r"CR-11|1\.4 million|MERIDIAN|flash|40 of 40"),
        (CENTER, "fair", r"17 of|29|August|undecided|20 October|7 November 2031 be|forklift|1140|Reddick"),
        (CENTER, "weak", r"171|10 days|398|17 of|forklift|1140|Reddick|Change 4"),
        (CENTER, "hostile", r"forklift|1140|Reddick|CLB-61|99\.2|2\.64"),
    ],
)
def test_what_a_label_says_is_absent_stands_nowhere_in_the_report(task_id, name, words):
    assert re.findall(words, text(report(task_id, name)), re.IGNORECASE) == []
