/** The candidate that needs the fewest edits to become `name`; undefined if all are far from it. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best !== undefined && best.distance <= Math.max(2, best.candidate.length / 2)
    ? best.candidate
    : undefined
}

function editDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = last[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(last[column]! + 1, current[column - 1]! + 1, replaced))
    }
    last = current
  }
  return last[to.length]!
}
