"""Which joints of an SDF model make its tree, and which close loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...parts.elements import WORLD
from .joints import SdfJoint


@dataclass(eq=False)
class SdfGraph:
    """The tree joint above each link that has one, and the joints that close loops."""

    links: list[str]
    above: dict[str, SdfJoint]
    loops: list[SdfJoint]

    def root_of(self, link: str) -> str:
        """The link that carries another and hangs on no link itself."""
        while link in self.above and self.above[link].parent != WORLD:
            link = self.above[link].parent
        return link

    def joints_above(self, link: str) -> list[SdfJoint]:
        """The tree joints from a link up to its root or the world."""
        result = []
        while link in self.above:
            result.append(self.above[link])
            link = result[-1].parent
        return result

    def ordered(self) -> list[str]:
        """The links, parents before children, children in the order of their joints."""
        children: dict[str, list[str]] = {}
        for link, joint in self.above.items():
            children.setdefault(joint.parent, []).append(link)
        roots = [link for link in self.links if link not in self.above]
        result: list[str] = []
        pending = [*reversed(children.get(WORLD, [])), *reversed(roots)]
        while pending:
            link = pending.pop()
            result.append(link)
            pending.extend(reversed(children.get(link, [])))
        return result


def span(links: Iterable[str], joints: Iterable[SdfJoint]) -> SdfGraph:
    """Take each joint into the tree unless its child hangs on one already, or is its ancestor."""
    group = {name: name for name in (*links, WORLD)}

    def representative(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    graph = SdfGraph(list(links), {}, [])
    for joint in joints:
        parent, child = representative(joint.parent), representative(joint.child)
        if joint.child in graph.above or parent == child:
            graph.loops.append(joint)
        else:
            graph.above[joint.child] = joint
            group[child] = parent
    return graph
