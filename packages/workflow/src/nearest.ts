/** ` Did you mean "chargeCard"?`, or nothing when no candidate is near. Meant to end a message. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  return offered(nearest(name, candidates))
}

/** The same for a name that {@link nearest} found. */
export function offered(found: string | undefined): string {
  return found === undefined ? '' : ` Did you mean "${found}"?`
}

/**
 * The candidate most similar to `name`, ignoring case and separators. Undefined when every candidate differs in more than two fifths of its
 * characters. The first of equally similar candidates wins.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(name)
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const offered = plain(candidate)
    const farthest = Math.round(0.4 * Math.max(wanted.length, offered.length))
    const distance = editDistance(wanted, offered, Math.min(bestDistance, farthest + 1))
    if (distance >= bestDistance || distance > farthest) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.:\s]/g, '')
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other. Stops counting at `enough`. */
function editDistance(from: string, to: string, enough: number): number {
  if (Math.abs(from.length - to.length) >= enough) return enough
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = last[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
          ? beforeLast[column - 2]! + 1
          : replaced
      current.push(Math.min(last[column]! + 1, current[column - 1]! + 1, replaced, swapped))
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}
