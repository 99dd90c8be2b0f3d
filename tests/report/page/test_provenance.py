from boostbench.analysis.frame import ResultFrame
from boostbench.report.page.details import Source


def test_records_without_times_have_no_reference_job():
    record = {"seconds": {"fit": 1.0, "calibration": 0.05}}
    assert (
        Source(ResultFrame([{}, record, {"seconds": {"calibration": None}}])).calibration
        == "0.0500"
    )
    assert Source(ResultFrame([{}])).calibration == Source(ResultFrame()).calibration == ""
