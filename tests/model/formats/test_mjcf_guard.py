"""MJCF that MuJoCo takes for something else, or does not survive, is refused before it sees it."""

import os

import pytest

import delassus as dl
from delassus.model.formats import load

pytest.importorskip("mujoco")

MODEL = """<mujoco>{top}<worldbody>{world}
 <body name="a"><joint name="j" {joint}/><geom name="g" size="0.1" {geom}/>{body}</body></worldbody>
 {end}</mujoco>"""


def mjcf(**parts) -> str:
    return MODEL.format(
        **dict.fromkeys(("top", "world", "joint", "geom", "body", "end"), "") | parts
    )


def asset(text: str) -> str:
    return mjcf(top=f"<asset>{text}</asset>")


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "-nan", "nan(1)", "inf", "-INF", "infinity", "1e400"]
)
@pytest.mark.parametrize(
    ("part", "text", "named"),
    [
        ("joint", 'damping="{}"', '<joint name="j">: damping'),
        ("joint", 'range="{} 1"', '<joint name="j">: range'),
        ("geom", 'mass="{}"', '<geom name="g">: mass'),
        ("body", '<site name="s" quat="1 0 {} 0"/>', '<site name="s">: quat'),
        ("top", '<option gravity="0 0 {}"/>', "<option gravity>"),
        ("top", '<default><joint armature="{}"/></default>', "<joint armature>"),
    ],
)
def test_numbers_that_are_not_finite_are_refused_with_element_and_attribute(
    write, part, text, named, word
):
    with pytest.raises(dl.FileFormatError, match=f"{named}.*: expected finite numbers"):
        load(write(mjcf(**{part: text.format(word)})))


def test_names_may_look_like_numbers(read):
    body = '<body name="inf"><joint name="nan"/><geom name="1e400" size="1"/></body>'
    end = '<custom><text name="t" data="nan inf"/></custom>'
    assert "nan" in read(mjcf(body=body, end=end), warns="ignored").joint_names


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_blank_numbers_are_refused_and_the_next_file_is_read(write, text):
    """After a blank anchor, MuJoCo would wait for ever in the next file."""
    weld = f'<equality><connect body1="a" anchor="{text}"/></equality>'
    for _ in range(2):
        with pytest.raises(dl.FileFormatError, match=r"<connect anchor>.*: is blank"):
            load(write(mjcf(end=weld)))
    assert load(write(mjcf())).nv == 1


@pytest.mark.parametrize(
    "text",
    [
        mjcf(world='<replicate count="1000000"><geom size="1"/></replicate>'),
        mjcf(world='<replicate count="90">' * 3 + '<geom size="1"/>' + "</replicate>" * 3),
        mjcf(world='<flexcomp name="f" type="grid" count="999 999 9" spacing="1 1 1" radius="1"/>'),
        mjcf(top='<size nkey="1000000"/>'),
        mjcf(top='<size nuser_body="2147483647"/>'),
        asset('<hfield name="h" nrow="1000000" ncol="1000000" size="1 1 1 1"/>'),
    ],
    ids=["replicate", "nested", "flexcomp", "keys", "user data", "height field"],
)
def test_counts_of_millions_are_refused(write, text):
    with pytest.raises(dl.FileFormatError, match=r"asks for .* at most"):
        load(write(text))


def test_a_few_copies_are_made(read):
    text = '<replicate count="3" offset="1 0 0"><body><joint/><geom size="1"/></body></replicate>'
    assert read(mjcf(world=text)).nv == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize(
    "text",
    [
        mjcf(top='<include file="pipe"/>'),
        asset('<model name="m" file="pipe"/>'),
        asset('<hfield name="h" file="pipe" size="1 1 1 1"/>'),
        asset('<texture name="t" type="2d" file="pipe" content_type="image/png"/>'),
        mjcf(top='<compiler meshdir="folder"/><asset><mesh name="m" file="../pipe"/></asset>'),
        mjcf(top='<include file="folder"/>'),
    ],
    ids=["include", "model", "height field", "texture", "mesh", "folder"],
)
def test_files_that_are_not_regular_are_refused(write, tmp_path, text):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(dl.FileFormatError, match="not a regular file"):
        load(write(text))


@pytest.mark.parametrize(
    "text",
    [
        mjcf(top='<include file="robot.xml"/>'),
        mjcf(top='<include file="other.xml"/>'),
        asset('<model name="m" file="robot.xml"/>'),
    ],
    ids=["itself", "by another file", "attached"],
)
def test_files_that_are_part_of_themselves_are_refused(write, text):
    write('<mujocoinclude><include file="robot.xml"/></mujocoinclude>', "other.xml")
    with pytest.raises(dl.FileFormatError, match="is part of itself"):
        load(write(text, "robot.xml"))


def test_included_files_are_looked_at(write):
    main = write(mjcf(top='<include file="parts/more.xml"/>'), "robot.xml")
    write('<mujocoinclude><option gravity="0 0 -1"/></mujocoinclude>', "parts/more.xml")
    assert load(main).gravity[2] == -1.0
    write('<mujocoinclude>\n<option gravity="0 0 nan"/></mujocoinclude>', "parts/more.xml")
    with pytest.raises(dl.FileFormatError, match=r"^more\.xml:2: .*<option gravity>.*'nan'"):
        load(main)
    write("<mujocoinclude><option", "parts/more.xml")
    with pytest.raises(dl.FileFormatError, match=r"more\.xml.*not well-formed"):
        load(main)


def test_ranges_of_muscles_are_not_simulated(read):
    """MuJoCo finds them by a simulation, which here would take for ever."""
    top = '<compiler><lengthrange inttotal="1e90" interval="1e90"/></compiler>'
    end = '<actuator><muscle joint="j"/></actuator>'
    assert read(mjcf(top=top, end=end), warns=r"actuator_0 \(muscle\)").nv == 1


def test_letters_that_mujoco_does_not_read_are_refused(write):
    text = "<?xml version='1.0' encoding='iso-8859-1'?>" + mjcf(body='<site name="{}"/>')
    assert "mark" in load(write(text.format("mark").encode("latin-1"))).frame_names
    with pytest.raises(dl.FileFormatError, match="UTF-8 only, and this is iso-8859-1"):
        load(write(text.format("Käfer").encode("latin-1")))


def test_after_an_error_that_mujoco_does_not_foresee_it_is_not_asked_again(write, monkeypatch):
    from delassus.model.formats.mjcf import reader

    def fail(*_):
        raise RuntimeError("Caught an unknown exception!")

    monkeypatch.setattr(reader, "_is_broken", [])
    with monkeypatch.context() as changed:
        changed.setattr(reader, "_compiled", fail)
        with pytest.raises(dl.FileFormatError, match="unknown exception"):
            load(write(mjcf()))
    with pytest.raises(dl.FileFormatError, match="start Python again"):
        load(write(mjcf()))


def test_files_that_attach_each_other_many_times_are_refused_at_once(tmp_path):
    """Eight files of eight <attach> each ask for 8^7 bodies."""
    for k in range(8):
        asset = f'<asset><model name="m" file="f{k + 1}.xml"/></asset>' if k < 7 else ""
        attached = '<body><attach model="m" body="r" prefix="{}_"/></body>'
        held = "".join(attached.format(i) for i in range(8)) if k < 7 else '<geom size="1"/>'
        text = f'<mujoco>{asset}<worldbody><body name="r">{held}</body></worldbody></mujoco>'
        (tmp_path / f"f{k}.xml").write_text(text)
    with pytest.raises(dl.FileFormatError, match="at most 20000 more than it has"):
        dl.load(tmp_path / "f0.xml")
    assert dl.load(tmp_path / "f6.xml").n_bodies == 0  # of eight fixed bodies


def test_mjcf_is_known_by_its_content_not_by_its_name(tmp_path):
    (tmp_path / "part.txt").write_text(
        '<mujoco><worldbody><body name="p"><joint/><geom size="1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "other.xml").write_text(
        '<mujoco><worldbody><body name="r"><joint/><geom size="1"/></body></worldbody></mujoco>'
    )
    text = """<mujoco><asset><model name="o" file="other.xml"/></asset><include file="part.txt"/>
     <worldbody><body name="q"><attach model="o" body="r" prefix="x_"/></body></worldbody>
     </mujoco>"""
    for name in ("robot.mjcf", "robot", "robot.urdf"):
        (tmp_path / name).write_text(text)
        assert set(dl.load(tmp_path / name).body_names) == {"p", "x_r"}


def test_a_blank_colour_is_none(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text('<mujoco><worldbody><geom size="1" rgba=""/></worldbody></mujoco>')
    assert len(dl.load(path).shapes) == 1


def test_archives_are_no_meshes(tmp_path):
    (tmp_path / "m.obj").write_bytes(b"PK\x03\x04" + bytes(99))
    path = tmp_path / "m.xml"
    path.write_text('<mujoco><asset><mesh name="m" file="m.obj"/></asset></mujoco>')
    with pytest.raises(dl.FileFormatError, match="archive"):
        dl.load(path)
