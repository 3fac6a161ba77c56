"""What people look at: recordings as pages that play anywhere, and models in a browser.

| file | what it holds |
| --- | --- |
| `scene` | what is drawn of a model: shapes on places, each place on a body |
| `meshes` | triangles of mesh files |
| `motion` | poses of places over time, as small integers |
| `page`, `page.html`, `page.js` | a recording as one file that plays without a server |
| `forces` | arrows of contacts and joints, cones of friction |
| `live`, `stage`, `plots` | a page served by viser (extra `viewer`), what is seen on it |
| `sliders`, `playing`, `running` | panels of a model, of a recording, of a simulator |

Nothing else of the library imports this layer when it is imported itself.
"""

from .live import view
from .page import to_html

__all__ = ["to_html", "view"]
