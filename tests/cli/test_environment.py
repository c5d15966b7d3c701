"""Variables with our prefix that nothing reads are told, with what was probably meant."""

from condense_grpc.cli.environment import unknown_variables


def test_a_typing_error_is_told_with_what_was_meant() -> None:
    found = unknown_variables({"CONDENSE_LISTN": "x", "CONDENSE_SESSION_MIN_BATCH_CHAR": "1", "LISTN": "x"})
    assert len(found) == 2
    assert "CONDENSE_LISTN is no setting" in found[0] and found[0].endswith("did you mean CONDENSE_LISTEN?")
    assert found[1].endswith("did you mean CONDENSE_SESSION_MIN_BATCH_CHARS?")


def test_what_is_like_no_setting_is_told_too() -> None:
    (found,) = unknown_variables({"CONDENSE_XYZZY": "secret"})
    assert "--help" in found and "secret" not in found


def test_settings_and_what_others_read_are_not_told() -> None:
    known = {"CONDENSE_LISTEN": "", "CONDENSE_SESSION_ENABLED": "", "CONDENSE_CONFIG": "", "CONDENSE_TARGET": ""}
    assert unknown_variables({**known, "CONDENSE_MY_KEY": "secret"}, ["CONDENSE_MY_KEY", ""]) == []
