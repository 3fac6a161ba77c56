"""Contact problems: cones, the dual problem, its solvers and the operators that they work on."""
