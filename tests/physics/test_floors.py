"""Rigid floors under deformable ground: who still touches them, and when a warning is due."""

import warnings

import mujoco
import numpy as np
import pytest

from sandlot.errors import ModelError, RobotWarning, SettingError
from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil
from soil_scenes import GRAVITY, compiled, field, tracked

FLOORS = {"plane": 'type="plane" size="5 5 0.1"', "hfield": 'type="hfield" hfield="flat"'}
UNTOUCHABLE = 'contype="0" conaffinity="0"'


def scene(floor="plane", foot="", ground="", contact="", more="", option="", toe=""):
    """A foot and a crate, 1 m apart and 5 cm deep in a floor."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001">{option}</option>
        <asset><hfield name="flat" nrow="5" ncol="5" size="5 5 0.1 0.5" elevation="{"0 " * 25}"/></asset>
        <worldbody><geom name="floor" {FLOORS[floor]} {ground}/>{more}
        <body name="leg" pos="0 0 0.05"><freejoint/><geom name="foot" type="box" size="0.1 0.1 0.1" {foot}/>{toe}</body>
        <body name="crate" pos="1 0 0.05"><freejoint/><geom name="crate" type="box" size="0.1 0.1 0.1"/></body>
        </worldbody><contact>{contact}</contact></mujoco>"""
    )
    return model, mujoco.MjData(model)


def touching(model, data):
    """Names of the geoms that touch each other."""
    mujoco.mj_forward(model, data)
    return {frozenset((model.geom(each.geom1).name, model.geom(each.geom2).name)) for each in data.contact}


def quiet(ground, *given, **named):
    """Attach ground without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ground.attach(*given, **named)


FOOT, CRATE = frozenset(("foot", "floor")), frozenset(("crate", "floor"))


class TestReplaced:
    @pytest.mark.parametrize("floor", FLOORS)
    @pytest.mark.parametrize("pair", [False, True])
    @pytest.mark.parametrize("replaces", ["floor", 0, ["floor"], True])
    def test_only_other_geoms_touch_the_floor(self, floor, pair, replaces):
        model, data = scene(floor, contact='<pair geom1="foot" geom2="floor"/>' if pair else "")
        assert touching(model, data) == {FOOT, CRATE}
        quiet(field(), model, ["foot"], replaces=replaces)
        assert touching(model, data) == {CRATE}
        data.qpos[2] = -4.0
        assert touching(model, data) == {CRATE}

    @pytest.mark.parametrize("floor", FLOORS)
    def test_geoms_that_touch_it_in_a_pair_only(self, floor):
        model, data = scene(floor, UNTOUCHABLE, UNTOUCHABLE, '<pair geom1="foot" geom2="floor"/>')
        assert touching(model, data) == {FOOT}
        for _ in range(2):
            soil = quiet(field(), model, replaces="floor")
            assert [each.name for each in soil.contacts()] == ["foot", "crate"], "the pair is found when attached again"
            assert touching(model, data) == set()

    def test_geoms_that_touch_each_other_go_on_doing_so(self):
        model, data = scene()
        data.qpos[0] = 0.9
        quiet(field(), model, replaces=True)
        assert touching(model, data) == {frozenset(("foot", "crate"))}

    def test_a_geom_that_is_too_small_does_not_touch_it_either(self):
        model, data = scene(more='<body name="toe" pos="0 1 0"><freejoint/><geom name="toe" size="0.002"/></body>')
        assert frozenset(("toe", "floor")) in touching(model, data)
        with pytest.warns(RobotWarning, match="geoms of toe"):
            field().attach(model, replaces=True)
        assert touching(model, data) == set()

    def test_other_geoms_of_an_attached_body_do_not_touch_it_either(self):
        """A foot whose mesh is attached, and which collides by small spheres."""
        drawn = '<body name="toe"><geom name="mesh" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>'
        model, data = scene(toe=drawn)
        with pytest.warns(RobotWarning, match="geom floor"):
            field().attach(model, ["mesh"])
        quiet(field(), model, ["mesh"], replaces=True)
        assert touching(model, data) == {CRATE}

    def test_the_body_of_a_track_does_not_touch_it_either(self):
        model, data, tracks = tracked(place=0.02, more='<geom name="floor" type="plane" size="5 5 0.1"/>')
        assert touching(model, data) == {frozenset(("hull", "floor"))}
        quiet(field(), model, [], tracks, replaces="floor")
        assert touching(model, data) == set()

    def test_particles_replace_a_floor_too(self):
        model, data = scene()
        quiet(Particles(np.ones((2, 2)), 0.3), model, ["foot"], replaces="floor")
        assert touching(model, data) == {CRATE}

    @compiled
    def test_the_soil_carries_all(self):
        model, data = scene()
        data.qpos[2] = data.qpos[9] = 0.11
        soil = quiet(field(side=3.0), model, ["foot"], replaces="floor")
        soil.step(data, 1500)
        assert soil.forces[0, 2] == pytest.approx(GRAVITY * model.body("leg").mass[0], rel=0.01)
        assert data.qpos[9] == pytest.approx(0.1, abs=1e-3), "the crate stands on the rigid floor"
        assert data.qpos[2] < 0.095


class TestWarning:
    def warns(self, *given, **named):
        with pytest.warns(RobotWarning) as caught:
            field().attach(*given, **named)
        (warning,) = caught
        assert warning.filename == __file__
        assert "\n" not in str(warning.message)
        return str(warning.message)

    @pytest.mark.parametrize("floor", FLOORS)
    def test_a_floor_that_is_left(self, floor):
        assert "geom floor still touches" in self.warns(scene(floor)[0])
        assert "replaces='floor'" in self.warns(scene(floor)[0], ["foot"])
        pair = scene(floor, UNTOUCHABLE, UNTOUCHABLE, '<pair geom1="foot" geom2="floor"/>')[0]
        assert "replaces='floor'" in self.warns(pair, ["foot"])

    def test_several_floors_are_one_warning(self):
        model = scene(more='<geom name="pit" type="plane" size="1 1 1" pos="0 0 -1"/>')[0]
        assert "geom floor, geom pit" in self.warns(model)
        assert "geom pit still" in self.warns(model, replaces="floor")

    def test_floors_that_touch_nothing_attached(self):
        quiet(field(), scene(ground=UNTOUCHABLE)[0])
        quiet(field(), scene(ground=UNTOUCHABLE, foot=UNTOUCHABLE)[0], ["foot"])
        quiet(field(), scene(contact='<exclude body1="world" body2="leg"/>')[0], ["foot"])
        quiet(field(), scene(option='<flag contact="disable"/>')[0])

    def test_a_wall_is_no_floor(self):
        wall = '<geom name="wall" type="plane" size="1 1 1" pos="3 0 0" zaxis="-1 0 0"/>'
        model, data = scene(more=wall)
        data.qpos[0] = 3.0
        quiet(field(), model, replaces=True)
        assert touching(model, data) == {frozenset(("foot", "wall"))}


class TestMistakes:
    @pytest.mark.parametrize("which", ["foot", "post"])
    def test_other_geoms_cannot_be_replaced(self, which):
        model = scene(more='<geom name="post" size="0.1" pos="0 3 0"/>')[0]
        with pytest.raises(SettingError, match=f"geom {which} is no plane.*allowed: geom floor$"):
            field().attach(model, ["foot"], replaces=which)

    def test_an_unknown_floor(self):
        with pytest.raises(SettingError, match="no geom 'ground'; allowed: floor"):
            field().attach(scene()[0], replaces="ground")

    def test_no_collision_bit_is_left(self):
        model, data = scene(ground=f'contype="{2**31 - 1}"')
        with pytest.raises(ModelError, match="collision bits"):
            Soil(np.zeros((9, 9)), 0.02).attach(model, ["foot"], replaces="floor")
        assert touching(model, data) == {FOOT, CRATE}
