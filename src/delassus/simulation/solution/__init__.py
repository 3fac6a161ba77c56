"""The problem of one step and its solution.

| file | what it holds |
| --- | --- |
| `form` | what a form of the problem is: its unknowns, its matrices |
| `joints`, `tree` | by the degrees of freedom of the tree, whose joints hold by themselves |
| `bodies`, `rows` | by twists of bodies, for cone rows that touch few bodies and for others |
| `blocks` | the operator that solvers of `contact` take, of forms that have a sparse factor |
| `cones` | cone rows, their scales and what they start from |
| `solving` | the solution in any form, by Newton's method, ADMM and interior points |
| `sweeps` | solvers that sweep over rows: Gauss-Seidel and PROX |
"""
