"""Files are read safely, and errors say what is wrong and where."""

import pytest

import delassus as dl
from delassus.model.formats import load

ARM = """<robot name="arm">
 <link name="base"/>
 <link name="forearm"/>
 <joint name="elbow" type="revolute">
  <parent link="base"/>
  <child link="forearm"/>
  <limit lower="{lower}" upper="1" effort="1" velocity="1"/>
 </joint>
</robot>
"""


def test_an_absent_file_is_both_our_error_and_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.urdf"):
        load(tmp_path / "nowhere.urdf")
    with pytest.raises(dl.DelassusError):
        load(str(tmp_path / "nowhere.urdf"))
    assert issubclass(dl.MissingFileError, dl.DelassusError)


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(dl.FileFormatError, match="cannot be read"):
        load(tmp_path)


def test_a_path_is_a_string_or_a_path():
    with pytest.raises(TypeError):
        load(3)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n ",
        b"\x00\x01\x02\xff",
        b"\x7fELF" + bytes(range(256)),
        b"robot",
        b"<robot name='a'",
        b"<html><body/></html>",
        b"{",
        b"{}",
        b"\xff\xfe<\x00r\x00",
        b"<?xml version='1.0' encoding='no-such-code'?><robot name='a'/>",
    ],
)
def test_what_is_no_model_is_an_error_that_names_the_file(write, content):
    with pytest.raises(dl.FileFormatError, match=r"robot\.urdf"):
        load(write(content))


def test_the_content_decides_on_the_format_not_the_name(read):
    assert read(ARM.format(lower=-1), "arm.txt").joint_names == ["elbow"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_are_understood(read, encoding):
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = (
        f"<?xml version='1.0' encoding='{declared}'?><robot name='Käfer'><link name='a'/></robot>"
    )
    assert read(text.encode(encoding)).name == "Käfer"


def test_errors_name_file_line_element_and_attribute(read):
    expected = (
        r"""^robot\.urdf:7: <joint name="elbow">: <limit lower>: expected a number, got 'abc'$"""
    )
    with pytest.raises(dl.FileFormatError, match=expected):
        read(ARM.format(lower="abc"))


@pytest.mark.parametrize(
    "word", ["", "nan", "inf", "1e999", "0x10", "1_000", "1,5", "1 2", "1.0f", "٣"]
)
def test_numbers_are_finite_and_plain(read, word):
    with pytest.raises(dl.FileFormatError, match="limit"):
        read(ARM.format(lower=word))


@pytest.mark.parametrize("word", ["-1", "+.5", "-1.", "1e-3", "-2.5E+00", " 0.25 "])
def test_all_ways_to_write_a_number_are_understood(read, word):
    assert read(ARM.format(lower=word)).lower[0] == float(word)


def test_unresolved_xacro_is_an_error_that_says_so(read):
    with pytest.raises(dl.FileFormatError, match="run xacro"):
        read(ARM.format(lower="${-pi/2}"))


BILLION_LAUGHS = (
    """<!DOCTYPE robot [<!ENTITY a0 "ha">"""
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    + """]><robot name="&a9;"><link name="a"/></robot>"""
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "content",
    [
        BILLION_LAUGHS,
        """<!DOCTYPE robot SYSTEM "http://127.0.0.1/x"><robot name="a"><link name="a"/></robot>""",
        """<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="a">&x;</robot>""",
        """<!-- a --><!DOCTYPE robot><robot name="a"><link name="a"/></robot>""",
    ],
)
def test_document_types_and_entities_are_refused(write, content, encoding):
    with pytest.raises(dl.FileFormatError, match="DOCTYPE"):
        load(write(content.encode(encoding)))


def test_a_doctype_in_a_comment_is_only_a_comment(read):
    read('<robot name="a"><!-- <!DOCTYPE x> --><link name="a"/></robot>')


def test_deeply_nested_elements_are_an_error_not_a_crash(write):
    depth = 100_000
    with pytest.raises(dl.FileFormatError):
        load(write("<robot name='a'>" + "<x>" * depth + "</x>" * depth + "</robot>"))


def test_files_beyond_the_limit_are_refused(write, monkeypatch):
    monkeypatch.setattr("delassus.model.formats.content._LARGEST", 1000)
    with pytest.raises(dl.FileFormatError, match="at most 0"):
        load(write(ARM.format(lower=-1) + " " * 1000))
