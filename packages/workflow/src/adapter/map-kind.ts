/**
 * The two steps of a map. `map` decides the items, which become rows of the run. `join` depends on it alone, gathers the items' outputs, and is what
 * other steps depend on. Between the two, each item depends on the `map`, and the `join` on every item.
 *
 * The two steps of a loop are `repeat` and `join`. `repeat` expands to one item, the first round. Each round that ends adds the next one. A round is
 * an item that depends on the round before it; the first depends on the `repeat`, and the `join` on the last.
 */
export type MapKind = 'map' | 'repeat' | 'join'
