from boostbench.fitting.trial import calibration


def test_calibration_is_measured_once():
    assert calibration() == calibration() > 0
