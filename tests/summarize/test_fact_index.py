"""The index of names: what is a name, what is known, what goes first."""

from condense_grpc.summarize.fact_index import Known, index_of, new_names, words_in


def names(text: str, known: str = "") -> list[str]:
    return [name.text for name in new_names(text, Known(None, [known]))]


def test_names_are_paths_and_identifiers_not_prose() -> None:
    text = "The quick function loadUser in /src/app/main.py reads max_size, Plain, v2beta3 and x.y"
    assert names(text) == ["loadUser", "/src/app/main.py", "max_size", "v2beta3"]


def test_known_words_are_known_in_whole_and_in_part() -> None:
    assert {"store.Session.load_all", "Session", "load_all"} <= words_in("see store.Session.load_all.")
    assert names("load_all store.Session.load_all other_name", "store.Session.load_all") == ["other_name"]


def test_line_numbers_of_search_tools_are_no_part_of_a_path() -> None:
    assert names("src/app.py-17-def x\nsrc/app.py-18-return\n19-loadUser()") == ["src/app.py", "loadUser"]


def test_frequent_short_names_come_before_rare_long_ones() -> None:
    text = "aVeryLongNameThatIsUsedOnce loadUser loadUser loadUser"
    assert index_of(new_names(text, Known(None)), 100) == "loadUser aVeryLongNameThatIsUsedOnce"


def test_a_name_is_left_out_once_a_longer_one_has_shown_it() -> None:
    text = "repo.commitObject repo.commitObject commitObject"
    assert index_of(new_names(text, Known(None)), 100) == "repo.commitObject"


def test_the_index_says_how_many_names_are_left_out() -> None:
    text = " ".join(f"name_{n:04}" for n in range(50))
    index = index_of(new_names(text, Known(None)), 60)
    assert len(index) <= 60
    assert index.endswith(f"(+{50 - index.count('name_')})")


def test_durations_and_addresses_come_last() -> None:
    text = "took 1.253s 1.253s 1.253s at 0xdeadbeef in someTestOfOurs"
    assert index_of(new_names(text, Known(None)), 100).startswith("someTestOfOurs")


def test_an_index_without_room_is_empty() -> None:
    assert index_of(new_names("loadUser", Known(None)), 4) == ""
