"""Exported pages and live viewers in a headless page, if one is installed."""

import re

import numpy as np
import pytest

import delassus as dl

from .browser import PATIENCE, until
from .recordings import recorded, swinging

ANGLE = "bow_crank_joint"


def clock(page):
    text = page.evaluate("document.getElementById('clock').innerText")
    return float(re.match(r"([\d.]+) / ", text)[1])


def pixels(page, tmp_path):
    """What is seen, (height, width, 3), once two pictures in a row are alike."""
    plt = pytest.importorskip("matplotlib.image", reason="matplotlib reads pictures")

    def picture():
        return plt.imread(page.picture(tmp_path / "seen.png"))[..., :3]

    kept = [picture()]

    def is_still():
        kept.append(picture())
        return np.array_equal(kept[-1], kept[-2])

    until(is_still, PATIENCE, "the picture stands still")
    return kept[-1]


def changed(a, b):
    """The part of a picture that is another one."""
    return (np.abs(a - b).max(axis=2) > 0.1).mean()


def near(label, selector):
    """JavaScript for the element of a kind that stands beside a label."""
    return f"""(() => {{
      const said = (x) => x.textContent.replaceAll('\u200b', '').trim();
      let e = [...document.querySelectorAll('*')].filter((x) => said(x) === '{label}').pop();
      while (!e.querySelector('{selector}')) e = e.parentElement;
      return e.querySelector('{selector}');
    }})()"""


def button(name):
    return f"[...document.querySelectorAll('button')].find((x) => x.innerText === '{name}')"


def of_others(page, viewer):
    """Requests that were not to the viewer's own server."""
    own = (viewer.url + "/", viewer.url.replace("http", "ws"), "data:", f"blob:{viewer.url}/")
    return [x[:100] for x in page.requests if not x.startswith(own)]


def opened(page, viewer, label):
    """A page that looks at a viewer, whose panel has a label."""
    page.open(viewer.url)
    page.wait_for(f"document.body.innerText.includes('{label}')")
    page.wait_for("[...document.querySelectorAll('canvas')].some((x) => x.width > 300)")
    return page


# --- exported pages -----------------------------------------------------------------------------


@pytest.fixture
def file(recording, tmp_path):
    recording.to_html(tmp_path / "run.html")
    return f"file://{tmp_path / 'run.html'}"


def test_a_page_opens_at_its_start_and_at_any_time(page, file):
    page.open(file)
    page.wait_for("window.player")
    assert clock(page) == pytest.approx(0.001)
    name = page.evaluate("document.getElementById('name').innerText")
    assert name == "walker"  # and nothing of missing WebGL
    page.open("about:blank")
    page.open(file + "#t=1.5")
    page.wait_for("window.player && player.now > 0")
    assert clock(page) == pytest.approx(1.5, abs=0.02)


def test_a_page_plays_from_disk_and_asks_for_nothing_else(page, file):
    page.open(file + "#play")
    page.wait_for("window.player && player.now > 10")
    assert 0.1 < clock(page) <= 2.0
    assert page.complaints == []
    assert {x.split("#")[0] for x in page.requests} == {file}


def test_what_is_drawn_on_a_page_moves(page, file, tmp_path):
    page.open(file)
    page.wait_for("window.player")
    first = pixels(page, tmp_path)[:350]
    page.evaluate("player.seek(30)")
    assert 0.001 < changed(first, pixels(page, tmp_path)[:350]) < 0.5
    assert len(np.unique((first * 255).astype(int).reshape(-1, 3), axis=0)) > 200


def test_forces_on_a_page_are_seen_and_can_be_hidden(page, tmp_path):
    figure = dl.robots.figure("box_on_plane")
    sim = dl.Simulator(figure.model)
    sim.rollout(300).to_html(tmp_path / "without.html")
    sim.rollout(20, contacts=True).to_html(tmp_path / "run.html")
    page.open(f"file://{tmp_path / 'run.html'}")
    page.wait_for("window.player")
    assert page.evaluate("player.forces.map((f) => player.forcesAt(f, 1).length)") == [4, 4]
    with_them = pixels(page, tmp_path)
    page.click(near("contact forces", "input"))
    without_arrows = pixels(page, tmp_path)
    page.click(near("friction cones", "input"))
    without_both = pixels(page, tmp_path)
    assert changed(with_them, without_arrows) > 1e-4 < changed(without_arrows, without_both)
    page.open(f"file://{tmp_path / 'without.html'}")
    page.wait_for("window.player")
    assert page.evaluate("player.forces.length") == 0


# --- live viewers -------------------------------------------------------------------------------


def test_a_live_page_shows_the_robot_and_asks_no_other_host(page, shown, tmp_path):
    figure = dl.robots.figure("misha")
    viewer = shown(figure.model, figure.start, port=8600)
    opened(page, viewer, ANGLE)
    with_robot = pixels(page, tmp_path)
    for group in ("bodies", "covers", "loops"):
        page.click(near(group, "input[type=checkbox]"))
    # Where there is no graphics card, viser says so, and its notice covers the robot's upper half.
    until(lambda: changed(with_robot, pixels(page, tmp_path)) > 0.01, PATIENCE, "the robot is gone")
    assert page.complaints == []
    assert of_others(page, viewer) == []


def test_a_slider_moves_the_robot_for_all_and_loops_stay_closed(new_page, shown, tmp_path):
    figure = dl.robots.figure("misha")
    viewer = shown(figure.model, figure.start, port=8600)
    pages = [opened(new_page(), viewer, ANGLE) for _ in range(2)]
    before = pixels(pages[1], tmp_path)
    place = viewer.pose.model.joint(ANGLE).q.start
    pages[0].to_front()
    pages[0].point(near(ANGLE, ".mantine-Slider-root"), 0.56)
    until(lambda: viewer.pose.q[place] > 0.3, PATIENCE, "the slider's joint has moved")
    assert np.abs(viewer.pose.constraints.position_error(viewer.pose.q)).max() < 1e-8
    followed = viewer.pose.model.joint("trunk_joint").q
    assert abs(viewer.pose.q - figure.start)[followed][0] > 0.05
    for page in pages:
        page.to_front()
        page.wait_for(f"Number({near(ANGLE, '[role=slider]')}.ariaValueNow) > 0.3")
        assert page.complaints == []
    assert 0.002 < changed(before, pixels(pages[1], tmp_path)) < 0.5


def test_a_recording_plays_in_a_live_page(page, shown, walker):
    viewer = shown(walker, recording=recorded(walker, swinging(walker, 4000)), port=8600)
    opened(page, viewer, "Play")
    page.click(button("Play"))
    until(lambda: viewer.shown.step > 100, PATIENCE, "it plays")
    page.click(button("Pause"))
    page.wait_for(button("Play"))
    page.wait_for(f"Number({near('time, s', 'input')}.value) > 0.1")
    page.point(near("step", ".mantine-Slider-root"), 0.9)
    until(lambda: viewer.shown.step > 3400, PATIENCE, "it is scrubbed on")
    assert page.complaints == []
    assert of_others(page, viewer) == []


def test_a_simulation_runs_on_buttons_and_goes_on_without_a_browser(new_page, shown):
    figure = dl.robots.figure("box_on_plane")
    sim = dl.Simulator(figure.model)
    viewer = shown(figure.model, simulator=sim, port=8600)
    page = opened(new_page(), viewer, "Simulation")
    page.click(button("Step"))
    until(lambda: sim.time > 0.0, PATIENCE, "a step was made")
    assert sim.time == pytest.approx(sim.dt)
    page.click(button("Run"))
    until(lambda: sim.time > 0.05, PATIENCE, "it runs")
    assert page.complaints == []
    page.close()
    reached = sim.time
    until(lambda: sim.time > reached + 0.05, PATIENCE, "it goes on")
    page = opened(new_page(), viewer, "running")
    page.click(button("Pause"))
    until(lambda: not viewer.shown.is_running, PATIENCE, "it stands still")
    page.click(button("Reset"))
    until(lambda: sim.time == 0.0, PATIENCE, "it is back at the start")


def test_joints_of_a_simulation_are_moved_while_it_stands_still(page, shown):
    sim = dl.Simulator(dl.robots.figure("fourbar_free").model)
    viewer = shown(sim.model, simulator=sim, port=8600)
    opened(page, viewer, "crank_joint")
    place = sim.model.joint("crank_joint").q.start
    slider, bar = (near("crank_joint", kind) for kind in ("[role=slider]", ".mantine-Slider-root"))
    page.point(bar, 0.6)
    until(lambda: sim.q[place] > 0.3, PATIENCE, "the joint has moved")
    assert np.abs(dl.Constraints(sim.model).position_error(sim.q)).max() < 1e-8
    viewer.shown.run(True)
    page.wait_for(f"{slider}.ariaDisabled === 'true'")
    until(lambda: sim.time > 0.2, PATIENCE, "it runs")
    viewer.shown.run(False)
    page.wait_for(f"Math.abs({slider}.ariaValueNow - {sim.q[place]}) < 0.01")
    page.wait_for(f"{slider}.ariaDisabled === 'false'")
    assert page.complaints == []


def test_a_browser_that_closes_does_not_stop_a_rollout(page, shown):
    figure = dl.robots.figure("box_on_plane")
    sim, alone = dl.Simulator(figure.model), dl.Simulator(figure.model)
    viewer = shown(figure.model, simulator=sim, port=8600)
    opened(page, viewer, "Simulation")

    def control(sim):
        if sim.time > 0.1:
            page.close()
        return sim.default_control

    assert np.array_equal(sim.rollout(400, control).q, alone.rollout(400).q)
