from fitting.examples import RECORD, modify_record, recorded

from boostbench.analysis.frame import ResultFrame
from boostbench.report.page.details import Source


def test_records_without_times_have_no_reference_job():
    entries = [
        modify_record(RECORD, seconds=...),
        modify_record(RECORD, seconds={"fit": 1.0, "calibration": 0.05}),
        modify_record(RECORD, seconds={"calibration": None}),
    ]
    records = [recorded(each, "mine") for each in entries]
    assert Source(ResultFrame(records)).calibration == "0.0500"
    assert Source(ResultFrame(records[:1])).calibration == Source(ResultFrame()).calibration == ""
